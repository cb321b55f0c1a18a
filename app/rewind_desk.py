"""Intents about going back: what it would do, doing it, undoing it, branches and forks.

Everything here changes either the branch in use, or files, or both; what it did comes back as
facts and as a sentence.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from app.agent.rewinder import FilesPart, RewindMode, Rewound, leaf_before
from app.checkpoints.apply import FAILED
from app.checkpoints.line_counts import count_lines, hunks_of
from app.checkpoints.plan import Plan, RewindError, Step
from app.errors import ReverieError
from app.plain_text import cut, plain_line
from app.sessions.branches import prompts_of
from app.sessions.graph import MessageGraph
from app.sessions.history import logical_chain
from app.sessions.kept import walk_from
from app.sessions.prompts import blocks_of, content_of, typed_text
from app.state.facts import ContextSized, Fact
from app.state.model import Severity

if TYPE_CHECKING:
    from app.assembly import Runtime

BUSY: Final = "The turn is still going on; this works when it is over (esc stops it)."
DECIDE: Final = "Choose the rewind in the tree (f3) and press r to decide about these files."
LONGEST: Final = 40
"""Characters of a command that are shown."""
_RISKY = re.compile(
    r"\b(git\s+push|curl|wget|ssh|scp|rsync|psql|mysql|sqlite3|mongosh|redis-cli|docker|kubectl|"
    r"terraform|aws|gcloud|gh|npm\s+publish|twine)\b"
)
"""Commands whose effects are outside of files as a rule; only to name them."""


class StepView(Struct, frozen=True):
    """One file of a plan as a person sees it."""

    step: Step
    name: str
    added: int
    removed: int


class Outlook(Struct, frozen=True):
    """What going back to a node would do."""

    uuid: str
    text: str
    timestamp: str | None
    undoes: bool
    """Whether the node is a rewind: going back to it undoes it."""
    on_branch: bool
    """Whether it is on the branch in use, and later requests carry it."""
    prompts: int
    """Prompts of the branch in use that would leave it."""
    files: tuple[StepView, ...] = ()
    plan: Plan | None = None
    why_not: str = ""
    """Why files cannot go back."""
    links: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    """Commands of which it is not known what they changed."""
    commands: int = 0
    """Shell commands that ran since, on any branch."""
    risky: tuple[str, ...] = ()


class RewindDesk:
    """Going back in the session on screen."""

    def __init__(
        self,
        emit: Callable[[Fact], None],
        notice: Callable[[str, Severity], None],
        runtime: Callable[[], Runtime],
        is_busy: Callable[[], bool],
        begin: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        folder: Path,
    ) -> None:
        """`runtime` is what the session on screen owns, `begin` runs a coroutine as its turn, so
        that nothing else is said meanwhile; names are shown relative to `folder`.
        """
        self._emit = emit
        self._notice = notice
        self._runtime = runtime
        self._is_busy = is_busy
        self._begin = begin
        self._folder = folder

    def restorable(self) -> frozenset[str] | None:
        """The prompts whose files can go back; None where no file was ever tracked."""
        return self._runtime().rewinder.restorable() or None

    def shell_files(self) -> dict[str, int]:
        """By prompt the number of files that shell commands changed in its turn."""
        return self._runtime().rewinder.shell_files()

    def files_at(self, session_id: str, uuid: str) -> dict[str, bytes | None] | None:
        """What the files of the session on screen held right after a record, by the names shown;
        None where that is not known. Blocking.
        """
        runtime = self._runtime()
        if session_id != runtime.conversation.session_id:
            return None
        found = runtime.rewinder.files_after(uuid)
        return None if found is None else {self._name(p): data for p, data in found.items()}

    async def outlook(self, uuid: str) -> Outlook | None:
        """What going back to a node of the session on screen would do; None for an unknown one."""
        runtime = self._runtime()
        view = runtime.conversation.view
        position = view.graph.position.get(uuid)
        if position is None:
            return None
        plan: Plan | None = None
        why_not = ""
        try:
            plan = await runtime.rewinder.plan(uuid)
        except ReverieError as error:
            why_not = error.happened
        return await asyncio.to_thread(self._look, runtime, position, plan, why_not)

    def _look(self, runtime: Runtime, position: int, plan: Plan | None, why_not: str) -> Outlook:
        view = runtime.conversation.view
        graph, record = view.graph, view.graph.records[position]
        is_rewind = record.type == "system"
        commands = _commands_since(graph, position)
        store = runtime.rewinder.store
        steps = () if plan is None or store is None else plan.steps
        lines = [(0, 0) if store is None else count_lines([step], store) for step in steps]
        return Outlook(
            uuid=record.uuid or "",
            text=plain_line(
                str(record.data.get("content")) if is_rewind else typed_text(record.data)
            ),
            timestamp=record.timestamp,
            undoes=is_rewind,
            on_branch=position in logical_chain(graph, walk_from(graph, view.leaf)),
            prompts=_leaving(graph, view.leaf, leaf_before(graph, position)),
            files=tuple(
                StepView(step, self._name(step.path), *counts)
                for step, counts in zip(steps, lines, strict=True)
            ),
            plan=plan,
            why_not=why_not,
            untracked=tuple(
                cut(plain_line(command), LONGEST) for command in (plan.untracked if plan else ())
            ),
            links=tuple(self._name(path) for path in (plan.links if plan else ())),
            commands=len(commands),
            risky=tuple(dict.fromkeys(m[0] for c in commands if (m := _RISKY.search(c)))),
        )

    def _name(self, path: str) -> str:
        place = Path(path)
        inside = place.is_relative_to(self._folder)
        return plain_line(str(place.relative_to(self._folder) if inside else place))

    async def diff(self, step: Step) -> list[dict[str, Any]] | None:
        """The hunks of what a step would change; None where it is no text."""
        store = self._runtime().rewinder.store
        return None if store is None else await asyncio.to_thread(hunks_of, step, store)

    async def rewind(
        self,
        outlook: Outlook,
        mode: RewindMode,
        *,
        with_shell: bool = False,
        force: bool = False,
        without: frozenset[str] = frozenset(),
    ) -> str | None:
        """Go back as it was shown, leaving the paths in `without` as they are.

        Returns the text of the prompt that is said anew, None when nothing was done.
        """
        if self._is_busy():
            self._notice(BUSY, "warning")
            return None
        if outlook.plan is None and mode in ("files", "both"):
            self._notice(f"{outlook.why_not} Nothing was changed.", "warning")
            return None
        runtime = self._runtime()
        files = None
        if outlook.plan is not None and mode in ("files", "both"):
            files = FilesPart(outlook.plan, with_shell, force, without)
        done = await self._as_turn(runtime.rewinder.rewind(outlook.uuid, mode, files))
        if isinstance(done, ReverieError):
            self._notice(str(done), "error")
            return None
        self._say(done)
        self._emit(ContextSized(runtime.compactor.size()))
        graph = runtime.conversation.view.graph
        record = graph.records[graph.position[outlook.uuid]]
        return "" if outlook.undoes or mode == "files" else typed_text(record.data)

    async def undo(self) -> None:
        """Take the last rewind back."""
        if self._is_busy():
            self._notice(BUSY, "warning")
            return
        runtime = self._runtime()
        done = await self._as_turn(runtime.rewinder.undo())
        if isinstance(done, ReverieError):
            is_failed = done.happened.startswith(FAILED)
            more = f" {DECIDE}" if is_failed else ""
            self._notice(f"{done}{more}", "error" if is_failed else "info")
            return
        self._say(done, undoes=True)
        self._emit(ContextSized(runtime.compactor.size()))

    async def _as_turn(self, work: Coroutine[Any, Any, Rewound]) -> Rewound | ReverieError:
        """Carry a rewind out as the turn of the session: what is sent meanwhile is queued."""
        ended: list[Rewound | ReverieError] = []

        async def carry_out() -> None:
            try:
                ended.append(await work)
            except ReverieError as error:
                ended.append(error)

        await asyncio.wait([self._begin(carry_out())])
        return ended[0] if ended else RewindError("The rewind was broken off.")

    def _say(self, done: Rewound, *, undoes: bool = False) -> None:
        if not done.uuid:
            self._notice("Everything is as it was then already; nothing was changed.", "info")
            return
        count = f"{done.steps} file{'' if done.steps == 1 else 's'}"
        what = {
            "conversation": "the conversation",
            "summary": "the conversation",
            "files": count,
            "both": f"the conversation and {count}",
        }[done.mode]
        if undoes:
            self._notice(f"Undone: {what} as before the rewind. The tree (f3) has both.", "info")
        else:
            self._notice(f"Went back: {what}. u in the tree (f3) undoes it.", "info")
        for name in done.left:
            words = f"{name} was written to in that very moment; these bytes are kept there."
            self._notice(words, "warning")

    def switch(self, leaf: int | None) -> None:
        """Go on with another branch of the session on screen; files stay as they are."""
        if self._is_busy():
            self._notice(BUSY, "warning")
            return
        runtime = self._runtime()
        conversation = runtime.conversation
        if leaf == conversation.view.leaf:
            return
        uuid = None if leaf is None else conversation.view.graph.records[leaf].uuid
        conversation.append(conversation.choose(uuid))
        conversation.move(leaf)
        conversation.sync()
        self._emit(ContextSized(runtime.compactor.size()))
        self._notice("Another branch is in use now. Files are as they were.", "info")


def _leaving(graph: MessageGraph, leaf: int | None, new_leaf: int | None) -> int:
    prompts = set(prompts_of(graph))
    stay = set(graph.walk(new_leaf))
    return sum(1 for here in graph.walk(leaf) if here in prompts and here not in stay)


def _commands_since(graph: MessageGraph, position: int) -> list[str]:
    """The shell commands in the file behind a record, whatever the branch."""
    found: list[str] = []
    for record in graph.records[position:]:
        if not record.tool_uses:
            continue
        for block in blocks_of(content_of(record.data)):
            given = block.get("input")
            if block.get("name") == "Bash" and isinstance(given, dict):
                found.append(str(given.get("command") or ""))  # pyright: ignore[reportUnknownMemberType,reportUnknownArgumentType] - JSON
    return found
