"""How the screen of feedback is laid out and drawn; `FeedbackScreen` puts the keys on top of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from app.background.feedback.drafts import Draft
from app.plain_text import cut, plain_line
from app.state import select
from widgets.ask.choices import CRAMPED
from widgets.cells import Cell, cut_cells
from widgets.dreams.diff_pane import DiffPane
from widgets.feedback.editor import ReportEditor
from widgets.feedback.rows import (
    about_lines,
    bytes_in_words,
    draft_cells,
    finding_cells,
    found_in_words,
    head_words,
    message_cells,
)
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.notices import NoticeRows
from widgets.screens.feedback_reading import FeedbackLine, FeedbackReading, Part
from widgets.tasks.words import spread
from widgets.tree.around import foot
from widgets.tree.tree_list import TreeList

WIDE: Final = 100
"""Columns from which on the draft stands beside the list."""
CLOSE: Final = 60
"""Columns below which words are left out."""
FOOTS: Final[dict[Part, tuple[str, ...]]] = {
    "draft": ("preview", "edit", "send", "discard", "transcript", "secrets", "export", "new"),
    "text": ("preview", "send", "export", "copy"),
    "raw": ("preview", "send", "export", "copy"),
    "transcript": ("mark", "up_to", "transcript", "preview", "send"),
    "secrets": ("mark", "preview", "send"),
}
LABELS: Final[dict[tuple[Part, str], str]] = {
    ("text", "preview"): "Byte for byte",
    ("raw", "preview"): "Draft",
    ("transcript", "transcript"): "Attach none",
    ("transcript", "mark"): "Take or leave out",
    ("secrets", "mark"): "Restore or strike out",
}
"""What a key is called where it does something else than in the list."""


class FeedbackView(FeedbackReading):
    """The drafts, the chosen one, and what leaves."""

    CSS_PATH = "../../styles/feedback.tcss"

    def compose(self) -> ComposeResult:
        yield Static(id="feedback-head")
        with Container(id="feedback-body"):
            yield TreeList(self._draft_cells, id="feedback-list")
            with Vertical(id="feedback-right"):
                yield Static(id="feedback-about")
                yield ReportEditor(self, "")
                yield DiffPane(self._pane_cells, self.lay_out, id="feedback-pane")
        yield Static(id="feedback-leaving")
        yield NoticeRows()
        yield Static(id="feedback-question")
        with Horizontal(id="feedback-ask"):
            yield Static(id="feedback-said")
            yield FeedbackLine(self)
        yield Static(id="feedback-foot")

    def on_mount(self) -> None:
        self.line.rest(self, "feedback.")
        self.set_focus(self.line, scroll_visible=False)
        self.follow(select.feedback, self.feedback_changed)
        self.run_worker(self._desk.look, group="look")

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < WIDE, "-narrow")
        self.set_class(event.size.height < CRAMPED, "-short")
        self.draw()

    # Drawing

    def draw(self) -> None:
        if not self.is_mounted or not self.size or self not in self.app.screen_stack:
            return
        self.set_class(self._is_editing or self._part != "draft", "-reading")
        self.set_class(not self._feedback.drafts, "-none")
        self.set_class(self._part != "draft", "-pane")
        self.set_class(self.line.is_asking, "-asking")
        self.set_class(self._question is not None, "-questioned")
        self.list.show(len(self._feedback.drafts), self.position, self._empty())
        self.pane.has_cursor = self._part in {"transcript", "secrets"}
        if self.pane_count:
            self._row = min(self._row, self.pane_count - 1)
        shown = self._row if self.pane.has_cursor else self.pane.scroll_offset.y
        self.pane.show(self.pane_count, shown, self._pane_empty())
        words: dict[str, Content] = {
            "head": self._head(),
            "about": self._about(),
            "leaving": self._leaving(),
            "question": self._asked(),
            "said": Content(self._said()),
            "foot": Content(self._foot()),
        }
        for name, content in words.items():
            self.query_one(f"#feedback-{name}", Static).update(content)
        self.query_one("#feedback-question").display = self._question is not None
        self.query_one("#feedback-about").display = self._draft is not None

    def _draft_cells(self, index: int, width: int) -> Sequence[Cell]:
        return draft_cells(
            self._feedback.drafts[index],
            self._feedback.sending,
            width,
            self._clock.now().astimezone(),
            glyphs_of(self.app),
            chosen=index == self.position,
        )

    def _pane_cells(self, index: int, width: int) -> Sequence[Cell]:
        glyphs, chosen = glyphs_of(self.app), index == self._row
        if self._part == "secrets":
            finding = self._findings[index]
            is_kept = finding.key in self.restored
            return finding_cells(finding, width, glyphs, chosen=chosen, is_kept=is_kept)
        if self._part != "transcript":
            return [(" ", "text"), *self._rows[index]]
        message = self.messages.messages[index]
        return message_cells(
            message,
            self.choice,
            width,
            self._clock.now().astimezone(),
            glyphs,
            chosen=chosen,
            cut="withheld" if self._is_withheld else "no room" * (message.number <= self._cut_to),
        )

    def _empty(self) -> Sequence[str]:
        if not self._feedback.is_read:
            return ("reading…",)
        return (
            "No report waits.",
            "When something is wrong, the model",
            "may draft one; nothing is sent",
            "unless you send it.",
            hint(self, "feedback.new", "writes one of your own."),
        )

    def _pane_empty(self) -> Sequence[str]:
        if self._part == "transcript" and self._draft and self._draft.id in self._transcripts:
            return ("The session has no message.",)
        if self._prepared is None or self._part != "secrets":
            return ("working…",)
        return ("No secret was found.", "Read the preview all the same.")

    def _head(self) -> Content:
        right: list[Cell] = []
        if self._feedback.damaged:
            right = [(f"damaged: {plain_line(', '.join(self._feedback.damaged))} ", "warn")]
        left: list[Cell] = [(" feedback ", "accent"), (f"  {head_words(self._feedback)}", "muted")]
        return _styled(spread(left, right, self.size.width, glyphs_of(self.app).more))

    def _about(self) -> Content:
        draft = self._draft
        if draft is None:
            return Content("")
        if self._part == "draft":
            sending, now = self._feedback.sending, self._clock.now().astimezone()
            is_sending = sending is not None and sending.draft_id == draft.id
            lines = about_lines(draft, self.seen, now, is_sending=is_sending)
        else:
            lines = [(self._pane_words(draft), "muted")]
        parts = [Content.styled(text, f"$r-{colour}") for text, colour in lines]
        return Content("\n").join(parts)

    def _pane_words(self, draft: Draft) -> str:
        if self._part == "secrets":
            return "Each is struck out unless you restore it."
        if self._part == "transcript":
            messages = [each for each in self.messages.messages if self.choice.takes(each)]
            taken = sum(each.number > self._cut_to for each in messages) * (not self._is_withheld)
            of = f"{taken} of {len(self.messages.messages)} messages"
            return f"Of session {draft.session_id[:8]} {of} go along."
        form = "as text" if self._part == "text" else "byte for byte"
        return f"{self._weight()} {self._place()}, {form}"

    def _weight(self) -> str:
        return "…" if self._prepared is None else bytes_in_words(len(self._prepared.data))

    def _place(self) -> str:
        if self._prepared is None or self._prepared.sink is None:
            return "to a file, when you export it"
        return f"to {plain_line(self._prepared.target)}"

    def _leaving(self) -> Content:
        if self._draft is None:
            return Content(plain_line(self._feedback.trouble))
        prepared, width, more = self._prepared, self.size.width - 2, glyphs_of(self.app).more
        attached = f"attach transcript  {self._attached()}"
        if prepared is None:
            words = "what would leave is found out when you are done" * self._is_editing
            words = f"{attached}     {words or 'preparing…'}"
            return Content.styled(cut_cells(words, width, more), "$r-muted")
        found = found_in_words(prepared.payload.findings)
        leaves = f"leaves this machine: {self._weight()} {self._place()}"
        if prepared.sink is None:
            leaves = "leaves this machine: nothing, since no service is set"
        lines = [f"{attached}     {found}     {leaves}"]
        if cell_len(lines[0]) > width:
            lines = [f"{attached}     {found}", leaves]
        if self.has_class("-short"):
            lines = [cut_cells(line, width, more) for line in (f"{attached}  {found}", leaves)]
        styled = [Content.styled(cut(line, 400), "$r-muted") for line in lines]
        notes = [*prepared.payload.notes, self._feedback.trouble]
        styled += [Content.styled(plain_line(note), "$r-warn") for note in notes if note]
        return Content("\n").join(styled)

    def _attached(self) -> str:
        """Whether the transcript goes along."""
        if self._draft is None or self._draft.id not in self._choices:
            return "[ ] off"
        return "[x] withheld" if self._is_withheld else "[x] on"

    @property
    def _is_withheld(self) -> bool:
        return self._prepared is not None and bool(self._prepared.payload.withheld)

    def _asked(self) -> Content:
        question = self._question
        if question is None:
            return Content("")
        parts: list[Content | str] = [Content.styled(question.words, "$r-warn"), "\n"]
        for index, choice in enumerate(question.choices):
            label = f" {hint(self, f'feedback.choice_{choice.key}', choice.label)} "
            parts += [Content.styled(label, "reverse" if index == question.chosen else ""), " "]
        return Content.assemble(*parts)

    def _said(self) -> str:
        if self.line.is_asking:
            return " Export to: "
        if self._is_editing:
            row, column = self.editor.cursor_location
            words = f"not kept: {self._unkept}" if self._unkept else "the first line is the title"
            words = f" line {row + 1}, column {column + 1}   {plain_line(words)}"
            return cut_cells(words, self.size.width - 1, glyphs_of(self.app).more)
        sending = self._feedback.sending
        words = f" {hint(self, 'feedback.stop')}" if sending is not None else ""
        return cut_cells(words, self.size.width - 1, glyphs_of(self.app).more)

    def _foot(self) -> str:
        width = self.size.width
        if self._question is not None:
            keys = [hint(self, "feedback.open", "Choose"), hint(self, "feedback.back", "Cancel")]
            return foot(keys, (), width)
        if self.line.is_asking:
            keys = [hint(self.line, f"feedback_line.{name}") for name in ("take", "leave")]
            return foot(keys, (), width)
        if self._is_editing:
            external, leave, help_ = (
                hint(self.editor, f"feedback_edit.{name}") for name in ("external", "leave", "help")
            )
            return foot([external], [leave, help_], width)
        names = FOOTS[self._part] if self._draft is not None else ("new",)
        labels = LABELS if width >= CLOSE else {("draft", "preview"): "Preview", **LABELS}
        keys = [hint(self, f"feedback.{n}", labels.get((self._part, n), "")) for n in names]
        back = hint(self, "feedback.back", "Later" if self._part == "draft" else "Draft")
        return foot(keys, [back, hint(self, "feedback.help")], width)


def _styled(cells: Sequence[Cell]) -> Content:
    return Content.assemble(*[(text, f"$r-{colour}") for text, colour in cells])
