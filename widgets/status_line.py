"""The line at the foot: what is happening, what it costs, what waits, which key is next."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from app.clock import Clock
from app.plain_text import plain_line
from app.state import select
from app.state.model import Live, State
from widgets.cells import cut_cells
from widgets.follow import Follow
from widgets.looks import glyphs_of, palette_of
from widgets.words import cost_in_words, gauge, seconds_in_words, tokens_in_words

_PHASES = {
    "requesting": "waiting for the model",
    "thinking": "thinking",
    "replying": "writing",
    "calling": "calling a tool",
    "running": "running",
    "retrying": "trying again",
    "compacting": "summing up",
    "interrupting": "stopping",
}

_COLOURS = {"completed": "ok", "interrupted": "warn", "stopped": "warn", "declined": "warn"}
Part = tuple[str, str]
"""Text and the name of its colour in the palette."""
LEAST = 16
"""Cells of a detail that stay where there is little room."""
_DOT = " · "
"""Between how things stand and the detail (`TurnSummary.in_words`)."""


class StatusLine(Follow, Widget):
    """One line; what does not fit drops from the right, the keys stay."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._keys = ""
        self._shown: list[Part] = []
        self._droppable: list[Part] = []
        """What goes first where there is no room, the last one first."""
        self._clock = clock
        self._state: State | None = None
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        self._timer = self.set_interval(1, self.refresh, pause=True)
        self.follow(select.whole, self._show)

    def _show(self, state: State) -> None:
        self._state = state
        if self._timer is not None:
            ticking = state.live.turn_id is not None
            (self._timer.resume if ticking else self._timer.pause)()
        shown = self._parts(state)
        if shown != self._shown:  # most facts of a running turn change nothing here
            self._shown = shown
            self.refresh()

    def show_keys(self, keys: str) -> None:
        """The keys worth knowing now, each as `key Action`."""
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        palette = palette_of(self.app)
        base = Style(color=palette.muted, bgcolor=palette.surface)
        if y or self._state is None or not width:
            return Strip.blank(width, base)
        keys = self._keys
        room = width - 5  # a cell at each end, and a gap between the parts and the keys
        parts = self._parts(self._state)
        if _length(parts) + cell_len(keys) > room:
            keys = _short(keys)
        for part in reversed(self._droppable):
            if _length(parts) + cell_len(keys) <= room:
                break
            parts.remove(part)
        while "  " in keys and _length(parts) + cell_len(keys) > room:
            keys = keys.rpartition("  ")[0]
        over = _length(parts) + cell_len(keys) - room
        if over > 0:
            parts[0] = _shorter(parts[0], over, glyphs_of(self.app).more)
        if _length(parts) + cell_len(keys) > room:
            keys = ""
        segments = [Segment(" ", base)]
        for position, (text, colour) in enumerate(parts):
            style = Style(color=getattr(palette, colour), bgcolor=palette.surface)
            segments.append(Segment(("   " if position else "") + text, style))
        gap = width - 2 - _length(parts) - cell_len(keys)
        segments.append(Segment(" " * max(gap, 0), base))
        segments.append(Segment(f"{keys} ", base))
        return Strip(segments).crop(0, width)

    def _parts(self, state: State) -> list[Part]:
        glyphs, limits = glyphs_of(self.app), state.limits
        parts = [self._activity(state)]
        if limits.context_window and limits.context_tokens:
            share = limits.context_tokens / limits.context_window
            bar = gauge(share, glyphs.full, glyphs.empty)
            colour = "warn" if share >= 0.75 else "muted"
            parts.append((f"ctx {bar} {share:.0%}".replace("%", " %"), colour))
        kept = len(parts)
        used = limits.usage.whole_input + limits.usage.output
        if used:
            parts.append((tokens_in_words(used), "muted"))
            parts.append((cost_in_words(limits.cost_usd), "muted"))
        remaining = limits.cache.remaining(self._clock.now())
        if remaining is not None:
            seconds = remaining.total_seconds()
            parts.append((f"cache {seconds_in_words(seconds) if seconds else 'cold'}", "muted"))
        running = sum(1 for task in state.tasks.values() if task.status == "running")
        tasks = (f"{running} task{'s' if running > 1 else ''}", "accent")
        if running:
            parts.append(tasks)
        drafts = (f"feedback: {len(state.feedback.drafts)}", "warn")
        if state.feedback.drafts:
            parts.append(drafts)
        if state.compaction.trigger == "ahead":
            parts.append(("summing up ahead", "accent"))
        if not state.session.persisted:
            parts.append(("not saved", "warn"))
        if state.session.mode != "default":
            parts.append((state.session.mode, "warn"))
        if state.away.watch == "keys" and state.background.mechanisms:
            parts.append(("away by idle keys", "muted"))
        self._droppable = [part for part in parts[kept:] if part not in (tasks, drafts)]
        return parts

    def _activity(self, state: State) -> Part:
        glyphs, live = glyphs_of(self.app), state.live
        waits = state.permission.requests or state.permission.questions
        if waits or state.compaction.receipt is not None:
            return f"{glyphs.on} waiting for you", "warn"
        if live.turn_id is None:
            return _ended(live, state, glyphs.on, glyphs.off)
        word = _PHASES.get(live.phase, live.phase)
        if live.phase == "retrying" and live.retry is not None:
            left = live.retry.until - self._clock.monotonic()
            return f"{glyphs.on} {word} in {seconds_in_words(left)}", "warn"
        if live.phase == "compacting" and state.compaction.characters:
            word = f"{word}: {state.compaction.characters:,} characters"
        elapsed = seconds_in_words(self._clock.monotonic() - live.started)
        return f"{glyphs.on} {word} {elapsed}", "accent"


def _ended(live: Live, state: State, on: str, off: str) -> Part:
    if live.last is None:
        return (f"{off} ready", "muted") if state.access.ready else (f"{off} no model yet", "warn")
    outcome, summary = live.last.outcome, state.summary
    colour = _COLOURS.get(outcome, "error")
    if summary is None or outcome != "completed":
        return f"{on} {outcome}", colour
    if summary.needs_action or summary.category == "waiting":
        colour = "warn"
    elif summary.category == "failed":
        colour = "error"
    return f"{on} {plain_line(summary.in_words)}", colour


def _shorter(activity: Part, cells: int, more: str) -> Part:
    """The activity with so many cells less of its detail, but never without its beginning."""
    text, colour = activity
    head, dot, detail = text.partition(_DOT)
    length = cell_len(detail)
    return f"{head}{dot}{cut_cells(detail, max(length - cells, min(length, LEAST)), more)}", colour


def _short(keys: str) -> str:
    """The keys with the words of the first two alone: `enter Send  f1 Help  f2 f3 f4`."""
    hints = keys.split("  ")
    rest = " ".join(hint.partition(" ")[0] for hint in hints[2:])
    return "  ".join([*hints[:2], *([rest] if rest else [])])


def _length(parts: list[Part]) -> int:
    return sum(cell_len(text) for text, _ in parts) + 3 * max(len(parts) - 1, 0)
