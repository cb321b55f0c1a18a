"""The messages of one session as a graph: every branch that was ever taken, in one place.

The graph only grows. A `GraphView` (graph, length, leaf) is a frozen look at it, so that keeping
an old state costs nothing and folding a record is O(1) (ARCHITECTURE.md, The flow).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import cast

from msgspec import Struct

from app.sessions.records import CHAIN_TYPES, Record

REPLY_VOIDED = "reply_voided"
"""Subtype of our record that takes out what a broken attempt had written of its reply."""
_RETRACTING = frozenset({"api_refusal", "model_refusal_fallback", REPLY_VOIDED})

INTERRUPTED_TURN = "interrupted_turn"
"""Subtype of our record that names the calls which a turn that is gone on with leaves out."""
COMPACT_FAILED = "compact_failed"
"""Subtype of our record of a summary that could not be made by itself."""
COMPACT_UNDONE = "compact_undone"
"""Subtype of our record that goes on from before a compaction; it may be a branch's end."""
MEMORY_STRUCK = "memory_struck"
"""Subtype of our record that the person took back what the model had noted."""
REWIND = "rewind"
"""Subtype of our record of a rewind: a node of the tree that one can go back to."""
_FEW = 16


class Defects(Struct, frozen=True):
    """What is wrong with the links between records; every number is a count of records."""

    orphan_parents: int
    duplicate_uuids: int
    cycles: int
    dangling_logical_parents: int


class MessageGraph:
    """All records of one transcript with their parent links.

    Positions are indices into `records`, in file order. Only the owner of the session appends;
    a record's links never change once a record behind it has been appended.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records: list[Record] = []
        self.position: dict[str, int] = {}
        """By uuid; where a uuid occurs twice the last record wins (spec/sessions.md)."""
        self.results: dict[str, Sequence[int]] = {}
        """By tool_use id: the records that hold a result for it."""
        self.messages: dict[str, Sequence[int]] = {}
        """By API message id: the assistant records that hold its blocks."""
        self.retracted: set[str] = set()
        """Uuids that a later record took out of the conversation (spec/sessions.md, Resume)."""
        self.superseded: set[str] = set()
        """Ids of tool calls that a later record took out of the conversation."""
        self.boundaries: list[int] = []
        """Compact boundaries, superseded ones too."""
        self._moved: set[str] = set()
        """Uuids that a later record has taken over."""
        self._unresolved: list[int] = []
        """Records whose parent was not there, or not yet, when they came."""
        self._before: list[int] = []
        self._last = {False: -1, True: -1}
        self._cut: set[int] = set()
        self._duplicates = 0
        self._cycles = 0
        for record in records:
            self._add(record)
        self._cut_cycles()

    def append(self, record: Record) -> int:
        """Add one record; returns its position. Constant time."""
        return self._add(record)

    def _add(self, record: Record) -> int:
        here = len(self.records)
        self.records.append(record)
        uuid, before = record.uuid, self._before
        if uuid is None or record.type not in CHAIN_TYPES:
            before.append(-1)
            return here
        if uuid in self.position:
            self._duplicates += 1
            self._moved.add(uuid)
            self._forget(self.position[uuid])
        self.position[uuid] = here
        before.append(self._last[record.sidechain])
        self._last[record.sidechain] = here
        if record.type == "system":
            self._add_system(record, here)
        elif record.type == "assistant" and record.message_id:
            _add_to(self.messages, record.message_id, here)
        if record.parent is not None and record.parent not in self.position:
            self._unresolved.append(here)
        for tool_id in record.tool_results:
            _add_to(self.results, tool_id, here)
        return here

    def _add_system(self, record: Record, here: int) -> None:
        if record.is_boundary:
            self.boundaries.append(here)
            self._unresolved.append(here)
        elif record.subtype in _RETRACTING:
            self.retracted.update(_names(record, "retractedMessageUuids"))
        elif record.subtype == INTERRUPTED_TURN:
            self.superseded.update(_names(record, "supersededToolUseIds"))

    def _forget(self, old: int) -> None:
        record = self.records[old]
        if (members := self.messages.get(record.message_id or "")) is not None:
            self.messages[record.message_id or ""] = tuple(h for h in members if h != old)
        for tool_id in record.tool_results:
            self.results[tool_id] = tuple(h for h in self.results[tool_id] if h != old)

    def is_current(self, here: int) -> bool:
        """Whether the record at this position is a node: in the chain and not superseded."""
        record = self.records[here]
        return record.in_chain and record.uuid is not None and self.position[record.uuid] == here

    def parent(self, here: int) -> int | None:
        """The position of the record before this one, or None at a root.

        A parent that was never written is bridged to the nearest earlier record of the chain
        (cases/B05); a boundary goes on with what it compacted.
        """
        if here in self._cut:
            return None
        record = self.records[here]
        named = record.logical_parent if record.is_boundary else record.parent
        if named is None:
            return self._bridge(here) if record.is_boundary else None
        if named == record.uuid:
            return None
        found = self.position.get(named)
        return self._bridge(here) if found is None else found

    def _bridge(self, here: int) -> int | None:
        before = self._before[here]
        while before >= 0 and not self.is_current(before):
            before = self._before[before]
        return before if before >= 0 else None

    def is_orphan(self, here: int) -> bool:
        """Whether the record names a parent that is not in the file."""
        record = self.records[here]
        return (
            not record.is_boundary
            and record.parent is not None
            and record.parent not in self.position
        )

    def walk(self, here: int | None) -> Iterator[int]:
        """From a record up to its root, across compact boundaries."""
        while here is not None:
            yield here
            here = self.parent(here)

    def _cut_cycles(self) -> None:
        """Make the earliest record of every cycle a root, so that each walk ends (cases/B04).

        A circle has a parent that stands behind its child; without one nothing has to be walked.
        """
        done: set[int] = set()
        for start in self._ahead():
            path: list[int] = []
            on_path: set[int] = set()
            here: int | None = start
            while here is not None and here not in done and here not in on_path:
                path.append(here)
                on_path.add(here)
                here = self.parent(here)
            if here is not None and here in on_path:
                self._cut.add(min(path[path.index(here) :]))
                self._cycles += 1
            done.update(path)

    def _ahead(self) -> list[int]:
        """Records whose parent stands behind them in the file."""
        candidates = [*self._unresolved]
        if self._moved:
            children = enumerate(self.records)
            candidates += [here for here, record in children if record.parent in self._moved]
        return [h for h in candidates if self.is_current(h) and (self.parent(h) or 0) > h]

    @cached_property
    def is_sidechain_file(self) -> bool:
        """Whether every record belongs to a sub-agent, so that none of them is beside the talk."""
        return all(self.records[here].sidechain for here in self.position.values())

    def is_main(self, here: int) -> bool:
        """Whether the record belongs to the conversation and not to a sub-agent beside it."""
        return self.is_sidechain_file or not self.records[here].sidechain

    def choice(self) -> tuple[int | None] | None:
        """The end that an explicit `last-prompt` record names, when nothing was said after it.

        So a rewind, or a switch to another branch, survives without a message (transcripts.md,
        quirk 28); one to before the first prompt names nothing. None when nothing was chosen: a
        record that is not explicit only repeats what was newest when it was written.
        """
        for here in range(len(self.records) - 1, -1, -1):
            record = self.records[here]
            if record.type == "last-prompt" and record.data.get("explicit") is True:
                named = record.data.get("leafUuid")
                if named is None:
                    return (None,)
                found = self.position.get(str(named))
                if found is not None and self.is_main(found):
                    end = next((h for h in self.walk(found) if self._may_end(h)), None)
                    return None if end is None else (end,)
            elif self.is_current(here) and self.is_main(here) and self._may_end(here):
                return None
        return None

    def leaf(self) -> int | None:
        """The end of the branch in use: the chosen one, else the newest."""
        choice = self.choice()
        return self.newest_leaf() if choice is None else choice[0]

    def newest_leaf(self) -> int | None:
        """The end of the branch in use: the last childless branch's newest message.

        From every main record without children up to the nearest user or assistant record; of
        these the last one in file order (spec/sessions.md, Graph).
        """
        parents = {self.parent(here) for here in self._ahead() if self.is_main(here)}
        in_order = not parents
        best: int | None = None
        for here in range(len(self.records) - 1, -1, -1):
            if best is not None and in_order and here < best:
                break  # what ends further up in the file ends before this one
            if not self.is_current(here) or not self.is_main(here):
                continue
            if here not in parents:
                top = next((h for h in self.walk(here) if self._may_end(h)), None)
                if top is not None and (best is None or top > best):
                    best = top
            parents.add(self.parent(here))
        return best

    def _may_end(self, here: int) -> bool:
        record = self.records[here]
        ends = record.type in {"user", "assistant"} or record.subtype == COMPACT_UNDONE
        return ends and record.uuid not in self.retracted

    def defects(self) -> Defects:
        """What is wrong with the links."""
        current = list(self.position.values())
        dangling = sum(
            1
            for here in current
            if self.records[here].is_boundary
            and self.records[here].logical_parent not in self.position
        )
        orphans = sum(1 for here in current if self.is_orphan(here))
        return Defects(orphans, self._duplicates, self._cycles, dangling)


class Path:
    """One walk through a graph, and what hangs on it; asking twice costs nothing."""

    def __init__(self, graph: MessageGraph, positions: Iterable[int]) -> None:
        self.graph = graph
        self.on_it = set(positions)
        self._hangs: dict[int, bool] = {}

    def has(self, here: int) -> bool:
        """Whether a record is on the path, or its way up meets it before a compact boundary."""
        graph, passed = self.graph, list[int]()
        found = False
        for step in graph.walk(here):
            if step in self.on_it or step in self._hangs:
                found = step in self.on_it or self._hangs[step]
                break
            passed.append(step)
            if graph.records[step].is_boundary:
                break
        self._hangs.update(dict.fromkeys(passed, found))
        return found

    def message(self, here: int) -> list[int]:
        """All records of one API message that belong to the path, in file order.

        Parallel tool calls look like branches: one walk misses some (transcripts.md, quirk 1).
        """
        members = self.graph.messages.get(self.graph.records[here].message_id or "", [here])
        return [member for member in members if self.has(member)]


def _add_to(known: dict[str, Sequence[int]], key: str, here: int) -> None:
    """Note a position: few of them as a tuple, which the garbage collector need not look at."""
    found = known.get(key, ())
    if isinstance(found, list):
        found.append(here)
    else:
        known[key] = (*found, here) if len(found) < _FEW else [*found, here]


def _names(record: Record, key: str) -> list[str]:
    named = record.data.get(key)
    found = cast("list[object]", named) if isinstance(named, list) else []
    return [name for name in found if isinstance(name, str)]


class GraphView(Struct, frozen=True, eq=False):
    """A frozen look at a graph that goes on growing: its first `length` records, and a leaf."""

    graph: MessageGraph
    length: int
    leaf: int | None

    def after(self, record: Record) -> GraphView:
        """The view with one more record at the end; a main chain record becomes the leaf."""
        here = self.graph.append(record)
        moves = record.in_chain and not record.sidechain
        return GraphView(self.graph, here + 1, here if moves else self.leaf)

    @property
    def leaf_uuid(self) -> str | None:
        """The uuid that the next record names as its parent."""
        return None if self.leaf is None else self.graph.records[self.leaf].uuid


def open_view(records: Iterable[Record]) -> GraphView:
    """A graph of these records, seen from the end of the branch in use."""
    graph = MessageGraph(records)
    return GraphView(graph, len(graph.records), graph.leaf())
