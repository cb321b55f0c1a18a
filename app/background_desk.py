"""Intents about background work, and what the app does by itself when something has happened.

Hears every fact after the store has: no widget takes part in what runs in the background.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from app.agent.side_call import ask
from app.background import post_turn_model
from app.background.away_watch import AwayWatch
from app.background.conversation_look import look
from app.background.frame import VARIABLES, Frame
from app.background.post_turn import summarise_turn
from app.background.recap import ONCE, Recap, recap
from app.background.registry import Job, Stale, TaskRegistry
from app.background.scene import Scene
from app.background.suggestion import suggest
from app.config import Settings, value_of
from app.desk import shell_task
from app.dream_desk import DreamDesk
from app.errors import ReverieError
from app.feedback_desk import FeedbackDesk
from app.installation import Installation
from app.plain_text import cut
from app.spawner import Work
from app.state import facts as f
from app.state.background import TurnSummary
from app.state.model import Severity, State

if TYPE_CHECKING:
    from app.agent.tools.shell_background import ShellTask
    from app.assembly import Runtime

_SWITCHED: Final = {"on": "off", "off": "on"}
LONGEST_PROMPT = 60
"""Characters of a prompt by which a turn is named."""


class BackgroundDesk:
    """The background work of one app."""

    def __init__(
        self,
        here: Installation,
        settings: Callable[[], Settings],
        state: Callable[[], State],
        emit: Callable[[f.Fact], None],
        notice: Callable[[str, Severity], None],
        runtime: Callable[[], Runtime],
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        fault: Callable[[BaseException], None],
        keep_setting: Callable[[str, Any], None],
    ) -> None:
        """`spawn` runs a coroutine that ends with the app; `fault` hears of programming errors."""
        self._scene = Scene(
            here, settings, state, emit, lambda: runtime().loop, lambda: runtime().small_model
        )
        self._registry = TaskRegistry(emit, here.clock, fault)
        self._frame = Frame(self._scene, self._registry, notice)
        self._away = AwayWatch(self._frame, spawn)
        self.dreams = DreamDesk(self._frame, notice, spawn)
        self.feedback = FeedbackDesk(self._frame, notice, spawn)
        self._frame.others = lambda: (self.dreams.mechanism, self.feedback.mechanism)
        self._spawn = spawn
        self._runtime = runtime
        self._emit = emit
        self._notice = notice
        self._keep_setting = keep_setting
        self._suggesting = self._summarising = self._recapping = ""
        self._has_asked = False
        """Whether a model was asked in the turn that runs, or ran last."""

    @property
    def _state(self) -> State:
        return self._scene.state()

    # What has happened

    def heard(self, fact: f.Fact) -> None:
        """A fact was folded into the state."""
        match fact:
            case f.RequestMeasured():
                self._frame.measured(fact)
            case f.SessionOpened():
                self._has_asked = False
                self._runtime().compactor.start_ahead = self._start_ahead
                self._away.begin_anew()
                self._emit(f.TurnSummarised(self._summary()))
                self.dreams.session_opened()
                self.feedback.look_soon()
                self.look()
            case f.HeadMoved():
                self._abort()
                self._away.begin_anew()
                self._emit(f.TurnSummarised(self._summary()))
            case f.TurnStarted():
                self._abort()
                self._has_asked = False
            case f.RequestSent() if not self._has_asked:
                self._has_asked, self._frame.turn_tokens = True, 0
            case f.TurnEnded() if self._has_asked:  # no shell line, no compaction
                asyncio.get_running_loop().call_soon(self._turn_over)
            case f.PermissionAsked() | f.QuestionAsked() | f.PermissionSettled():
                self._waiting_changed()
            case f.QuestionSettled():
                self._waiting_changed()
            case f.ModelChosen() | f.AccessChanged():
                self._frame.clear_troubles()
            case _:
                pass

    def _waiting_changed(self) -> None:
        """What waits for the person's word blocks at once, without any summing up."""
        permission = self._state.permission
        if permission.requests:
            words = f"permission: {permission.requests[0].title}"
        elif permission.questions:
            words = f"asks: {permission.questions[0].questions[0].text}"
        else:
            self._emit(f.TurnSummarised(None))
            return
        detail = cut(" ".join(words.split()), LONGEST_PROMPT)
        self._emit(f.TurnSummarised(TurnSummary("blocked", detail, needs_action=True)))

    def _turn_over(self) -> None:
        if self._state.live.turn_id is not None:
            return  # the next one has begun already
        before, summary = self._state.summary, self._summary()
        if summary is not None:
            self._emit(f.TurnSummarised(None))
            self._emit(f.TurnSummarised(summary))
        elif before is not None and before.category == "blocked":
            self._emit(f.TurnSummarised(None))
        if self._scene.settings().post_turn.engine == "llm":
            self._summarise_by_model()
        prompt = cut(" ".join(look(self._state.session.view).last_prompt.split()), LONGEST_PROMPT)
        self._away.turn_over(prompt, summary)
        self._title()
        self._suggest()
        self.dreams.turn_over()
        self.look()

    def _summary(self) -> TurnSummary | None:
        state = self._state
        running = sum(1 for task in state.tasks.values() if task.status == "running")
        return summarise_turn(state.session.view, state.live.last, running_tasks=running)

    def _abort(self) -> None:
        """Whatever was made for the conversation as it was."""
        self._away.abort()
        for job in self._jobs:
            self._registry.kill(job)

    @property
    def _jobs(self) -> tuple[str, ...]:
        """The jobs that are about the conversation on screen."""
        return self._away.job, self._suggesting, self._summarising, self._recapping

    async def leave_session(self) -> None:
        """Another session comes on screen: nothing made for this one may arrive later."""
        self._abort()
        for job in self._jobs:
            await self._registry.ended(job)

    async def close(self) -> None:
        """End everything."""
        self._away.abort()
        await self._registry.close()
        self.dreams.close()
        self._frame.close()

    # By itself

    def _title(self) -> None:
        last, runtime = self._state.live.last, self._runtime()
        if last is None or last.outcome != "completed" or not runtime.titler.wants_to:
            return
        if self._frame.held_by("title") is None:

            async def work(_job: Job) -> str:
                return await runtime.titler.name_it() or "the model gave none"

            self._frame.run("title", "a name for the session", work)

    def _start_ahead(self, work: Work) -> asyncio.Task[None] | None:
        if self._frame.held_by("compact_ahead") is not None:
            return None

        async def summarise(_job: Job) -> str:
            await work()
            return "ready for when it is needed"

        job = self._frame.run("compact_ahead", "sums the conversation up ahead", summarise)
        return self._registry.task(job)

    def _summarise_by_model(self) -> None:
        small = self._scene.small_model()
        request = post_turn_model.request_for(self._state.session.view, small or "")
        if small is None or request is None or self._frame.held_by("post_turn") is not None:
            return

        async def work(job: Job) -> str:
            scene = self._scene
            version, loop = scene.version, scene.loop()
            problem = ""
            asked = request
            for _ in range(2):
                reply = await ask(asked, loop.caller, "post_turn", loop.clock, loop.measure, ONCE)
                try:
                    summary = post_turn_model.parse(reply)
                except ValueError as error:
                    problem = str(error)
                    job.say(f"the answer was not usable: {problem}")
                    asked = post_turn_model.corrected(asked, reply, problem)
                    continue
                if scene.version != version:
                    raise Stale("the conversation went on meanwhile")
                self._emit(f.TurnSummarised(summary))
                return f"{summary.category}: {summary.detail}"
            raise Stale(f"no usable answer in two tries; {problem}")

        self._summarising = self._frame.run("post_turn", "where the turn has left things", work)

    def _suggest(self) -> None:
        if self._frame.held_by("suggestion") is not None:
            return
        prompt = self._frame.seen("suggestion").look.last_prompt

        async def work(_job: Job) -> str:
            scene = self._scene
            version = scene.version
            text, reason = await suggest(scene.loop(), prompt)
            if scene.version != version or self._state.suggestion.has_draft:
                raise Stale("the conversation went on meanwhile")
            if reason:
                return f"not shown: {reason}"
            self._emit(f.SuggestionOffered(text))
            return f"“{text}”"

        self._suggesting = self._frame.run("suggestion", "what you may want to say next", work)

    # Intents

    def look(self) -> None:
        """Find out anew what holds each mechanism back, and what was spent."""
        self._frame.count()
        self._frame.show()
        self._spawn(self.dreams.look())

    def focus(self, *, is_here: bool) -> None:
        """The terminal got the focus, or lost it."""
        self._away.focus(is_here=is_here)

    def pressed(self) -> None:
        """A key was pressed."""
        self._away.pressed()

    def drafted(self, *, has_draft: bool) -> None:
        """Something stands in the prompt, or nothing does any more."""
        if has_draft == self._state.suggestion.has_draft:
            return
        self._emit(f.DraftChanged(has_draft))
        if has_draft:
            self.drop_suggestion()
        self._frame.show()

    def drop_suggestion(self) -> None:
        """The person does not want it, or has taken it; one under way is stopped."""
        self._registry.kill(self._suggesting)
        self._emit(f.SuggestionDropped())

    async def recap(self) -> Recap:
        """Where the conversation stands, for the person who asks; a new turn or `esc` stops it."""
        if self._registry.is_running(self._recapping):
            return Recap("aborted", "A recap is being made already.")
        answer: list[Recap] = []

        async def work(_job: Job) -> str:
            answer.append(await recap(self._runtime().loop))
            if answer[0].status != "ok":
                raise ReverieError(answer[0].text)
            return answer[0].text

        self._recapping = self._frame.run("recap", "where things stand", work)
        await self._registry.ended(self._recapping)
        return answer[0] if answer else Recap("aborted", "The recap was stopped.")

    def stop_recap(self) -> bool:
        """Stop the recap that the person has asked for; False when none is being made."""
        running = self._registry.is_running(self._recapping)
        self._registry.kill(self._recapping)
        return running

    def kill(self, task_id: str) -> None:
        """End a background job at once."""
        task = self._state.tasks.get(task_id)
        if task is not None and task.kind == "shell":
            self._runtime().shells.kill(task_id)
        else:
            self._registry.kill(task_id)

    def shell_changed(self, shell: ShellTask) -> None:
        """A command that the model sent to the background began, went on or ended."""
        clock = self._scene.clock
        before = self._state.tasks.get(shell.id)
        task = shell_task(shell, before, clock.monotonic(), clock.now().timestamp())
        self._emit(f.TaskChanged(task))

    def turn_off_recaps(self) -> None:
        """Make no recap any more when the person is away."""
        setting = "away_summary.enabled"
        if self._is_free(setting) and self._scene.settings().away_summary.enabled:
            self.switch(setting)
            self._notice("No recaps after being away from now on; f2 turns them on again.", "info")

    def switch(self, setting: str) -> None:
        """Switch a mechanism on or off, for good."""
        if self._is_free(setting):
            value = value_of(self._scene.settings(), setting)
            self._keep_setting(setting, _SWITCHED.get(value, not value))
            if self._scene.settings().feedback.drafts == "off":
                self._runtime().withdraw_reports()
            self.look()

    def _is_free(self, setting: str) -> bool:
        """Whether no variable of the environment decides instead; the person is told of one."""
        variable = VARIABLES.get(setting, "")
        if not variable or not self._scene.here.environment.get(variable):
            return True
        self._notice(f"{variable} is set; it beats the switch.", "warning")
        return False
