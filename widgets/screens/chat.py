"""The chat: the conversation, the prompt or a question in its place, the status line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static, TextArea

from app.commands import COMMANDS, parse_command
from app.errors import ReverieError
from app.state import select
from app.state.background import Suggestion
from app.state.model import Live, Session
from widgets.ask.choices import CRAMPED, ChoiceBox
from widgets.ask.foot import Foot
from widgets.ask.line import LineBox
from widgets.ask.receipt import SummaryText
from widgets.conversation.conversation import Conversation
from widgets.follow import Follow
from widgets.header import Header
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.notices import NoticeRows
from widgets.prompt.completion import Wanted, best_commands, best_paths
from widgets.prompt.offers import OfferRows
from widgets.prompt.prompt import Prompt
from widgets.prompt.queue import QueueRows
from widgets.screens.chat_answers import ChatAnswers
from widgets.screens.chat_commands import ChatCommands
from widgets.status_line import StatusLine
from widgets.tasks.panel import TaskPanel
from widgets.terminal_title import TerminalTitle

if TYPE_CHECKING:
    from app.controller import Controller

QUIT_WINDOW = 3.0
"""Seconds in which a second ctrl+c or ctrl+d leaves."""
DOUBLE = 0.6
"""Seconds in which a second esc in an empty prompt opens the tree."""
READING = ("leave", "fold", "copy", "find")
"""The keys of the conversation that the status line names."""
NARROW = 100
"""Columns below which the side panel covers the conversation."""


class ChatScreen(ChatCommands, ChatAnswers, Follow, Screen[None]):
    """The main screen. Whatever it is asked, it asks of the controller."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "clear_or_quit", "Clear, then quit", id="chat.clear"),
        Binding("ctrl+d", "quit_when_empty", "Quit when empty", id="chat.quit"),
        Binding("escape", "escape", "Interrupt", id="chat.interrupt"),
        Binding("shift+tab", "cycle_mode", "Permission mode", id="chat.mode", priority=True),
        Binding("f1", "help", "Help", id="chat.help"),
        Binding("f2", "tasks", "Tasks", id="chat.tasks"),
        Binding("f3", "tree", "Tree", id="chat.tree"),
        Binding("f4", "memory", "Memory", id="chat.memory"),
        Binding("f5", "feedback", "Feedback", id="chat.feedback"),
        Binding("pageup", "page(-1)", "Page up", id="chat.page_up", priority=True),
        Binding("pagedown", "page(1)", "Page down", id="chat.page_down", priority=True),
    ]

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller = controller
        self._quit_at = float("-inf")
        self._escaped_at = float("-inf")
        self.carried = []
        self._session_id = ""
        self._session: Session | None = None
        self.began_empty = False
        self._paths: list[str] | None = None
        self._title = TerminalTitle(lambda: self.app)

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="body"):
            yield Conversation(id="conversation")
            yield TaskPanel(self.controller.here.clock)
        yield Static(id="missed")
        yield NoticeRows()
        yield QueueRows()
        yield OfferRows()
        yield Foot(self.controller.here.clock.monotonic)
        yield StatusLine(self.controller.here.clock)

    def on_mount(self) -> None:
        self.prompt.focus()
        self.follow(select.session, self._session_changed)
        self.follow(select.live, self._live_changed)
        self.follow(select.permission, self._show_question)
        self.follow(select.compaction, self._show_question)
        self.follow(select.access, self._show_question)
        self.follow(select.suggestion, self._suggestion_changed)
        self.follow(select.feedback, lambda _: self._show_keys())
        self.follow(select.whole, self._title.show)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")
        for box in self.query(ChoiceBox):
            box.fit(event.size)
        self.set_class(event.size.height < CRAMPED, "-short")
        self._fit_panel(event.size)

    def _fit_panel(self, size: Size) -> None:
        covered = size.width < NARROW and self.query_one(TaskPanel).has_class("-shown")
        self.conversation.display = not covered

    # What the store says

    def _session_changed(self, session: Session) -> None:
        if not session.session_id or session.session_id == self._session_id:
            return
        at_start, writing = not self._session_id, self.controller.writing
        unsent = self.prompt.whole_text if at_start or self.began_empty else ""
        if unsent and self._session is not None:
            writing.keep_draft(self._session, "")  # it was typed for the session that comes now
        if at_start and not self.controller.state.access.ready:
            unsent = unsent or self.controller.options.prompt or ""  # it could not be sent yet
        self._session_id, self._session = session.session_id, session
        self._paths = None
        self.prompt.earlier = writing.earlier()
        draft = "" if at_start and unsent else writing.draft(session, at_start=at_start)
        self.prompt.take("\n".join(part for part in (draft, unsent) if part))
        carried, self.carried = self.carried, []
        if carried:
            self.prompt.put_in_front(carried)
        if at_start and self.controller.options.pick:
            self.action_sessions()

    def _live_changed(self, live: Live) -> None:
        self.prompt.has_queue = bool(live.queue)
        self._show_keys()
        stopped = live.turn_id is None and live.last and live.last.outcome != "completed"
        if stopped and live.queue:
            self.prompt.put_in_front(self.controller.take_queue())

    def _suggestion_changed(self, suggestion: Suggestion) -> None:
        self.prompt.enter_takes = self.controller.loaded.settings.suggestion.enter_sends
        self.prompt.offer_ghost(suggestion.text)
        self._show_keys()

    @on(Prompt.GhostGone)
    def _ghost_gone(self) -> None:
        self.controller.desks.background.drop_suggestion()

    def on_descendant_focus(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        if self.conversation.has_focus:
            hints = [hint(self.conversation, f"conversation.{name}") for name in READING]
        elif isinstance(self.focused, SummaryText):
            hints = [hint(self.focused, "receipt.leave")]
        elif isinstance(self.focused, ChoiceBox):
            hints = [hint(self.focused, "choice.take"), hint(self.focused, "choice.cancel")]
        else:
            busy = self.controller.state.live.turn_id is not None
            first = hint(self, "chat.interrupt") if busy else hint(self.prompt, "prompt.send")
            hints = [first, hint(self, "chat.help"), hint(self, "chat.tasks")]
            hints += [hint(self, "chat.tree"), hint(self, "chat.memory")]
            hints += [hint(self, "chat.feedback")] * bool(self.controller.state.feedback.drafts)
        keys = "  ".join(part for part in hints if part)
        self.query_one(StatusLine).show_keys(keys)

    async def _show_question(self, _slice: object = None) -> None:
        await self.foot.show(self.controller.state)

    # The prompt

    @on(Prompt.Sent)
    async def _sent(self, message: Prompt.Sent) -> None:
        self._keep_draft("")
        command = parse_command(message.text)
        if command is not None:
            self.controller.writing.remember(message.text)
            await self.run_command(*command)
        else:
            self.conversation.action_to_end()
            await self.controller.submit(message.text, message.pictures)
        self.prompt.earlier = self.controller.writing.earlier()

    @on(TextArea.Changed, "#prompt")
    def _prompt_changed(self) -> None:
        self._escaped_at = float("-inf")
        self.foot.typed()
        self.conversation.give_way()
        text = self.prompt.text
        self.query_one("#input").set_class(text.startswith("!"), "-shell")
        self._keep_draft(self.prompt.whole_text)

    def _keep_draft(self, text: str) -> None:
        self.controller.writing.keep_draft(self.controller.state.session, text)
        self.controller.desks.background.drafted(has_draft=bool(text))

    @on(Prompt.CompletionWanted)
    def _completion_wanted(self, message: Prompt.CompletionWanted) -> None:
        if message.wanted is None:
            self.query_one(OfferRows).show((), "/")
        else:
            self.run_worker(self._complete(message.wanted), group="completion", exclusive=True)

    async def _complete(self, wanted: Wanted) -> None:
        offers = await self._offers(wanted)
        if self.prompt.offer(wanted, offers):
            mark = "/" if wanted.kind == "command" else "@"
            self.query_one(OfferRows).show(offers, mark)

    async def _offers(self, wanted: Wanted):
        if wanted.kind == "command":
            return best_commands(wanted.word, ((c.name, c.description) for c in COMMANDS))
        if self._paths is None or not wanted.word:  # listed anew whenever an @ is typed
            try:
                self._paths = await self.controller.writing.paths()
            except ReverieError as error:
                self.controller.notice(str(error), "warning")
                self._paths = []
        return best_paths(wanted.word, self._paths)

    @on(Prompt.OfferMoved)
    def _offer_moved(self, message: Prompt.OfferMoved) -> None:
        self.query_one(OfferRows).choose(message.index)

    @on(Prompt.QueueAsked)
    def _queue_asked(self) -> None:
        self.prompt.put_in_front(self.controller.take_queue())

    @on(Prompt.DropAsked)
    def _drop_asked(self) -> None:
        queue = self.controller.state.live.queue
        if queue:
            self.controller.unqueue(queue[-1].id)

    @on(Prompt.ClearAsked)
    def _clear_asked(self) -> None:
        self.action_clear_or_quit()

    @on(Prompt.SessionsAsked)
    def _sessions_asked(self) -> None:
        self.action_sessions()

    @on(Prompt.EditAsked)
    async def _edit_asked(self) -> None:
        text = await self.edit_in_editor(self.prompt.whole_text)
        if text is not None:
            self.prompt.take(text)

    # The conversation

    @on(Prompt.LeaveAsked)
    def _to_conversation(self) -> None:
        self.conversation.focus()

    @on(Conversation.LeaveAsked)
    def _to_prompt(self) -> None:
        self.prompt.focus()

    @on(Conversation.Missed)
    def _missed(self, message: Conversation.Missed) -> None:
        line = self.query_one("#missed", Static)
        line.set_class(message.count > 0, "-shown")
        line.update(Content(f"{glyphs_of(self.app).down} {message.count} new · G end"))

    @on(Conversation.CopyAsked)
    async def _copy_asked(self, message: Conversation.CopyAsked) -> None:
        await self.copy(message.text)

    @on(Conversation.EditAsked)
    async def _read_asked(self, message: Conversation.EditAsked) -> None:
        await self.edit_in_editor(message.text)

    @on(Conversation.StrikeAsked)
    async def _strike_asked(self, message: Conversation.StrikeAsked) -> None:
        desk = self.controller.desks.memory
        await desk.strike(message.name, message.change_id, message.tool_id)

    @on(Conversation.RecapsUnwanted)
    def _recaps_unwanted(self) -> None:
        self.controller.desks.background.turn_off_recaps()

    @on(Conversation.FindAsked)
    async def _find_asked(self) -> None:
        await self.foot.ask_line(LineBox("find", "Find in the conversation:"))

    @on(NoticeRows.Read)
    def _notice_read(self, message: NoticeRows.Read) -> None:
        self.controller.notices.dismiss(message.notice_id)

    @on(TaskPanel.KillAsked)
    def _kill_asked(self, message: TaskPanel.KillAsked) -> None:
        self.controller.desks.background.kill(message.task_id)

    @on(TaskPanel.OpenAsked)
    def _open_asked(self, message: TaskPanel.OpenAsked) -> None:
        self.show_tasks(message.task_id)

    @on(TaskPanel.LookAsked)
    def _look_asked(self) -> None:
        self.controller.desks.background.look()

    @on(TaskPanel.LeaveAsked)
    def _leave_tasks(self) -> None:
        self.action_tasks()

    # Keys

    def action_escape(self) -> None:
        """Close the list, else stop the turn, else let go of what is on show."""
        if self.prompt.close_offers():
            return
        if self.controller.is_busy:
            self.run_worker(self.controller.interrupt(), exit_on_error=False)
        elif not self.controller.desks.background.stop_recap():
            self.query_one(NoticeRows).dismiss()
            self._second_escape()

    def _second_escape(self) -> None:
        """Twice in an empty prompt: the tree, at the last prompt."""
        now = self.controller.here.clock.monotonic()
        twice, self._escaped_at = now - self._escaped_at <= DOUBLE, now
        if twice and not self.prompt.text and self.prompt.has_focus:
            self._escaped_at = float("-inf")
            self.action_tree()

    def action_clear_or_quit(self) -> None:
        """Empty the prompt, its text goes to the history; on an empty one leave by two presses."""
        if self.prompt.text:
            self.controller.writing.remember(self.prompt.clear_draft())
            self.prompt.earlier = self.controller.writing.earlier()
            self._quit_at = float("-inf")
        else:
            self.action_quit_when_empty()

    def action_quit_when_empty(self) -> None:
        if self.prompt.text:
            return
        now = self.controller.here.clock.monotonic()
        if now - self._quit_at <= QUIT_WINDOW:
            self.app.exit()
            return
        self._quit_at = now
        unsaved = self.controller.unsaved
        if unsaved:
            words = (
                f"Press ctrl+c again to leave: {unsaved} records could not be saved and go then."
            )
            self.controller.notice(words, "error")
        else:
            self.controller.notice("Press ctrl+c again to leave; nothing is lost.")

    def action_page(self, step: int) -> None:
        """A page of the conversation, from wherever the focus is."""
        (self.conversation.action_page_down if step > 0 else self.conversation.action_page_up)()

    def action_cycle_mode(self) -> None:
        self.controller.mode.cycle()

    def action_tasks(self) -> None:
        """Show or hide what runs in the background."""
        panel = self.query_one(TaskPanel)
        panel.toggle_class("-shown")
        self._fit_panel(self.size)
        if panel.has_class("-shown"):
            panel.choose_newest_running()
            panel.focus()
            self.controller.desks.background.look()
        else:
            self.prompt.focus()
