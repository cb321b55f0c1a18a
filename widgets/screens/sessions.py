"""The sessions: find one by its title or by what was said in it, open it, keep house."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerError

from app.errors import ReverieError
from app.sessions.glance import SessionSummary
from app.sessions.listing import SCOPES, Scope
from app.sessions.search import Hit
from widgets.ask.choices import CRAMPED
from widgets.ask.line import LineBox
from widgets.header import home_relative
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.notices import NoticeRows
from widgets.screens.dialogs.help import HelpScreen, key_sections
from widgets.sessions.rows import Row
from widgets.sessions.search_line import SearchLine
from widgets.sessions.session_list import SessionList

if TYPE_CHECKING:
    from app.controller import Controller

WORDS: dict[Scope, str] = {
    "project": "this folder",
    "worktrees": "work trees",
    "all": "all folders",
}
REDRAWN = 0.1
"""Seconds between two drawings of what is found out in the background."""
LIST_ACTIONS = frozenset({"rename", "export", "trash", "undo", "close", "scope", "move", "page"})
"""What keys do to the list."""
AT_ONCE = frozenset({"close", "help", "scope"})
"""What keys do that need no list."""
FOOT = ("open", "scope", "rename", "export", "trash", "back")
"""The keys that the last line names."""


class SessionScreen(Screen[Path | None]):
    """Returns the transcript that is to be opened, None when it was closed without one."""

    CSS_PATH = "../../styles/sessions.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", id="sessions.open"),
        Binding("tab", "scope", "Scope", id="sessions.scope"),
        Binding("ctrl+t", "rename", "Rename", id="sessions.rename"),
        Binding("ctrl+x", "export", "Export", id="sessions.export"),
        Binding("ctrl+d", "trash", "Trash", id="sessions.trash"),
        Binding("ctrl+z", "undo", "Undo trash", id="sessions.undo"),
        Binding("up", "move(-1)", "Before", id="sessions.before"),
        Binding("down", "move(1)", "Next", id="sessions.next"),
        Binding("pageup", "page(-1)", "Page up", id="sessions.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="sessions.page_down"),
        Binding("ctrl+home", "end(-1)", "Newest", id="sessions.newest"),
        Binding("ctrl+end", "end(1)", "Oldest", id="sessions.oldest"),
        Binding("f1", "help", "Help", id="sessions.help"),
        Binding("escape", "close", "Back", id="sessions.back"),
        Binding("ctrl+c", "close", show=False, priority=True),
    ]

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self._controller = controller
        self._desk = controller.desks.sessions
        self._scope: Scope = "project"
        self._found: list[SessionSummary] = []
        self._sought = ""
        """The text in the line when it was looked at last."""
        self._hits: dict[Path, Hit] | None = None
        """By transcript; None while nothing is sought."""
        self._titled: set[Path] = set()
        """Those whose title or first prompt holds what is sought: they come first."""
        self._exact: dict[Path, SessionSummary] = {}
        """What was found out since the list was read."""
        self._reader: Worker[None] | None = None
        self._waits = False
        self._gone: list[tuple[str, str]] = []
        """Ids of what was thrown away here and what was said of it, last one last."""
        self._renamed: SessionSummary | None = None
        """The session whose new title is asked for."""
        self._reading = self._searching = False

    def compose(self) -> ComposeResult:
        yield Static(id="sessions-head")
        with Horizontal(id="sessions-query"):
            yield Static(Content(f"{glyphs_of(self.app).prompt} "), id="sessions-mark")
            yield SearchLine(self, self, "sessions.", placeholder="search titles and texts")
        yield SessionList(self._controller.here.clock)
        yield NoticeRows()
        yield Static(id="sessions-foot")

    @property
    def rows(self) -> SessionList:
        """The list."""
        return self.query_one(SessionList)

    @property
    def field(self) -> SearchLine:
        """What is sought."""
        return self.query_one(SearchLine)

    def on_mount(self) -> None:
        self.field.focus()
        self._list()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < CRAMPED, "-short")
        self._draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a title is typed, its keys belong to the line."""
        return action not in LIST_ACTIONS or not self.query(LineBox)

    # What is listed

    def _list(self) -> None:
        self._reader = self.run_worker(self._read(), group="list", exclusive=True)

    async def _read(self) -> None:
        self._reading = True
        self._draw()
        self._found, self._exact = await self._desk.list(self._scope), {}
        self._reading = False
        self._seek()
        complete = self._desk.complete(self._found, self._known)
        self.run_worker(complete, group="complete", exclusive=True)

    def _known(self, session: SessionSummary) -> None:
        """A session's branches and cost have been found out; many such are drawn at once."""
        self._exact[session.path] = session
        if not self._waits and self.is_mounted:
            self._waits = True
            self.set_timer(REDRAWN, self._draw_known)

    def _draw_known(self) -> None:
        self._waits = False
        self._found = [self._exact.get(each.path, each) for each in self._found]
        self._draw()

    @on(Input.Changed, "#sessions-query Input")
    def _follow(self) -> None:
        """Seek what stands in the line now."""
        if self._is_there and self.field.value != self._sought:
            self._sought = self.field.value
            self.rows.choose_first()
            self._seek()

    def _seek(self) -> None:
        """What titles hold is known at once, what was said takes a while."""
        text = self._sought
        self.workers.cancel_group(self, "search")
        self._searching = bool(text.strip()) and not self._reading
        found = self._desk.search_titles(self._found, text) if self._searching else []
        self._hits = {hit.path: hit for hit in found} if text.strip() else None
        self._titled = {hit.path for hit in found}
        if self._searching:
            self.run_worker(self._search(text), group="search", exclusive=True)
        self._draw()

    async def _search(self, text: str) -> None:
        missed: set[Path] = set()
        async for hits in self._desk.search(self._found, text, missed):
            self._hits = {**(self._hits or {}), **{hit.path: hit for hit in hits}}
            self._draw()
        self._searching = False
        self._draw()
        if missed:
            names = ", ".join(sorted(file.stem for file in missed))
            self._controller.notice(f"Not all of these could be searched: {names}.", "warning")

    @property
    def _is_there(self) -> bool:
        """Not so before it is made and while it is taken apart, when late news still come."""
        return self.is_mounted and self in self.app.screen_stack

    def _draw(self) -> None:
        if not self._is_there:
            return
        hits, current, own = self._hits, self._desk.current, self._scope == "project"
        rows = [
            Row(
                each,
                None if hits is None else hits[each.path],
                each.session_id == current,
                "" if own else home_relative(each.cwd),
            )
            for each in sorted(self._found, key=lambda each: each.path not in self._titled)
            if hits is None or each.path in hits
        ]
        self.rows.show(rows, "first prompt" if own else "folder", self._empty())
        self.query_one("#sessions-head", Static).update(self._head(len(rows)))
        hints = [hint(self, f"sessions.{name}") for name in FOOT]
        self.query_one("#sessions-foot", Static).update(Content(f" {'  '.join(hints)}"))

    @property
    def _busy(self) -> str:
        return "reading" if self._reading else "searching" if self._searching else ""

    def _empty(self) -> str:
        if self._busy:
            return f"{self._busy}{glyphs_of(self.app).more}"
        wider = "" if self._scope == "all" else f"\n{hint(self, 'sessions.scope')}: look further."
        if self._hits is not None:
            return f"No session here holds “{self.field.value.strip()}”.{wider}"
        return f"No session here yet. What you talk about is kept here by itself.{wider}"

    def _head(self, count: int) -> Content:
        parts: list[Content | str] = [Content.styled(" sessions  ", "bold $r-accent")]
        for scope in SCOPES:
            chosen = scope == self._scope
            words = f"[{WORDS[scope]}]" if chosen else f" {WORDS[scope]} "
            parts.append(Content.styled(words, "$r-text bold" if chosen else "$r-muted"))
        said = self._busy and f"  {self._busy}{glyphs_of(self.app).more}"
        number = f"{count} session{'' if count == 1 else 's'}"
        parts.append(Content.styled(f"  {number}{said}", "$r-muted"))
        return Content.assemble(*parts)

    # Keys

    async def press(self, action: str) -> None:
        """A key of the list was pressed; what was typed before it counts first."""
        if not self.is_current:
            return
        self._follow()
        if action not in AT_ONCE and self._reader is not None:
            with contextlib.suppress(WorkerError):  # the list that the key before made
                await self._reader.wait()
        await self.run_action(action)

    @on(SessionList.Opened)
    def _clicked(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Go on with the chosen session."""
        row = self.rows.chosen
        if row is None:
            return
        if row.session.status == "unreadable":
            self._controller.notice("This file cannot be read as a session.", "warning")
        else:
            self.dismiss(None if row.here else row.session.path)

    def action_scope(self) -> None:
        """This folder, then all work trees of its repository, then everything."""
        self._scope = SCOPES[(SCOPES.index(self._scope) + 1) % len(SCOPES)]
        self._list()

    def action_move(self, step: int) -> None:
        self.rows.move(step)

    def action_page(self, step: int) -> None:
        self.rows.move(step * self.rows.page)

    def action_end(self, step: int) -> None:
        self.rows.move(step * len(self._found))

    def action_help(self) -> None:
        """Show every key of this screen."""
        self.app.push_screen(HelpScreen(key_sections((("In the list of sessions", self),))))

    def action_close(self) -> None:
        """Leave; the session on screen goes on."""
        self.dismiss(None)

    async def action_rename(self) -> None:
        """Ask for another title."""
        row = self.rows.chosen
        if row is None:
            return
        self._renamed = row.session
        box = LineBox("rename", "New title:")
        await self.mount(box, before="#sessions-foot")
        line = box.query_one(Input)
        line.value = row.session.title
        line.select_all()

    @on(LineBox.Given)
    async def _named(self, message: LineBox.Given) -> None:
        await self.query_one(LineBox).remove()
        self.field.focus()
        named, self._renamed = self._renamed, None
        if named is not None and message.text and message.text != named.title:
            self.rows.choose(named.path)
            try:
                await self._desk.rename(named.path, message.text)
            except ReverieError as error:
                self._controller.notice(str(error), "error")
            self._list()

    async def action_export(self) -> None:
        """Write the chosen session as Markdown into the working folder."""
        row = self.rows.chosen
        if row is not None:
            try:
                file = await self._desk.export(row.session.path)
            except ReverieError as error:
                self._controller.notice(str(error), "error")
            else:
                self._controller.notice(f"Exported to {file}.")

    async def action_trash(self) -> None:
        """Throw the chosen session away; it can be had back at once."""
        row = self.rows.chosen
        if row is None:
            return
        try:
            gone = await self._desk.trash(row.session.path)
        except ReverieError as error:
            self._controller.notice(str(error), "error")
            return
        words = f"“{row.session.title}” is in the trash.  {hint(self, 'sessions.undo', 'Undo')}"
        self._gone.append((gone.session_id, words))
        self._controller.notice(words)
        self._found = [each for each in self._found if each.path != row.session.path]
        self._draw()
        self.rows.hold()
        self._list()

    async def action_undo(self) -> None:
        """Take back what was thrown away last."""
        if not self._gone:
            return
        session_id, words = self._gone.pop()
        try:
            self.rows.choose(await self._desk.restore(session_id))
        except ReverieError as error:
            self._controller.notice(str(error), "error")
        else:
            self._withdraw(words)
        self._list()

    def _withdraw(self, words: str) -> None:
        for notice in self._controller.state.notices:
            if notice.text == words:
                self._controller.notices.dismiss(notice.id)

    @on(NoticeRows.Read)
    def _notice_read(self, message: NoticeRows.Read) -> None:
        self._controller.notices.dismiss(message.notice_id)
