"""Intents: everything a person can ask of the app, with its effects behind it.

Widgets call these and nothing else; what happened comes back as facts (ARCHITECTURE.md).
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app import trust
from app.compaction_desk import BUSY, CompactionDesk
from app.config import Loaded, Settings, set_value, value_of, with_value
from app.desk import QuestionDesk, save_rule
from app.desks import Desks
from app.errors import ReverieError, StorageError
from app.git import git_branch
from app.installation import BUILT_IN, Installation, Options, model_name
from app.mode_desk import ModeDesk
from app.models.usage import model_facts
from app.notice_desk import NoticeDesk
from app.reach import ChooseProvider, Reach
from app.sessions.envelope import new_uuid
from app.spawner import Spawner
from app.state import facts as f
from app.state.model import PermissionAnswer, QueuedMessage, Server, State
from app.state.reduce import reduce
from app.state.store import Store
from app.writing import Writing

if TYPE_CHECKING:
    from app.agent.compaction import Part
    from app.assembly import Runtime

NO_MODEL = "No model is connected yet. Choose one on the welcome screen."
EXIT_WAIT = 2.0  # seconds that leaving waits for what still runs (ARCHITECTURE.md, Concurrency)


class Controller:
    """One app's intents over one shared store."""

    def __init__(
        self,
        here: Installation,
        options: Options,
        loaded: Loaded,
        choose: ChooseProvider | None = None,
    ) -> None:
        """`choose` stands in for `app.assembly.choose_provider`."""
        self.here = here
        self.options = options
        self.loaded = loaded
        self.store: Store[State, f.Fact] = Store(State(), reduce)
        self.writing = Writing(here)
        self.questions = QuestionDesk(self.emit)
        self.notices = NoticeDesk(self.emit)
        self.notice = self.notices.post
        self.reach = Reach(here, self.emit, self.notice, choose)
        self.mode = ModeDesk(
            self.emit,
            self.notice,
            self._need_runtime,
            lambda: self.loaded.settings,
            lambda: self.state,
        )
        self.compaction = CompactionDesk(self.emit, self.notice, self._need_runtime, self._begin)
        self.on_fault: Callable[[BaseException], None] | None = None
        """Told of a programming error in a turn, for the crash screen."""
        self._runtime: Runtime | None = None
        self._turn: asyncio.Task[Any] | None = None
        self._hears: Callable[[f.Fact], None] | None = None
        self._spawner = Spawner(self._fault)
        self._spawn = self._spawner.start
        self.desks = Desks(
            here,
            self.emit,
            self.notice,
            self._need_runtime,
            settings=lambda: self.loaded.settings,
            is_busy=lambda: self.is_busy,
            begin=self._begin,
            spawn=self._spawn,
            state=lambda: self.state,
            fault=self._fault,
            keep_setting=self.keep_setting,
        )
        self._opened = asyncio.Event()

    # Starting and leaving

    async def start(self) -> None:
        """Open the session that was asked for and find out whether a model can be reached."""
        # Here and not at the top: the agent, its tools and the clients take 80 ms to import, which
        # is a third of what the first frame may take. Later imports of them in functions are free.
        await asyncio.to_thread(importlib.import_module, "app.assembly")
        await asyncio.to_thread(importlib.import_module, "app.background_desk")
        self._hears = self.desks.background.heard
        for problem in self.loaded.problems:
            self.notice(f"A setting does not count. {problem}", "warning")
        known = trust.is_trusted(self.here.places, self.here.root)
        if known or not trust.wants_trust(self.here.root):
            self.emit(f.TrustSettled(known))
        await self.reach.find_credentials(self.loaded.settings)
        await self._open(self.options)
        if not self.options.pick:
            self.options = replace(self.options, fork=False)  # it was meant for this session alone
        self._opened.set()
        self._spawn(self.desks.sessions.clean_up())
        if self.options.prompt and self.state.access.ready:
            await self.submit(self.options.prompt)

    @property
    def unsaved(self) -> int:
        """Records that are not on disk yet, because it could not be written."""
        return 0 if self._runtime is None else self._runtime.conversation.journal.unsaved

    async def close(self) -> StorageError | None:
        """Stop everything within two seconds; returns why something said is not on disk.

        Closing twice is harmless.
        """
        if self._hears is not None:
            await self.desks.background.close()
            self._hears = None
        waiting = [*self._spawner.running, *([] if self._turn is None else [self._turn])]
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting, timeout=EXIT_WAIT)
        self.writing.close()
        runtime, self._runtime = self._runtime, None
        error = await runtime.close() if runtime is not None else None
        await self.reach.close()
        return error

    async def _open(self, options: Options) -> None:
        old = self._runtime
        resumed = options.resume.stem if options.resume else ""
        if old is not None and not options.fork and resumed == self.state.session.session_id:
            self.notice("This session is open already.")
            return
        provider = self.reach.provider or await self.reach.connect(self.loaded.settings)
        session_id = resumed or options.session_id or new_uuid()
        from app.assembly import Hooks, open_session, rule_problems

        background = self.desks.background
        hooks = Hooks(
            emit=self.emit,
            storage_changed=self.notices.storage_changed,
            shell_changed=background.shell_changed,
            feedback_queued=background.feedback.queued,
            save_rule=self._save_rule,
            tell=self.notice,
            ask=self.questions.ask,
            can_ask=True,
        )
        try:
            runtime = await open_session(
                self.here, options, self.loaded, provider, session_id, hooks
            )
        except ReverieError as error:
            if old is None:
                raise
            self.notice(str(error), "error")  # the session on screen stays
            return
        if old is not None:
            await self.interrupt(wait=True)
            await self.desks.background.leave_session()
            await old.close()
        self._runtime = runtime
        self.emit(runtime.opened)
        self._spawn(self.reach.prepare())
        for problem in rule_problems(self.loaded.settings):
            self.notice(problem, "warning")
        for warning in runtime.opened.session.warnings:
            self.notice(f"About this session: {warning}.", "warning")
        if self.loaded.settings.resume_interrupted_turn and self.state.access.ready:
            self._begin(runtime.go_on_if_cut_off())

    # The state

    @property
    def state(self) -> State:
        """The shared state as it is now."""
        return self.store.state

    def emit(self, fact: f.Fact) -> None:
        """Tell the store what happened, then the background work."""
        self.store.dispatch(fact)
        if self._hears is not None:
            self._hears(fact)

    # Turns

    async def submit(self, text: str, pictures: tuple[Path, ...] = ()) -> None:
        """Send a prompt, or queue it while a turn runs. `!` in front runs a shell line."""
        if not text.strip() and not pictures:
            return
        if self._runtime is None:
            self._spawn(self._submit_when_open(text, pictures))
            return
        if text.strip():
            self.writing.remember(text)
        if self.is_busy:
            self.emit(f.MessageQueued(QueuedMessage(new_uuid(), text, pictures)))
        elif text.startswith("!") and text[1:].strip():
            self._begin(self._shell_line(text[1:].strip()))
        elif not self.state.access.ready:
            self.notice(NO_MODEL, "warning")
        else:
            self._begin(self._run_turn(text, pictures))

    def compact(self, instructions: str = "", part: Part | None = None) -> None:
        """Sum the conversation, or a part of it, up, once the person has seen the summary."""
        if self.is_busy or self._runtime is None or not self.state.access.ready:
            self.notice(BUSY if self.is_busy else NO_MODEL, "warning")
        else:
            self.compaction.draft(instructions, part)

    async def _submit_when_open(self, text: str, pictures: tuple[Path, ...]) -> None:
        """Keep what was sent while the app still starts."""
        await self._opened.wait()
        await self.submit(text, pictures)

    @property
    def is_busy(self) -> bool:
        """Whether a turn or a shell line runs."""
        return self._turn is not None and not self._turn.done()

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        self._turn = turn = asyncio.create_task(work)
        turn.add_done_callback(self._turn_done)
        return turn

    def _turn_done(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fault(error)
        self.emit(f.GitBranchSeen(git_branch(self.here.folder)))
        last = self.state.live.last
        if self.state.compaction.receipt is not None:
            return  # what is queued waits until the person has looked at the summary
        if self.state.live.queue and last is not None and last.outcome == "completed":
            self._spawn(self._send_next())

    async def _send_next(self) -> None:
        queue = self.state.live.queue
        if queue and not self.is_busy:
            self.emit(f.MessageUnqueued(queue[0].id))
            await self.submit(queue[0].text, queue[0].pictures)

    async def _run_turn(self, text: str, pictures: tuple[Path, ...]) -> None:
        from app.pictures import with_pictures

        content, problems = await with_pictures(text, pictures, self.here.folder)
        for problem in problems:
            self.notice(problem, "warning")
        if content:
            await self._need_runtime().loop.run_turn(content)

    async def _shell_line(self, command: str) -> None:
        from app.agent.shell_line import run_shell_line

        await run_shell_line(command, self._need_runtime().loop)

    async def interrupt(self, *, wait: bool = False) -> None:
        """Stop the running turn; what has arrived is kept."""
        if not self.is_busy or self._turn is None:
            return
        self.emit(f.InterruptRequested())
        self._turn.cancel()
        if wait:
            await asyncio.wait([self._turn])

    def take_queue(self) -> list[str]:
        """Take back everything that was queued, oldest first."""
        queue = self.state.live.queue
        for message in queue:
            self.emit(f.MessageUnqueued(message.id))
        return [message.text for message in queue]

    def unqueue(self, message_id: str) -> None:
        """Remove one queued message."""
        self.emit(f.MessageUnqueued(message_id))

    def answer_permission(self, request_id: str, answer: PermissionAnswer, words: str = "") -> None:
        """The person's word on a tool call."""
        self._need_runtime().gate.answer(request_id, answer, words)

    # Models, ways in

    async def choose_model(self, name: str) -> None:
        """Send later turns to another model."""
        model = BUILT_IN.get(name, name)
        await self._reach(msgspec.structs.replace(self.loaded.settings, model=model))

    async def _reach(self, settings: Settings) -> None:
        if self.is_busy:
            self.notice("The model can be changed when the turn is over (esc stops it).", "warning")
            return
        self.loaded = replace(self.loaded, settings=settings)
        runtime = self._need_runtime()
        provider = await self.reach.connect(settings)
        tools = tuple(runtime.runner.tools.values())
        from app.assembly import make_caller

        notes = runtime.loop.briefing.blocks
        runtime.loop.caller = make_caller(
            self.here, self.options, model_name(settings), provider, tools, notes
        )
        model = runtime.loop.caller.model
        self.emit(f.ModelChosen(model, provider.name, model_facts(model).context))
        self._spawn(self.reach.prepare())

    async def use_key(self, secret: str) -> None:
        """Keep a typed key and connect with it."""
        if await self.reach.keep_key(secret, self.loaded.settings):
            await self._reach(self.loaded.settings)

    async def use_server(self, server: Server) -> None:
        """Connect to a server on this machine, with its first model."""
        model = server.models[0] if server.models else model_name(self.loaded.settings)
        settings = msgspec.structs.replace(
            self.loaded.settings, base_url=server.base_url, model=model
        )
        self.reach.leave_environment()
        await self.reach.find_credentials(settings)
        await self._reach(settings)

    def forget_access(self) -> None:
        """Show the ways to a model again."""
        self.emit(f.AccessChanged(False))
        self._spawn(self.reach.search())

    async def settle_trust(self, trusted: bool) -> None:
        """The person's word on the folder's own settings."""
        if trusted:
            self._try(lambda: trust.trust(self.here.places, self.here.root))
            self.loaded = self.here.settings(self.options, trusted=True)
            await self._reach(self.loaded.settings)
            mode = self._need_runtime().take_settings(self.here, self.options, self.loaded.settings)
            self.emit(f.ModeChanged(mode))
        self.emit(f.TrustSettled(trusted))

    # Sessions

    async def new_session(self) -> None:
        """Begin an empty session; the old one stays in the list."""
        fresh = replace(self.options, resume=None, fork=False, session_id=None, prompt=None)
        await self._open(fresh)

    async def open_transcript(self, file: Path, *, fork_at: str | None = None) -> None:
        """Go on with another session, or with a fork of it at one of its records."""
        fork = fork_at is not None or self.options.fork
        chosen = replace(
            self.options, resume=file, session_id=None, prompt=None, fork=fork, fork_at=fork_at
        )
        self.options = replace(self.options, pick=False, fork=False)
        await self._open(chosen)

    def keep_setting(self, key: str, value: Any) -> None:
        """Write one of the person's own settings; it counts from now on."""
        self._try(lambda: set_value(self.here.places.settings, key, value))
        fresh = self.here.settings(self.options, trusted=self.state.access.trusted or False)
        in_force = value_of(fresh.settings, key)
        if in_force != value:
            self.notice(f"{key} is set by the {fresh.origin.get(key)} settings.", "warning")
        settings = with_value(self.loaded.settings, key, in_force)
        self.loaded = replace(self.loaded, settings=settings)

    # Inside

    def _need_runtime(self) -> Runtime:
        if self._runtime is None:
            raise RuntimeError("no session is open yet")
        return self._runtime

    def _fault(self, error: BaseException) -> None:
        if self.on_fault is None:
            raise error
        self.on_fault(error)

    def _save_rule(self, rule: str) -> None:
        if self.state.access.trusted is False and trust.wants_trust(self.here.root):
            self.notice(f"{rule} holds for this session; this folder is not trusted.", "warning")
        else:
            self._try(lambda: save_rule(self.here, rule))

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
        except ReverieError as error:
            self.notice(str(error), "error")
