"""Going back: what would happen to messages, transcript, files and memory, and then it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.checkpoints.plan import FORCEABLE, Problem, select
from app.plain_text import cut, plain_line
from app.rewind_desk import Outlook, StepView
from widgets.ask.choices import Choice, ChoiceRow
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.screens.dialogs.diff import DiffScreen

Answer: TypeAlias = Literal["conversation", "files", "both", "from", "upto"]
AROUND = 12
"""Lines that frame, states, notes and keys take at most."""
TITLE = 60
"""Characters of the prompt in the title."""
CHOICES = (
    Choice("1", "Conversation only", "conversation", "Conversation"),
    Choice("2", "Files only", "files", "Files"),
    Choice("3", "Both", "both"),
    Choice("4", "Summarise from here", "from", "Sum up from"),
    Choice("5", "Summarise up to here", "upto", "Sum up to"),
)
BACK_ONLY = CHOICES[:3]
"""For a rewind's own line, and for a prompt that is not on the branch in use."""
NOT_UNDONE = "pushes, databases, HTTP calls and other effects of shell commands are not undone"
WHY: dict[Problem, str] = {
    "changed": "conflict: changed by someone else",
    "unknown": "conflict: not known who wrote it last",
    "outside": "conflict: outside the project",
    "folder": "stays: a folder is in its place",
    "beneath": "stays: a file is in its folder's place",
    "missing": "stays: its saved bytes are gone",
    "unseen": "stays: not known what was there before",
    "blocked": "stays: no plain file",
}
WRITERS = {
    "tool": "ours",
    "shell": "shell",
    "unknown": "another program",
    "someone": "someone else",
}


class RewindAnswer(Struct, frozen=True):
    """What the person chose."""

    what: Answer
    with_shell: bool
    force: bool
    without: frozenset[str]
    """Paths of the plan that stay as they are."""


class RewindDialog(ModalScreen[RewindAnswer | None]):
    """Returns the answer, None when nothing is to be done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", id="rewind.apply", priority=True),
        Binding("left,shift+tab", "choose(-1)", "Before", id="rewind.before"),
        Binding("right,tab", "choose(1)", "Next", id="rewind.next"),
        Binding("d", "diff", "Diff", id="rewind.diff"),
        Binding("s", "shell", "Shell too", id="rewind.shell"),
        Binding("o", "overwrite", "Overwrite", id="rewind.overwrite"),
        Binding("pageup", "page(-1)", "Scroll up", id="rewind.page_up", priority=True),
        Binding("pagedown", "page(1)", "Scroll down", id="rewind.page_down", priority=True),
        Binding("escape", "cancel", "Cancel", id="rewind.cancel"),
        Binding("ctrl+c", "cancel", show=False, priority=True),
    ]

    def __init__(
        self,
        outlook: Outlook,
        diff: Callable[[StepView], Awaitable[list[dict[str, Any]] | None]],
        first: Answer = "conversation",
    ) -> None:
        """`diff` gives the hunks of a file's change; `first` is chosen to begin with."""
        super().__init__()
        self._outlook = outlook
        self._diff = diff
        self._choices = CHOICES if outlook.on_branch and not outlook.undoes else BACK_ONLY
        self._first = first
        self._with_shell = False
        self._force = False
        self._rows: list[StepView] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide", id="rewind"):
            yield ChoiceRow(self._choices)
            yield Static(id="rewind-states")
            yield OptionList(id="rewind-files")
            yield Static(id="rewind-notes")
            yield Static(id="rewind-foot")

    def on_mount(self) -> None:
        words = cut(" ".join(self._outlook.text.split()) or "(picture)", TITLE)
        at = _clock(self._outlook.timestamp)
        title = f"Undo: {words}" if self._outlook.undoes else f"Rewind to “{words}”"
        box = self.query_one("#rewind", Vertical)
        box.border_title = Content(f"{title}{', ' + at if at else ''}")  # pyright: ignore[reportAttributeAccessIssue] - the setter takes Content, so that nothing is parsed
        values = [choice.value for choice in self._choices]
        self._row.chosen = values.index(self._first) if self._first in values else 0
        self.query_one(OptionList).focus(scroll_visible=False)
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        lines = self._row.fit(min(event.size.width, 100) - 4, max(event.size.height - 16, 1))
        room = event.size.height - lines - AROUND
        self.query_one(OptionList).styles.max_height = max(room, 2)

    @property
    def _row(self) -> ChoiceRow:
        return self.query_one(ChoiceRow)

    @property
    def _chosen(self) -> Answer:
        return self._choices[self._row.chosen].value  # pyright: ignore[reportReturnType] - the values above

    @property
    def _touches_files(self) -> bool:
        return self._chosen in ("files", "both")

    # What it says

    def _show(self) -> None:
        self.query_one("#rewind-states", Static).update(self._states())
        self._show_files()
        self.query_one("#rewind-notes", Static).update(self._notes())
        names = ["apply", "diff", *(["shell"] if self._shell_rows else [])]
        names += [*(["overwrite"] if self._conflicts else []), "cancel"]
        words = "  ".join(hint(self, f"rewind.{name}") for name in names)
        self.query_one("#rewind-foot", Static).update(Content.styled(words, "$r-muted"))
        # The list scrolls to its chosen row, and a low box with it: the choices come first.
        self.call_after_refresh(self.query_one("#rewind").scroll_home, animate=False)

    def _states(self) -> Content:
        chosen, count = self._chosen, self._outlook.prompts
        prompts = "1 prompt leaves" if count == 1 else f"{count} prompts leave"
        if chosen == "files":
            messages = "stay as they are"
        elif chosen == "upto":
            messages = "what came before is replaced by a summary in later requests"
        elif chosen == "from":
            messages = f"{prompts} the current branch, a summary takes their place"
        elif self._outlook.undoes:
            messages = "the branch from before the rewind is in use again"
        else:
            messages = f"{prompts} the current branch; they stay in the tree"
        transcript = "only grows: nothing in it is removed"
        rows = [("messages", messages), ("transcript", transcript), ("files", self._files_words())]
        rows.append(("memory", "not touched"))
        parts: list[Content | str] = []
        for name, words in rows:
            parts += [Content.styled(f"{name:<12}", "$r-muted"), words, "\n"]
        return Content.assemble(*parts[:-1])

    def _files_words(self) -> str:
        if not self._touches_files:
            more = "; below is what 2 and 3 would do" if self._outlook.files else ""
            return f"stay as they are{more}"
        if self._outlook.plan is None:
            return f"cannot go back: {self._outlook.why_not}"
        count = len(self._selected)
        stay = len([row for row in self._outlook.files if not row.step.shell_only]) - count
        stay += len([row for row in self._selected if row.step.shell_only])
        added = sum(row.added for row in self._selected)
        removed = sum(row.removed for row in self._selected)
        stays = f"; {stay} stay{'s' if stay == 1 else ''} as marked" if stay else ""
        if not count:
            return f"none goes back{stays}" if stays else "nothing of ours changed since"
        return f"{count} file{'' if count == 1 else 's'}  +{added} −{removed}; undone by u{stays}"

    @property
    def _selected(self) -> list[StepView]:
        plan = self._outlook.plan
        if plan is None:
            return []
        chosen = select(plan, with_shell=self._with_shell, force=self._force).steps
        paths = {step.path for step in chosen}
        return [row for row in self._outlook.files if row.step.path in paths]

    @property
    def _shell_rows(self) -> list[StepView]:
        return [row for row in self._outlook.files if row.step.shell_only]

    @property
    def _conflicts(self) -> list[StepView]:
        return [row for row in self._outlook.files if row.step.problem in FORCEABLE]

    def _show_files(self) -> None:
        options = self.query_one(OptionList)
        kept = options.highlighted or 0
        going = {row.step.path for row in self._selected}
        self._rows = sorted(
            self._outlook.files, key=lambda row: (row.step.shell_only, not row.step.problem)
        )
        options.clear_options()
        options.add_options([Option(self._line(row, row.step.path in going)) for row in self._rows])
        options.display = bool(self._rows)
        if self._rows:
            options.highlighted = min(kept, len(self._rows) - 1)

    def _line(self, row: StepView, goes: bool) -> Content:
        glyphs, step = glyphs_of(self.app), row.step
        who = ", ".join(dict.fromkeys(WRITERS[w] for w in step.writers if w in WRITERS))
        if step.shell_only and step.command:
            who = f"while {cut(plain_line(' '.join(step.command.split())), 30)} ran"
        words = step.action if goes else (WHY[step.problem] if step.problem else "kept")
        if not self._touches_files:
            words = f"would {words}" if goes else words
            goes = False
        if step.problem and not goes and step.problem in FORCEABLE:
            words += ", kept"
        elif step.problem and goes:
            words = f"{step.action} over what someone else wrote (it is saved first)"
        style = "$r-warn" if step.problem else "" if goes else "$r-muted"
        return Content.assemble(
            Content.styled(f"{glyphs.good if goes else ' '} ", "$r-ok"),
            f"{row.name}  ",
            Content.styled(f"+{row.added}", "$r-ok"),
            " ",
            Content.styled(f"−{row.removed}", "$r-error"),
            Content.styled(f"  {who}  ", "$r-muted"),
            Content.styled(words, style),
        )

    def _notes(self) -> Content:
        look = self._outlook
        lines: list[str] = []
        if look.untracked and self._touches_files:
            lines.append(f"not known what these changed: {', '.join(look.untracked)}")
        if look.links and self._touches_files:
            lines.append(f"symbolic links are left alone: {', '.join(look.links)}")
        if self._shell_rows and self._touches_files and not self._with_shell:
            names = ", ".join(row.name for row in self._shell_rows[:3])
            more = len(self._shell_rows) - 3
            lines.append(
                f"left as the shell left it: {names}{f' and {more} more' if more > 0 else ''}"
            )
        since = ""
        if look.commands:
            since = f"{look.commands} shell command{'' if look.commands == 1 else 's'} ran since"
            since += f", among them {', '.join(look.risky)}; " if look.risky else "; "
        lines.append(since + NOT_UNDONE)
        return Content.styled("\n".join(lines), "$r-muted")

    # Keys

    def on_key(self, event: events.Key) -> None:
        """A choice's key takes it at once."""
        for position, choice in enumerate(self._choices):
            if event.key == choice.key:
                event.stop()
                event.prevent_default()
                self._row.chosen = position
                self.action_apply()

    def action_choose(self, step: int) -> None:
        self._row.chosen = (self._row.chosen + step) % len(self._choices)
        self._show()

    def action_apply(self) -> None:
        """Do what is chosen, where it can be done."""
        if self._touches_files and self._outlook.plan is None:
            self._show()
            return
        going = {row.step.path for row in self._selected}
        files = self._outlook.files
        without = frozenset(row.step.path for row in files if row.step.path not in going)
        self.dismiss(RewindAnswer(self._chosen, self._with_shell, self._force, without))

    def action_page(self, step: int) -> None:
        """Scroll, where the terminal is too low for all of it."""
        box = self.query_one("#rewind")
        (box.scroll_page_down if step > 0 else box.scroll_page_up)(animate=False)

    def action_shell(self) -> None:
        """Put back what only shell commands changed too, or not."""
        self._with_shell = not self._with_shell
        self._show()

    def action_overwrite(self) -> None:
        """Go over what someone else changed, or not; their bytes are saved first."""
        self._force = not self._force
        self._show()

    async def action_diff(self) -> None:
        """Show what would change in the chosen file."""
        chosen = self.query_one(OptionList).highlighted
        if chosen is not None and self._rows:
            row = self._rows[chosen]
            self.app.push_screen(DiffScreen(row.name, await self._diff(row)))

    @on(OptionList.OptionSelected)
    def _clicked(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.run_worker(self.action_diff(), exclusive=True)

    def action_cancel(self) -> None:
        self.dismiss(None)


def _clock(timestamp: str | None) -> str:
    try:
        return f"{datetime.fromisoformat(timestamp or '').astimezone():%H:%M}"
    except ValueError:
        return ""
