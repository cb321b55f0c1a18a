"""What the slash commands of the chat do, and the two ways out to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from app.commands import COMMANDS, Command
from app.compaction_desk import BUSY
from app.errors import ReverieError
from app.models.usage import PRICES
from app.sessions.catalogue import named_transcript
from widgets.conversation.blocks import CodeBlock, ProseBlock
from widgets.conversation.conversation import Conversation
from widgets.palette import PALETTES
from widgets.prompt.prompt import Prompt
from widgets.screens.dialogs.help import HelpScreen, key_sections
from widgets.screens.dialogs.picker import Picker
from widgets.tasks.panel import TaskPanel
from widgets.words import cost_in_words, tokens_in_words

if TYPE_CHECKING:
    from app.controller import Controller


class ChatCommands(Screen[None]):
    """The commands; `ChatScreen` is made on top of it."""

    controller: Controller
    carried: list[str]
    """What was queued when the session was left: it goes to the prompt of the next one."""
    began_empty: bool
    """Whether the prompt was empty when the session was left: what is in it then is newer."""

    async def run_command_named(self, name: str, argument: str = "") -> None:
        """Do what a command of the table says; `KeyError` for a name that is not in it."""
        await self.run_command({c.name: c for c in COMMANDS}[name], argument)

    async def run_command(self, command: Command, argument: str) -> None:
        """Do what a slash command says."""
        handler = getattr(self, f"_do_{command.name}")
        await handler(argument)

    async def _do_help(self, _argument: str) -> None:
        self.action_help()

    def action_help(self) -> None:
        """Show every key and command."""
        nodes = (
            ("Anywhere", self),
            ("In the prompt", self.query_one(Prompt)),
            ("In the conversation", self.query_one(Conversation)),
            ("In the task panel", self.query_one(TaskPanel)),
        )
        self.app.push_screen(HelpScreen(key_sections(nodes)))

    async def _do_clear(self, _argument: str) -> None:
        self._leave_session()
        await self.controller.new_session()

    async def _do_resume(self, argument: str) -> None:
        if not argument:
            self.action_sessions()
            return
        here = self.controller.here
        try:
            await self._go_on_with(named_transcript(here.places, here.folder, argument))
        except ReverieError as error:
            self.controller.notice(str(error), "error")

    def action_sessions(self) -> None:
        """Choose a session to go on with."""
        from widgets.screens.sessions import SessionScreen  # not before the first frame

        self.app.push_screen(SessionScreen(self.controller), self._go_on_with)

    def action_tree(self) -> None:
        """Show every branch, to look at, to switch to, to go back to."""
        from widgets.screens.chat_tree import TreeActions  # not before the first frame

        TreeActions(self, self.controller).open()

    async def _do_tree(self, _argument: str) -> None:
        self.action_tree()

    def action_memory(self) -> None:
        """Show what is remembered, to read, to edit, to restore."""
        from widgets.screens.memory import MemoryScreen  # not before the first frame

        self.app.push_screen(MemoryScreen(self.controller, self.controller.desks.memory))

    async def _do_memory(self, _argument: str) -> None:
        self.action_memory()

    def action_feedback(self, chosen: str = "") -> None:
        """Show the drafts of reports, this one first: to read, to edit, to send."""
        from widgets.screens.feedback import FeedbackScreen  # not before the first frame

        desk = self.controller.desks.background.feedback
        self.app.push_screen(FeedbackScreen(self.controller, desk, chosen))

    async def _do_feedback(self, argument: str) -> None:
        if not argument:
            self.action_feedback()
            return
        try:
            draft = await self.controller.desks.background.feedback.write(argument)
        except ReverieError as error:
            self.controller.notice(str(error), "error")
            self.query_one(Prompt).put_back(f"/feedback {argument}")
        else:
            self.action_feedback(draft.id)

    async def _do_dream(self, _argument: str) -> None:
        begin = self.controller.desks.background.dreams.begin()
        self.run_worker(begin, group="dream", exit_on_error=False)

    async def _do_dreams(self, _argument: str) -> None:
        self.show_dreams()

    def show_dreams(self) -> None:
        """Show what dreams have changed, the newest one first."""
        from widgets.screens.dreams import DreamsScreen  # not before the first frame

        dreams = self.controller.desks.background.dreams
        self.app.push_screen(DreamsScreen(self.controller, dreams))

    @on(TaskPanel.DreamsAsked)
    def _dreams_asked(self) -> None:
        self.show_dreams()

    async def _do_recap(self, _argument: str) -> None:
        if self.controller.is_busy:
            self.controller.notice("A recap can be had when the turn is over.", "warning")
            return
        self.run_worker(self._recap(), group="recap", exit_on_error=False)

    async def _recap(self) -> None:
        found = await self.controller.desks.background.recap()
        self.controller.notice(found.text, "info" if found.status == "ok" else "warning")

    async def _do_rewind(self, _argument: str) -> None:
        self.action_tree()

    async def _do_undo(self, _argument: str) -> None:
        await self.controller.desks.rewinds.undo()

    async def _go_on_with(self, file: Path | None) -> None:
        if file is not None:
            self._leave_session()
            await self.controller.open_transcript(file)

    def _leave_session(self) -> None:
        self.carried = self.controller.take_queue()
        self.began_empty = not self.query_one(Prompt).whole_text

    async def _do_compact(self, argument: str) -> None:
        self.controller.compact(argument)

    async def _do_uncompact(self, _argument: str) -> None:
        if self.controller.is_busy:
            self.controller.notice(BUSY, "warning")
        else:
            self.controller.compaction.undo()

    async def _do_model(self, argument: str) -> None:
        if argument:
            await self.controller.choose_model(argument)
            return
        offered = [(info.id, info.name) for info in await self.controller.reach.models()]
        known = offered or [(name, name) for name in PRICES if name.startswith("claude-")]
        built_in = [("local", "built-in: SmolLM2-135M"), ("rehearsal", "rehearsal")]
        values = [*known, *((v, w) for v, w in built_in if v not in {k for k, _ in known})]
        current = self.controller.state.session.model

        async def chosen(value: str | None) -> None:
            if value is not None:
                await self.controller.choose_model(value)

        self.app.push_screen(Picker("Which model?", values, current), chosen)

    async def _do_mode(self, argument: str) -> None:
        if argument:
            self.controller.mode.choose(argument)
            return
        words = {
            "default": "default         ask before anything that changes something",
            "acceptEdits": "acceptEdits     change files in this folder without asking",
            "plan": "plan            look, but change nothing",
            "bypassPermissions": "bypassPermissions   ask nothing; only deny rules hold",
        }

        def chosen(value: str | None) -> None:
            if value is not None:
                self.controller.mode.choose(value)

        values = [(mode, words[mode]) for mode in self.controller.mode.choices]
        self.app.push_screen(
            Picker("Which permission mode?", values, self.controller.state.session.mode), chosen
        )

    async def _do_theme(self, argument: str) -> None:
        if argument:
            self._use_theme(argument)
            return
        others = sorted(name for name in self.app.available_themes if name not in PALETTES)
        values = [(name, name) for name in (*PALETTES, *others)]

        def chosen(value: str | None) -> None:
            if value is not None:
                self._use_theme(value)

        self.app.push_screen(Picker("Which colours?", values, self.app.theme), chosen)

    def _use_theme(self, name: str) -> None:
        if name not in self.app.available_themes:
            self.controller.notice(f"There is no theme {name}.", "warning")
            return
        self.app.theme = name
        self.controller.keep_setting("theme", name)

    async def _do_tasks(self, _argument: str) -> None:
        self.show_tasks()

    def show_tasks(self, task_id: str = "") -> None:
        """Show background work whole, this task first."""
        from widgets.screens.tasks import TasksScreen  # not before the first frame

        self.app.push_screen(TasksScreen(self.controller, task_id))

    async def _do_cost(self, _argument: str) -> None:
        limits = self.controller.state.limits
        usage = limits.usage
        counts = {
            "input": usage.input,
            "output": usage.output,
            "cache read": usage.cache_read,
            "cache write": usage.cache_write,
        }
        words = " · ".join(f"{name} {tokens_in_words(n)}" for name, n in counts.items())
        self.controller.notice(f"This session: {cost_in_words(limits.cost_usd)} · {words}")

    async def _do_copy(self, _argument: str) -> None:
        blocks = self.query_one(Conversation).blocks
        last = next((b for b in reversed(blocks) if isinstance(b, ProseBlock | CodeBlock)), None)
        if last is None:
            self.controller.notice("There is no reply to copy yet.")
            return
        parts = [b for b in blocks if isinstance(b, ProseBlock | CodeBlock) and b.uuid == last.uuid]
        await self.copy("\n\n".join(part.text for part in parts))

    async def _do_connect(self, _argument: str) -> None:
        self.controller.forget_access()

    async def _do_quit(self, _argument: str) -> None:
        self.app.exit()

    async def copy(self, text: str) -> None:
        """Copy by the terminal (OSC 52) and by the system's own program where there is one."""
        self.app.copy_to_clipboard(text)
        await self.controller.writing.copy(text)
        self.controller.notice(f"Copied {len(text)} characters.")

    async def edit_in_editor(self, text: str) -> str | None:
        """The text as the person's editor left it; None when there is no editor to open."""
        if self.controller.is_busy:
            words = "The editor would hold up the turn: wait for its end, or stop it with esc."
            self.controller.notice(words, "warning")
            return None
        editing = self.controller.writing.editing(text)
        failure: ReverieError | None = None
        edited: str | None = None
        with self.app.suspend():  # an error that left it would leave the terminal suspended
            try:
                edited = editing.run()
            except ReverieError as error:
                failure = error
        if failure is not None:
            self.controller.notice(str(failure), "warning")
        return edited
