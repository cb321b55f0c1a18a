"""Goes back: the conversation, the files, or both, and back again (spec/sessions.md, Rewind).

A rewind is written down as a node of the tree that says where the conversation was before, with
the changes it made to files. So it can be taken back like any other change.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, cast

from msgspec import structs

from app.agent.conversation import Conversation
from app.agent.file_records import lefts_of
from app.agent.file_tracker import FileTracker
from app.checkpoints.apply import FAILED, Applied, carry_out, failure
from app.checkpoints.blobs import BlobStore
from app.checkpoints.history import Change
from app.checkpoints.line_counts import count_lines
from app.checkpoints.plan import NOT_ENABLED, Plan, RewindError, Selection, select
from app.checkpoints.planning import make_plan, undo_plan
from app.checkpoints.states import open_file
from app.errors import StorageError
from app.plain_text import cut, plain_line
from app.sessions.graph import REWIND, MessageGraph
from app.sessions.prompts import typed_text, user_kind
from app.sessions.records import JsonObject, Record

RewindMode: TypeAlias = Literal["conversation", "files", "both", "summary"]
NOTHING_TO_UNDO = "There is no rewind that could be undone."
WENT_ON = (
    "The conversation has gone on since the last rewind. Choose the rewind in the tree (f3) and "
    "press r to go back to before it all the same."
)
LONGEST = 60


@dataclass(frozen=True, slots=True)
class FilesPart:
    """The part of a rewind that is about files."""

    plan: Plan
    with_shell: bool = False
    force: bool = False
    without: frozenset[str] = frozenset()
    """Paths that are left as they are."""

    @property
    def selection(self) -> Selection:
        """What would be carried out; it looks at the disk."""
        plan = structs.replace(
            self.plan,
            steps=tuple(step for step in self.plan.steps if step.path not in self.without),
        )
        return select(plan, with_shell=self.with_shell, force=self.force)


@dataclass(frozen=True, slots=True)
class Rewound:
    """A rewind that was done."""

    uuid: str
    """Names it: going back to it undoes it. Empty where everything was so already."""
    mode: RewindMode
    steps: int = 0
    insertions: int = 0
    deletions: int = 0
    left: tuple[str, ...] = ()
    """Names under which bytes are left that somebody wrote in that very moment."""


class Rewinder:
    """Rewinds of one open session. Makes no model request."""

    def __init__(
        self,
        conversation: Conversation,
        tracker: FileTracker | None,
        roots: Sequence[Path],
        note: Path,
    ) -> None:
        """`tracker` is None where file checkpoints are off; `roots` are the project's folders."""
        self._conversation = conversation
        self._tracker = tracker
        self._roots = tuple(roots)
        self._note = note

    async def plan(self, message: str) -> Plan:
        """What going back to this prompt, or to before this rewind, would do to files.

        Raises `RewindError` when that is not known.
        """
        tracker = self._need_tracker()
        await tracker.fetch()
        return await asyncio.to_thread(self._plan, tracker, message)

    def _plan(self, tracker: FileTracker, message: str) -> Plan:
        history = tracker.history
        is_foreign = any(change.by == "unknown" for change in history.changes)
        lefts = lefts_of(self._conversation.view.graph) if is_foreign else {}
        return make_plan(history, tracker.store, message, self._roots, lefts)

    def restorable(self) -> frozenset[str]:
        """The prompts and rewinds whose files can be put back."""
        return frozenset() if self._tracker is None else self._tracker.history.restorable()

    def shell_files(self) -> dict[str, int]:
        """By prompt the number of files that shell commands changed in its turn."""
        found: dict[str, set[str]] = {}
        for change in [] if self._tracker is None else self._tracker.history.changes:
            if change.by == "shell":
                found.setdefault(change.message, set()).add(change.path)
        return {message: len(paths) for message, paths in found.items()}

    def files_after(self, record: str) -> dict[str, bytes | None] | None:
        """What every path of the file history held right after a record; None where that is not
        known. Of a path whose saved bytes are gone there is nothing. Blocking.
        """
        position = self._conversation.view.graph.position.get(record)
        tracker = self._tracker
        if tracker is None or position is None or position <= tracker.history.horizon:
            return None
        since = tracker.history.after(position)
        found: dict[str, bytes | None] = {}
        for path in {change.path for change in tracker.history.live()}:
            with contextlib.suppress(StorageError, OSError):
                if path not in since:
                    found[path] = _bytes_now(path)
                elif (first := since[path][0]).before.kind in ("absent", "file"):
                    blob = first.blob
                    found[path] = None if blob is None else tracker.store.read(blob)
        return found

    async def rewind(
        self, message: str, mode: RewindMode, files: FilesPart | None = None, undoes: str = ""
    ) -> Rewound:
        """Go back to before a prompt, or a rewind; the old branch stays.

        `files` is needed where files are meant. Once begun it is carried through, also when it is
        cancelled. Raises `RewindError`; then nothing has changed.
        """
        work = asyncio.ensure_future(self._rewind(message, mode, files, undoes))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait([work])
            return work.result()

    async def _rewind(
        self, message: str, mode: RewindMode, files: FilesPart | None, undoes: str
    ) -> Rewound:
        graph = self._conversation.view.graph
        position = graph.position.get(message)
        if position is None:
            raise RewindError(f"{FAILED}there is no message {message}.")
        moves = mode != "files"
        leaf = leaf_before(graph, position) if moves else self._conversation.view.leaf
        selection = Selection((), ())
        if files is not None and mode in ("files", "both"):
            selection = await asyncio.to_thread(lambda: files.selection)
        if selection.conflicts:
            names = ", ".join(step.path for step in selection.conflicts)
            raise RewindError(FAILED + names)
        if not selection.steps and leaf == self._conversation.view.leaf and not undoes:
            return Rewound("", mode)
        record, told = await self._record(graph, message, mode, leaf, selection, undoes)
        left: tuple[str, ...] = ()
        if selection.steps:
            applied = await self._carry_out(selection, record)
            try:
                self._append(record, applied.changes, moves, leaf)
            except StorageError as error:
                stayed = await asyncio.to_thread(applied.take_back)
                raise failure(error.happened, stayed) from error
            left = await asyncio.to_thread(applied.finish)
        else:
            self._append(record, (), moves, leaf)
        self._conversation.sync()
        return replace(told, left=left)

    @property
    def store(self) -> BlobStore | None:
        """The saved bytes of the session; None where file checkpoints are off."""
        return None if self._tracker is None else self._tracker.store

    async def undo(self) -> Rewound:
        """Take the last rewind back that still stands: what it did, and nothing else.

        Raises `RewindError` when there is none, when the conversation has gone on since, or when
        something else has changed its files since.
        """
        graph = self._conversation.view.graph
        last = last_rewind(graph)
        if last is None or last.uuid is None:
            raise RewindError(NOTHING_TO_UNDO)
        mode = cast("RewindMode", rewind_of(last).get("mode") or "files")
        if mode != "files" and _went_on(graph, graph.position[last.uuid]):
            raise RewindError(WENT_ON)
        files = None
        if mode in ("files", "both") and rewind_of(last).get("filesChanged"):
            tracker = self._need_tracker()
            args = (tracker.history, tracker.store, last.uuid, self._roots)
            files = FilesPart(await asyncio.to_thread(undo_plan, *args))
        return await self.rewind(last.uuid, mode, files, undoes=last.uuid)

    async def _carry_out(self, selection: Selection, record: Record) -> Applied:
        store = self._need_tracker().store
        return await asyncio.to_thread(
            carry_out, selection.steps, store, self._note, record.uuid or ""
        )

    async def _record(
        self,
        graph: MessageGraph,
        message: str,
        mode: RewindMode,
        leaf: int | None,
        selection: Selection,
        undoes: str,
    ) -> tuple[Record, Rewound]:
        insertions = deletions = 0
        if selection.steps:
            store = self._need_tracker().store
            insertions, deletions = await asyncio.to_thread(count_lines, selection.steps, store)
        fields: JsonObject = {
            "target": message,
            "mode": mode,
            "undoes": undoes or None,
            "leafBefore": self._conversation.leaf,
            "leafAfter": None if leaf is None else graph.records[leaf].uuid,
            "filesChanged": len(selection.steps),
            "insertions": insertions,
            "deletions": deletions,
        }
        payload = {
            "content": _in_words(graph, message, fields),
            "level": "info",
            "isMeta": False,
            "rewind": fields,
        }
        record = self._conversation.envelope.system(self._conversation.leaf, REWIND, payload)
        return record, Rewound(record.uuid or "", mode, len(selection.steps), insertions, deletions)

    def _append(
        self, record: Record, changes: tuple[Change, ...], moves: bool, leaf: int | None
    ) -> None:
        """Write the rewind in one go: its changes first, the record that makes it count last."""
        conversation = self._conversation
        after = [record]
        if moves:
            uuid = None if leaf is None else conversation.view.graph.records[leaf].uuid
            after.append(conversation.choose(uuid))
        if self._tracker is None:
            conversation.append(*after)
        else:
            self._tracker.record(*changes, then=after)
            position = conversation.view.graph.position[record.uuid or ""]
            self._tracker.history.add_point(record.uuid or "", position)
        if moves:
            conversation.move(leaf)

    def _need_tracker(self) -> FileTracker:
        if self._tracker is None:
            raise RewindError(NOT_ENABLED)
        return self._tracker


def _bytes_now(path: str) -> bytes | None:
    descriptor, _ = open_file(path)
    if descriptor is None:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def leaf_before(graph: MessageGraph, position: int) -> int | None:
    """Where the conversation stood before a prompt was said, or before a rewind."""
    record = graph.records[position]
    if record.subtype == REWIND:
        before = rewind_of(record).get("leafBefore")
        return graph.position.get(str(before))
    return graph.parent(position)


def rewind_of(record: Record) -> JsonObject:
    """What the record of a rewind says of it."""
    fields = record.data.get("rewind")
    return cast("JsonObject", fields) if isinstance(fields, dict) else {}


def last_rewind(graph: MessageGraph) -> Record | None:
    """The newest rewind that was not undone; an undoing is none itself."""
    undone: set[object] = set()
    for record in reversed(graph.records):
        if record.subtype == REWIND and record.uuid is not None:
            undoes = rewind_of(record).get("undoes")
            if undoes is not None:
                undone.add(undoes)
            elif record.uuid not in undone:
                return record
    return None


def _went_on(graph: MessageGraph, rewind: int) -> bool:
    """Whether anything was said after a rewind; the summary that is a part of one is not."""
    return any(
        record.type in ("user", "assistant")
        and graph.is_main(here)
        and user_kind(record, record.data) != "compact_summary"
        for here, record in enumerate(graph.records[rewind + 1 :], rewind + 1)
    )


_WORDS = {
    "conversation": "The conversation went back",
    "files": "Files went back",
    "both": "Conversation and files went back",
    "summary": "The conversation went back, with a summary of what came after,",
}


def _in_words(graph: MessageGraph, message: str, fields: JsonObject) -> str:
    target = graph.records[graph.position[message]]
    count = cast("int", fields["filesChanged"])
    files = "" if not count else f"; {count} file{'' if count == 1 else 's'}"
    if fields["undoes"]:
        return f"A rewind was undone{files}"
    words = _WORDS[str(fields["mode"])]
    if target.subtype == REWIND:
        return f"{words} to before an earlier rewind{files}"
    text = cut(plain_line(typed_text(target.data)).strip(), LONGEST)
    return f"{words} to before “{text}”{files}"
