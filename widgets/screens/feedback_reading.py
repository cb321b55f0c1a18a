"""How the screen of feedback is read: the drafts, the chosen one, and what of it would leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from textual import events
from textual.binding import Binding, BindingType

from app.background.feedback.drafts import Draft
from app.background.feedback.payload import Choice as Chosen
from app.background.feedback.redact import Finding
from app.background.feedback.transcript import Transcript
from app.errors import ReverieError
from app.feedback_desk import Prepared
from app.state.feedback import DraftSeen, Feedback
from app.state.model import Severity
from widgets.ask.choices import Choice
from widgets.dreams.diff_pane import DiffPane
from widgets.feedback.desk import FeedbackDesk
from widgets.feedback.editor import ReportEditor
from widgets.feedback.preview_rows import Row, raw_rows, text_rows
from widgets.feedback.report_text import ReportText, composed
from widgets.follow import Follow
from widgets.ring import RingScreen
from widgets.ring_line import RingLine
from widgets.tree.tree_list import TreeList

if TYPE_CHECKING:
    from app.controller import Controller

QUICK: Final = 65_536
"""Bytes that are laid out at once; more of them in a thread."""
Part: TypeAlias = Literal["draft", "text", "raw", "transcript", "secrets"]


@dataclass(slots=True)
class Question:
    """What is asked before something is done."""

    words: str
    choices: Sequence[Choice]
    answer: Callable[[str], Awaitable[None]]
    """Gets the value of the choice, empty when it was given up."""
    chosen: int = 0


class FeedbackLine(RingLine):
    """Where a file is named."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take_line", "Export", id="feedback_line.take"),
        Binding("escape", "leave_line", "Leave", id="feedback_line.leave"),
    ]


class FeedbackReading(Follow, RingScreen):
    """The drafts, and the chosen one as text, preview, transcript or secrets."""

    def __init__(self, controller: Controller, desk: FeedbackDesk, chosen: str = "") -> None:
        """`chosen` is the draft under the cursor; empty for the newest one."""
        super().__init__()
        self._controller = controller
        self._desk = desk
        self._clock = controller.here.clock
        self._feedback = Feedback()
        self._chosen = chosen
        self._aimed = chosen
        """The draft that the person has put the cursor on."""
        self._has_slid = False
        """Whether the cursor is on another one since, because that one is gone."""
        self._index = 0
        """Where the cursor was last, for when the chosen draft is gone."""
        self._draft: Draft | None = None
        self._looked: DraftSeen | None = None
        """How the chosen draft stood when it was read."""
        self._looking = asyncio.Lock()
        self._report = ReportText()
        self._part: Part = "draft"
        self._row = 0
        self._rows: list[Row] = []
        self._laid_out: object = None
        self._is_editing = False
        self._unkept = ""
        """Why what was typed is not on disk."""
        self._transcripts: dict[str, Transcript] = {}
        self._choices: dict[str, Chosen] = {}
        """What of a draft's transcript goes along; nothing unless it is here."""
        self._restored: dict[str, frozenset[str]] = {}
        self._prepared: Prepared | None = None
        """None while it is being prepared."""
        self._asked_for = 0
        """Counts what was to be prepared: only the last of it is wanted."""
        self._preparing = asyncio.Lock()
        self._findings: tuple[Finding, ...] = ()
        """The secrets that were found last."""
        self._cut_to = 0
        """Number of the last message that the budget had no room for."""
        self._question: Question | None = None

    @property
    def line(self) -> FeedbackLine:
        """The line that has the focus when the editor has it not."""
        return self.query_one(FeedbackLine)

    @property
    def editor(self) -> ReportEditor:
        """The chosen draft as a text."""
        return self.query_one(ReportEditor)

    @property
    def list(self) -> TreeList:
        """The drafts."""
        return self.query_one("#feedback-list", TreeList)

    @property
    def pane(self) -> DiffPane:
        """The preview, the transcript or the secrets."""
        return self.query_one(DiffPane)

    @property
    def target(self) -> FeedbackLine | ReportEditor:
        return self.editor if self._is_editing and self._question is None else self.line

    async def act_on(self, event: events.Key | events.Paste) -> None:
        if isinstance(event, events.Paste):
            await self.target.pasted(event.text)
        else:
            await self.target.typed(event)

    def tell(self, words: str, severity: Severity = "info") -> None:
        """Say a sentence."""
        self._controller.notice(words, severity)

    # What is shown

    def draw(self) -> None:
        """Bring everything that is seen up to date."""
        raise NotImplementedError

    def feedback_changed(self, feedback: Feedback) -> None:
        """The outbox was looked at, or a report goes its way."""
        self._feedback = feedback
        if self.seen != self._looked and not self._is_editing:
            self.look_again()
        self.draw()

    def catch_up(self) -> None:
        """Show the outbox as it is by now: the next frame may be later than the next key."""
        if self._feedback is not self._controller.state.feedback:
            self._feedback = self._controller.state.feedback
            self.draw()

    @property
    def position(self) -> int:
        """Which of the drafts is chosen."""
        ids = [draft.id for draft in self._feedback.drafts]
        at = ids.index(self._chosen) if self._chosen in ids else self._index
        return max(min(at, len(ids) - 1), 0)

    @property
    def seen(self) -> DraftSeen | None:
        """The draft under the cursor, as the state has it."""
        return self._feedback.drafts[self.position] if self._feedback.drafts else None

    def choose(self, index: int) -> None:
        """Put the cursor on a draft."""
        drafts = self._feedback.drafts
        if drafts:
            self._index = min(max(index, 0), len(drafts) - 1)
            self._chosen = self._aimed = drafts[self._index].id
            self._part = "draft"
            self.look_again()
            self.draw()

    def look_again(self) -> None:
        """Read the chosen draft."""
        self.run_worker(self.look_at_chosen, group="draft")

    async def look_at_chosen(self) -> None:
        """Have the draft under the cursor as it stands; an edited one stays as it is typed."""
        async with self._looking:
            self.catch_up()
            seen = self.seen
            if self._is_editing or (seen is not None and seen == self._looked):
                return
            self._looked = seen
            try:
                draft = await self._desk.read(seen.id) if seen is not None else None
            except ReverieError as error:
                draft = None
                self.tell(str(error), "warning")
                self.run_worker(self._desk.look, group="look")
            if not self._is_editing:
                self._index = self.position
                self.take(draft)
                self.prepare_soon()

    def take(self, draft: Draft | None) -> None:
        """Show a draft as it is on disk by now; whatever was asked of another one is over."""
        before, self._draft = self._draft, draft
        is_other = before is None or draft is None or draft.id != before.id
        if is_other:
            self._part, self._question, self._findings = "draft", None, ()
            self._has_slid = before is not None and draft is not None and draft.id != self._aimed
        if draft is not None:
            self._chosen = draft.id
        if not self._is_editing:
            self._report = composed(draft) if draft is not None else ReportText()
            self.editor.follow_text(self._report.text)
            if is_other:
                self.editor.move_cursor((0, 0))

    def prepare_soon(self) -> None:
        """Find out anew what would leave."""
        self.forget_prepared()
        self.draw()
        self.run_worker(partial(self._prepare, self._asked_for), group="prepare")

    def forget_prepared(self) -> None:
        """What was prepared, or is being prepared, is not what would leave any more."""
        self._prepared = None
        self._asked_for += 1

    async def _prepare(self, number: int) -> None:
        # One at a time: a megabyte takes a second, and a thread cannot be stopped.
        async with self._preparing:
            draft = self._draft
            if draft is None or number != self._asked_for:
                return
            prepared = await self._desk.prepare(
                draft,
                self._transcripts.get(draft.id),
                self._choices.get(draft.id),
                self.restored,
            )
        if number == self._asked_for:
            self._prepared, self._findings = prepared, prepared.payload.findings
            taken = [each.number for each in self.messages.messages if self.choice.takes(each)]
            self._cut_to = max(taken[: prepared.payload.dropped_messages], default=0)
            self.lay_out()
            self.draw()
            self.prepared()

    def prepared(self) -> None:
        """It is known what would leave."""

    # The pane

    def show_part(self, part: Part) -> None:
        """Show the chosen draft another way."""
        self._part, self._row = part, 0
        self.pane.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.lay_out()
        self.draw()

    def lay_out(self) -> None:
        """Make the rows of the preview for the width that there is."""
        prepared, width = self._prepared, self.pane.scrollable_content_region.width - 1
        if prepared is None or self._part not in {"text", "raw"} or width < 1:
            return
        key = (prepared, self._part, width)
        if key != self._laid_out:
            self._rows, self._laid_out = [], key
            make = text_rows if self._part == "text" else raw_rows
            if len(prepared.data) <= QUICK:
                self._rows = make(prepared.data, width)
            else:
                work = partial(self._make_rows, make, prepared.data, width)
                self.run_worker(work, group="rows", exclusive=True)
        self.draw()

    async def _make_rows(
        self, make: Callable[[bytes, int], list[Row]], data: bytes, width: int
    ) -> None:
        self._rows = await asyncio.to_thread(make, data, width)
        self.draw()

    @property
    def pane_count(self) -> int:
        """Rows of the pane."""
        if self._part == "transcript":
            return len(self.messages.messages)
        if self._part == "secrets":
            return len(self._findings)
        return len(self._rows) if self._prepared else 0

    @property
    def restored(self) -> frozenset[str]:
        """Keys of the secrets of the chosen draft that stay in it."""
        return self._restored.get(self._draft.id if self._draft else "", frozenset())

    @property
    def messages(self) -> Transcript:
        """The transcript of the chosen draft, as far as it was read."""
        draft_id = self._draft.id if self._draft else ""
        return self._transcripts.get(draft_id, Transcript("", ()))

    @property
    def choice(self) -> Chosen:
        """What of it goes along."""
        return self._choices.get(self._draft.id if self._draft else "", Chosen())
