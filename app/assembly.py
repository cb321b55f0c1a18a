"""Puts a session together: settings, a model, tools, a transcript, and the loop over them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from app.agent.caller import Caller, Measure, Purpose, Tell
from app.agent.compaction import context_tokens
from app.agent.compactor import Compactor
from app.agent.conversation import Conversation
from app.agent.file_tracker import FileTracker
from app.agent.gate import Gate
from app.agent.leftovers import can_go_on
from app.agent.loop import AgentLoop
from app.agent.permission import hidden_from_search
from app.agent.policy import Mode, Policy
from app.agent.remembering import briefing_of, leave, session_memory
from app.agent.request import Surroundings, system_prompt
from app.agent.rewinder import Rewinder
from app.agent.rules import Rule, RuleError, Rules, parse_rule
from app.agent.titler import Titler
from app.agent.tool_runner import ToolRunner
from app.agent.tools.base import Asker, Tool, ToolContext
from app.agent.tools.registry import api_form, offered_tools
from app.agent.tools.send_feedback import SEND_FEEDBACK
from app.agent.tools.shell_background import ShellTask, ShellTasks
from app.checkpoints.blobs import note_of, store_of
from app.checkpoints.look import MOST_FILES
from app.checkpoints.watch import FolderWatch
from app.config import Loaded, Settings
from app.credentials import Credentials
from app.errors import StorageError
from app.feedback_queue import Queued, report_queue
from app.git import git_branch, git_root, tracked_files
from app.installation import Installation, Options, model_name, small_model_of
from app.models.client import AnthropicProvider
from app.models.local import LocalProvider
from app.models.provider import Block, Provider, Usage
from app.models.rehearsal.model import RehearsalProvider
from app.models.spending import spent
from app.models.usage import (
    LOCAL_MODEL,
    REHEARSAL_MODEL,
    cost_usd,
    model_facts,
    price_table,
)
from app.ripgrep import list_files
from app.session_files import SessionFiles, open_files
from app.sessions.cleanup import BASELINE
from app.sessions.envelope import Envelope
from app.sessions.ownership import Ownership
from app.sessions.summary import title_from
from app.state.facts import Fact, RequestMeasured, SessionOpened
from app.state.model import Session

MOST_OUTPUT = 32_000
"""Output tokens asked for at most, thinking included."""


def choose_provider(
    model: str, here: Installation, settings: Settings, credentials: Credentials | None
) -> Provider:
    """The server of a model: a built-in one by its name, else the Messages API."""
    if model in {"rehearsal", REHEARSAL_MODEL}:
        return RehearsalProvider(here.clock)
    if model in {"local", LOCAL_MODEL}:
        return LocalProvider(here.clock)
    return AnthropicProvider(credentials, here.clock, here.base_url(settings))


@dataclass(slots=True)
class Runtime:
    """One open session with everything it owns."""

    conversation: Conversation
    caller: Caller
    runner: ToolRunner
    loop: AgentLoop
    compactor: Compactor
    shells: ShellTasks
    settings: Settings
    opened: SessionOpened
    ownership: Ownership | None
    rewinder: Rewinder
    tracker: FileTracker | None
    """The file history; None where file checkpoints are off."""
    small_model: str | None
    """The model of small background calls, None where there is none."""
    titler: Titler

    @property
    def gate(self) -> Gate:
        """What stands before the tools."""
        return self.runner.gate

    def take_settings(self, here: Installation, options: Options, settings: Settings) -> str:
        """Judge later calls by other settings; returns the mode, the person's own if they chose."""
        policy = session_policy(here, options, settings)
        current = self.gate.policy.mode
        mode = policy.mode if current == self.opened.session.mode else current
        self.gate.take_rules(policy, mode)
        self.runner.context.hidden = hidden_from_search(self.gate.policy)
        self.runner.context.sightings = self.gate.policy.sightings
        if settings.feedback.drafts == "off":
            self.withdraw_reports()
        return mode

    def withdraw_reports(self) -> None:
        """Offer the model no drafts of feedback any more."""
        self.runner.tools.pop(SEND_FEEDBACK, None)
        caller = self.loop.caller
        caller.tools = tuple(t for t in caller.tools if t["name"] != SEND_FEEDBACK)

    async def go_on_if_cut_off(self) -> None:
        """Go on with the last turn when an earlier process was cut off in it."""
        if self.conversation.was_resumed and can_go_on(self.conversation):
            await self.loop.go_on()

    async def close(self) -> StorageError | None:
        """End what runs in the background and release the transcript."""
        await self.compactor.close()
        await self.shells.close()
        if self.tracker is not None:
            await self.tracker.close()
        await leave(self.runner.context.memory)
        error = self.conversation.journal.close()
        if self.ownership is not None:
            self.ownership.release()
        return error


@dataclass(slots=True)
class Hooks:
    """What a session tells the one who opened it."""

    emit: Callable[[Fact], None]
    storage_changed: Callable[[StorageError | None], None]
    shell_changed: Callable[[ShellTask], None]
    save_rule: Callable[[str], None]
    tell: Tell
    ask: Asker | None = None
    """None where nobody can be asked."""
    can_ask: bool = False
    shows_partials: bool = True
    shows_blocks: bool = False
    """See `AgentLoop`: what has been shown is not asked for again."""
    feedback_queued: Queued = lambda _draft, _evicted: None
    """Called on the event loop when the model has queued a report."""


async def open_session(
    here: Installation,
    options: Options,
    loaded: Loaded,
    provider: Provider,
    session_id: str,
    hooks: Hooks,
) -> Runtime:
    """Open a session, new or from `options.resume`; the transcript is read in a thread.

    Raises `StorageError` when the transcript cannot be read.
    """
    settings = loaded.settings
    model = model_name(settings)
    files, opened = await asyncio.to_thread(_load, here, options, settings, model, session_id)
    conversation = Conversation(
        _envelope(here, files.session_id),
        files.journal,
        files.view,
        hooks.emit,
        hooks.storage_changed,
        was_resumed=bool(files.records),
    )
    shells = ShellTasks(hooks.shell_changed)
    policy = session_policy(here, options, settings)
    context = ToolContext(
        root=here.folder,
        clock=here.clock,
        scratch=here.places.project(here.folder) / files.session_id / "tool-results",
        background=shells,
        ask=hooks.ask,
        added_roots=options.added_folders,
        hidden=hidden_from_search(policy),
        sightings=policy.sightings,
    )
    context.memory = session_memory(here, settings, files.session_id)
    context.reports = report_queue(here, options, settings, files.session_id, hooks.feedback_queued)
    tools = offered_tools(
        options.tools, memory=context.memory is not None, feedback=context.reports is not None
    )
    briefing = briefing_of(here, context.memory)
    await briefing.refresh()
    tracker = _tracker(here, options, settings, files, conversation, hooks)
    context.files = tracker
    gate = Gate(
        policy,
        hooks.emit,
        cwd=lambda: context.cwd or context.root,
        can_ask=hooks.can_ask,
        save_rule=hooks.save_rule,
    )
    runner = ToolRunner(tools, context, gate, here.clock, hooks.emit)
    caller = make_caller(here, options, model, provider, tools, briefing.blocks)
    size = (
        await asyncio.to_thread(context_tokens, conversation.view, caller) if files.records else 0
    )
    opened = msgspec.structs.replace(
        opened,
        session=msgspec.structs.replace(
            opened.session,
            provider=provider.name,
            mode=gate.policy.mode,
            persisted=options.persist,
        ),
        context_tokens=size,
    )
    loop = AgentLoop(
        conversation,
        caller,
        runner,
        here.clock,
        hooks.emit,
        measure=meter(settings, hooks.emit, files.session_id),
        mode=lambda: gate.policy.mode,
        tell=hooks.tell,
        briefing=briefing,
        max_turns=options.max_turns or settings.max_turns,
        shows_partials=hooks.shows_partials,
        shows_blocks=hooks.shows_blocks,
    )
    roots = (here.root, here.folder, *options.added_folders)
    rewinder = Rewinder(conversation, tracker, roots, note_of(files.file))
    compactor = Compactor(
        conversation,
        lambda: loop.caller,
        runner,
        here.clock,
        hooks.emit,
        loop.measure,
        hooks.tell,
        settings.compact,
        rewinder,
        works_ahead=hooks.can_ask,
    )
    loop.compactor = compactor
    small_model = small_model_of(here, settings)
    return Runtime(
        conversation,
        caller,
        runner,
        loop,
        compactor,
        shells,
        settings,
        opened,
        files.ownership,
        rewinder,
        tracker,
        small_model,
        Titler(conversation, lambda: loop.caller, small_model, here.clock, loop.measure),
    )


def _tracker(
    here: Installation,
    options: Options,
    settings: Settings,
    files: SessionFiles,
    conversation: Conversation,
    hooks: Hooks,
) -> FileTracker | None:
    """The file history of the session; None where nothing is kept, or two would own it."""
    if not settings.checkpoints or not options.persist:
        return None
    store = store_of(files.file)
    baseline = here.places.project(here.folder) / BASELINE
    watch = FolderWatch(here.root, baseline, store, _watched)
    return FileTracker(conversation, store, here.clock, watch, hooks.tell, files.source)


def _watched(root: Path) -> list[bytes] | None:
    """The files of a project that commands may change: not ignored, or tracked by git anyway."""
    listed = list_files(root, MOST_FILES)
    return None if listed is None else [*{*listed, *tracked_files(root)}]


def make_caller(
    here: Installation,
    options: Options,
    model: str,
    provider: Provider,
    tools: tuple[Tool, ...],
    notes: tuple[Block, ...] = (),
) -> Caller:
    """How a session's model is called; one that takes no tools gets none and a short prompt."""
    offered = tools if provider.supports_tools else ()
    return Caller(
        provider,
        model,
        min(model_facts(model).max_output, MOST_OUTPUT),
        system_prompt(_surroundings(here, options), with_tools=provider.supports_tools),
        tuple(api_form(tool) for tool in offered),
        notes if provider.supports_tools else (),
    )


def meter(settings: Settings, emit: Callable[[Fact], None], session_id: str) -> Measure:
    """Turns the usage of a finished call of a session into its fact, with its price."""
    table = price_table(settings.prices)

    def measure(
        model: str, usage: Usage, began: datetime, purpose: Purpose = "turn"
    ) -> float | None:
        cost = cost_usd(model, usage, began, table)
        emit(RequestMeasured(usage, cost, began, purpose, model, session_id))
        return cost

    return measure


def session_policy(here: Installation, options: Options, settings: Settings) -> Policy:
    """The rules a session starts with; malformed ones are left out (`rule_problems` names them)."""
    texts = settings.permissions
    return Policy(
        root=here.folder,
        home=here.home,
        mode=Mode(texts.mode),
        rules=Rules(_readable(texts.allow), _readable(texts.ask), _readable(texts.deny)),
        added_roots=options.added_folders,
        memory_writes=settings.memory.writes,
    )


def _readable(texts: tuple[str, ...]) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for text in texts:
        with contextlib.suppress(RuleError):
            rules.append(parse_rule(text))
    return tuple(rules)


def rule_problems(settings: Settings) -> list[str]:
    """A sentence for each rule of the settings that cannot be read."""
    texts = settings.permissions
    problems: list[str] = []
    for text in (*texts.allow, *texts.ask, *texts.deny):
        try:
            parse_rule(text)
        except RuleError as error:
            problems.append(str(error))
    return problems


def _envelope(here: Installation, session_id: str) -> Envelope:
    return Envelope(
        session_id,
        here.clock,
        cwd=lambda: str(here.folder),
        branch=lambda: git_branch(here.folder),
    )


def _surroundings(here: Installation, options: Options) -> Surroundings:
    return Surroundings(
        folder=str(here.folder),
        date=here.clock.now().date().isoformat(),
        is_git=git_root(here.folder) is not None,
        appended=options.appended_prompt,
    )


def _load(
    here: Installation, options: Options, settings: Settings, model: str, session_id: str
) -> tuple[SessionFiles, SessionOpened]:
    files = open_files(here, options, session_id)
    usage, cost = spent(files.view.graph, settings)
    session = Session(
        session_id=files.session_id,
        folder=str(here.folder),
        root=str(here.root),
        view=files.view,
        title=title_from(files.records),
        model=model,
        git_branch=git_branch(here.folder),
        warnings=files.warnings,
    )
    return files, SessionOpened(session, usage, cost, model_facts(model).context)
