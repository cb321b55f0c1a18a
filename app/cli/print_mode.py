"""Print mode: turns without a person at the screen (spec/cli.md)."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from app.agent.loop import TurnResult
from app.assembly import Hooks, Runtime, choose_provider, open_session, rule_problems
from app.background.feedback.drafts import MOST_DRAFTS, Draft
from app.background.ledger import Ledger
from app.background.post_turn import summarise_turn
from app.cli.aside import post_turn_event, suggestion_event
from app.cli.events import Ending, init_event, result_event
from app.cli.feedback.removed import tell_removed
from app.cli.opening import options_from
from app.cli.output import Output, note
from app.cli.parser import Flags
from app.cli.prompts import Prompt, json_prompts, text_prompt
from app.cli.reporter import Reporter
from app.cli.slash import (
    PRINT_COMMANDS,
    answer,
    command_in,
    compact,
    recap_text,
    uncompact,
)
from app.config import Loaded
from app.credentials import Credentials
from app.errors import ReverieError
from app.git import git_root
from app.installation import Installation, Options, model_name
from app.models.client import WAYS_IN
from app.models.errors import NoCredentials
from app.models.provider import Provider
from app.models.usage import LOCAL_MODEL, REHEARSAL_MODEL
from app.sessions.envelope import new_uuid
from app.state.facts import TurnSummarised
from app.trust import is_trusted

SUGGESTION_WAIT = 20.0
"""Seconds that the end of a run waits for a suggestion."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_print(here: Installation, flags: Flags) -> int:
    """Carry out the prompts of one `reverie --print`; returns the exit code.

    Raises `UsageError` and other `ReverieError`s for what prevents the first turn.
    """
    options = options_from(flags, here)
    first = text_prompt(flags.prompt) if flags.input_format == "text" else None
    loaded = here.settings(options)
    for sentence in _warnings(here, loaded):
        note(sentence)
    run = _Run(here, flags, options, loaded)
    return asyncio.run(run.carry_out(_one(first) if first is not None else json_prompts()))


def _warnings(here: Installation, loaded: Loaded) -> list[str]:
    sentences = [f"A setting does not count. {problem}" for problem in loaded.problems]
    sentences += rule_problems(loaded.settings)
    root = git_root(here.folder) or here.folder
    if (root / ".reverie").is_dir() and not is_trusted(here.places, here.root):
        sentences.append(
            f"The settings in {root / '.reverie'} do not count: the folder is not trusted yet"
            " (open the app in it once)."
        )
    return sentences


async def _one(prompt: Prompt) -> AsyncGenerator[Prompt, None]:
    yield prompt


class _Run:
    """One process in print mode: a session, its turns, and what may interrupt them."""

    def __init__(self, here: Installation, flags: Flags, options: Options, loaded: Loaded) -> None:
        self.here = here
        self.options = options
        self.loaded = loaded
        self.output = Output(flags.output_format, verbose=flags.verbose, on_broken=self._stop_turn)
        self.signal: signal.Signals | None = None
        self.session_id = (
            options.resume.stem if options.resume else options.session_id or new_uuid()
        )
        self._ledger = Ledger(here.places.data)
        self.reporter = Reporter(self.output, self.session_id, here.clock, self._ledger)
        self._task: asyncio.Task[int] | None = None
        self._turn_task: asyncio.Task[TurnResult] | None = None
        self._suggesting: asyncio.Task[None] | None = None

    async def carry_out(self, prompts: AsyncGenerator[Prompt, None]) -> int:
        """Open the session, run the turns, and close it on every way out."""
        self._task = cast("asyncio.Task[int]", asyncio.current_task())
        self._catch_signals()
        try:
            code = await self._session(prompts)
        except asyncio.CancelledError:
            if self.signal is None and self.output.broken is None:
                raise
            code = 128 + self.signal if self.signal is not None else 0
        broken = self.output.broken
        if broken is not None and not isinstance(broken, BrokenPipeError):
            note(f"Stdout could not be written: {broken.strerror or broken}.")
            return 1
        return code

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)

    def _signalled(self, number: signal.Signals) -> None:
        """Interrupt what runs. A second signal has its usual effect, should tidying up hang."""
        self.signal = number
        loop = asyncio.get_running_loop()
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        if self._task is not None:
            self._task.cancel()

    def _stop_turn(self) -> None:
        """End a turn that nobody reads any more."""
        if self._turn_task is not None:
            self._turn_task.cancel()

    async def _session(self, prompts: AsyncGenerator[Prompt, None]) -> int:
        credentials = await self._credentials()
        provider = choose_provider(
            model_name(self.loaded.settings), self.here, self.loaded.settings, credentials
        )
        try:
            runtime = await open_session(
                self.here, self.options, self.loaded, provider, self.session_id, self._hooks()
            )
            try:
                return await self._turns(runtime, prompts, provider, credentials)
            finally:
                error = await runtime.close()
                if error is not None:
                    self.reporter.storage_changed(error)
        finally:
            await provider.close()
            self._ledger.close()

    async def _credentials(self) -> Credentials | None:
        if model_name(self.loaded.settings) in {LOCAL_MODEL, REHEARSAL_MODEL}:
            return None
        return await asyncio.to_thread(self.here.credentials, self.loaded.settings)

    def _hooks(self) -> Hooks:
        return Hooks(
            emit=self.reporter.emit,
            storage_changed=self.reporter.storage_changed,
            shell_changed=lambda _shell: None,
            save_rule=lambda _rule: None,
            tell=lambda sentence, _severity: note(sentence),
            feedback_queued=self._feedback_queued,
            shows_partials=False,
            shows_blocks=self.output.form == "stream-json",
        )

    def _feedback_queued(self, _draft: Draft, evicted: tuple[Draft, ...]) -> None:
        why = f"only {MOST_DRAFTS} are kept"
        tell_removed(self.here.places.data / "feedback", evicted, why)

    async def _turns(
        self,
        runtime: Runtime,
        prompts: AsyncGenerator[Prompt, None],
        provider: Provider,
        credentials: Credentials | None,
    ) -> int:
        opened = runtime.opened
        self.reporter.begin_session(opened)
        for warning in opened.session.warnings:
            note(f"About this session: {warning}.")
        tools = tuple(runtime.runner.tools) if provider.supports_tools else ()
        source = credentials.source if credentials is not None else "none"
        commands = tuple(command.name for command in PRINT_COMMANDS)
        self.output.event(init_event(opened.session, tools, commands, source))
        can_ask_model = provider.name != "anthropic" or credentials is not None
        failed = False
        try:
            async with aclosing(prompts):
                async for prompt in prompts:
                    await self._stop_suggesting()
                    if self.output.broken is not None:
                        break
                    command = command_in(prompt)
                    needs_model = command is None or command[0] in {"compact", "recap"}
                    if needs_model and not can_ask_model:
                        raise NoCredentials("There is no key for Claude.", todo=WAYS_IN)
                    if command is not None:
                        failed |= self._finish(await self._answered(runtime, *command))
                    else:
                        ending = await self._turn(runtime, prompt)
                        self._tell_state(runtime)
                        failed |= self._finish(ending)
                        self._suggesting = asyncio.create_task(self._suggest(runtime))
        except ReverieError as error:
            self.output.result(result_event(self._ending("error_during_execution", str(error))))
            raise
        finally:
            if self._task is not None and self._task.cancelling():
                await self._stop_suggesting()
            elif self._suggesting is not None:
                await asyncio.wait([self._suggesting], timeout=SUGGESTION_WAIT)
                await self._stop_suggesting()
        return int(failed)

    async def _turn(self, runtime: Runtime, prompt: Prompt) -> Ending:
        self.reporter.begin_turn()
        denied_before = len(runtime.runner.denials)
        try:
            self._turn_task = asyncio.create_task(runtime.loop.run_turn(prompt, source="sdk"))
            result = await self._turn_task
        except asyncio.CancelledError:
            denials = tuple(runtime.runner.denials[denied_before:])
            ending = self._ending("error_during_execution", "The turn was interrupted.", denials)
            self._finish(ending)
            raise
        denials = tuple(runtime.runner.denials[denied_before:])
        if result.outcome == "completed":
            if result.detail:
                note(result.detail)
            return self._ending("success", result.text, denials)
        return self._ending(_subtype(result), result.detail, denials)

    async def _answered(self, runtime: Runtime, command: str, argument: str) -> Ending:
        reporter = self.reporter
        reporter.begin_turn()
        try:
            match command:
                case "compact":
                    runtime.loop.answer_leftovers()
                    text = await compact(runtime.compactor, argument)
                case "uncompact":
                    text = uncompact(runtime.compactor)
                case "recap":
                    text = await recap_text(runtime.loop)
                case _:
                    text = answer(command, reporter.session_usage, reporter.session_cost)
        except ReverieError as error:
            return self._ending("error_during_execution", str(error))
        except asyncio.CancelledError:
            self._finish(self._ending("error_during_execution", "The command was interrupted."))
            raise
        return self._ending("success", text)

    def _tell_state(self, runtime: Runtime) -> None:
        """Say where the turn has left things, what was said before first taken back."""
        if self.output.form != "stream-json":
            return
        state = self.reporter.state
        running = sum(task.status == "running" for task in runtime.shells.tasks)
        summary = summarise_turn(state.session.view, state.live.last, running_tasks=running)
        if summary is None:
            return
        session_id = state.session.session_id
        if state.summary is not None:
            self.output.event(post_turn_event(None, session_id))
        self.output.event(post_turn_event(summary, session_id))
        self.reporter.emit(TurnSummarised(summary))

    async def _stop_suggesting(self) -> None:
        """The next prompt is there: nobody needs a suggestion any more."""
        task, self._suggesting = self._suggesting, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _suggest(self, runtime: Runtime) -> None:
        if self.output.form != "stream-json" or self.output.broken is not None:
            return
        reporter, environment = self.reporter, self.here.environment
        event = await suggestion_event(
            runtime, reporter.state, self.loaded, environment, reporter.turn_tokens, self._ledger
        )
        if event is not None:
            self.output.event(event)

    def _ending(
        self, subtype: str, result: str, denials: tuple[dict[str, object], ...] = ()
    ) -> Ending:
        return self.reporter.ending(subtype, result, denials)

    def _finish(self, ending: Ending) -> bool:
        """Tell how a turn ended; returns whether it failed."""
        self.output.result(result_event(ending))
        if ending.is_error and self.output.broken is None:
            note(ending.result)
        return ending.is_error


def _subtype(result: TurnResult) -> str:
    return "error_max_turns" if result.hit_max_turns else "error_during_execution"
