"""What the turn of one node came to: tool calls, changed files, cost; and how two nodes differ.

Everything is told by the records of the turn, nothing is read from the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from app.patch import structured_patch
from app.sessions.family import Family, parted, way_to
from app.sessions.graph import MessageGraph
from app.sessions.outline import Node
from app.sessions.records import JsonObject, Record
from app.sessions.summary import moment_at

_CHANGES = (b'"structuredPatch"', b'"create"')
"""One of these is in every result that tells of a changed file (transcripts.md, a5)."""

Price = Callable[[MessageGraph], float | None]
"""The cost of the replies in a graph in USD, None where a price is not known."""


class FileChange(msgspec.Struct, frozen=True, gc=False):
    """How many lines of a file were added and removed."""

    path: str
    added: int
    removed: int


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What a node's turn did."""

    tools: int = 0
    files: tuple[FileChange, ...] = ()
    """By path, in the order in which they were first changed."""
    cost_usd: float | None = 0.0
    """None when a price is not known."""

    @property
    def added(self) -> int:
        """Lines added to all files."""
        return sum(each.added for each in self.files)

    @property
    def removed(self) -> int:
        """Lines removed from all files."""
        return sum(each.removed for each in self.files)


def facts_of(family: Family, node: Node, price: Price) -> Facts:
    """The facts of a node; of another session's first line none."""
    if node.kind == "fork":
        return Facts()
    turn = family.records(node)
    cost = price(MessageGraph(family.first_records(node)))
    return Facts(node.tools, tuple(_changes(turn)), cost)


def tools_in_words(count: int | str) -> str:
    """`1 tool`, `9 tools`."""
    return f"{count} tool{'' if count == 1 else 's'}"


def changes_in_words(added: int | str, removed: int | str) -> str:
    """`+41 −2`; a side without lines is left out."""
    parts = [f"+{added}" if added or not removed else "", f"−{removed}" if removed else ""]
    return " ".join(part for part in parts if part)


def moment_in_words(timestamp: str | None) -> str:
    """`2026-11-02 09:00` in local time; empty for what is no time."""
    moment = moment_at(timestamp)
    return "" if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M}"


def changes_files(family: Family, node: Node) -> bool:
    """Whether a node's turn changed a file."""
    return any(True for _ in _changes(family.records(node)))


def _changes(turn: Iterable[Record]) -> Iterable[FileChange]:
    counts: dict[str, tuple[int, int]] = {}
    for record in turn:
        if record.tool_results and any(_holds(record, mark) for mark in _CHANGES):
            found = _change(record.data.get("toolUseResult"))
            if found is not None:
                added, removed = counts.get(found.path, (0, 0))
                counts[found.path] = added + found.added, removed + found.removed
    return [FileChange(path, *lines) for path, lines in counts.items()]


def _holds(record: Record, mark: bytes) -> bool:
    return record.source.find(mark, record.start, record.stop) >= 0


def _change(details: object) -> FileChange | None:
    """What an edit or a write says that it did; None for any other result."""
    fields = cast("JsonObject", details) if isinstance(details, dict) else {}
    path, patch = fields.get("filePath"), fields.get("structuredPatch")
    if not isinstance(path, str):
        return None
    if isinstance(patch, list) and patch:
        added, removed = count_lines(cast("list[object]", patch))
        return FileChange(path, added, removed)
    if fields.get("type") == "create":
        return FileChange(path, len(str(fields.get("content") or "").splitlines()), 0)
    return None


def count_lines(patch: Sequence[object]) -> tuple[int, int]:
    """Lines that the hunks of a patch add and remove."""
    added = removed = 0
    for hunk in patch:
        lines = cast("JsonObject", hunk).get("lines") if isinstance(hunk, dict) else None
        for line in cast("list[object]", lines) if isinstance(lines, list) else []:
            added += str(line).startswith("+")
            removed += str(line).startswith("-")
    return added, removed


# How two nodes differ


class FileDifference(msgspec.Struct, frozen=True):
    """One file as it is at one node and at the other."""

    path: str
    hunks: tuple[dict[str, Any], ...]
    """As a transcript keeps them; none where one of the two is no text."""
    added: int
    removed: int
    words: str = ""
    """What the hunks do not say: that it is missing at one of the two, or is no text."""


class Comparison(msgspec.Struct, frozen=True):
    """Two nodes side by side."""

    first: Node
    second: Node
    shared: Node | None
    """The last node that both go back to."""
    only_first: tuple[Node, ...]
    """The nodes that lead from there to the first one, oldest first."""
    only_second: tuple[Node, ...]
    files: tuple[FileDifference, ...] | None
    """None where the files at one of the two are not known."""


FilesAt = Callable[[str, str], Mapping[str, bytes | None] | None]
"""The files as they were right after a record: session and uuid to path and bytes, None for no
file; None where they are not known."""


def compare(family: Family, first: Node, second: Node, files_at: FilesAt) -> Comparison:
    """How two nodes of a family differ, in what was said and in the files after their turns."""
    nodes = family.by_uuid()
    one, other = way_to(nodes, first), way_to(nodes, second)
    common = parted(one, other)
    before, after = _files_after(family, first, files_at), _files_after(family, second, files_at)
    files: tuple[FileDifference, ...] | None = None
    if before is not None and after is not None:
        files = tuple(differences(before, after))
    return Comparison(
        first=first,
        second=second,
        shared=next((node for node in reversed(one[:common]) if node.kind != "fork"), None),
        only_first=tuple(one[common:]),
        only_second=tuple(other[common:]),
        files=files,
    )


def _files_after(
    family: Family, node: Node, files_at: FilesAt
) -> Mapping[str, bytes | None] | None:
    turn = family.records(node)
    return files_at(node.session_id, turn[-1].uuid or "") if turn else None


def differences(
    before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]
) -> Iterable[FileDifference]:
    """The files that differ, by path; of one that only one of the two knows that is said."""
    for path in sorted({*before, *after}):
        if path not in before or path not in after:
            where = "first" if path not in before else "second"
            yield FileDifference(path, (), 0, 0, f"not known at the {where}")
        elif before[path] != after[path]:
            yield _difference(path, before[path], after[path])


def _difference(path: str, old: bytes | None, new: bytes | None) -> FileDifference:
    words = "only at the first" if new is None else "only at the second" if old is None else ""
    try:
        texts = (old or b"").decode("utf-8"), (new or b"").decode("utf-8")
    except UnicodeDecodeError:
        sizes = f"not text, {len(old or b'')} and {len(new or b'')} bytes"
        return FileDifference(path, (), 0, 0, f"{words}, {sizes}".removeprefix(", "))
    hunks = structured_patch(*texts)
    return FileDifference(path, tuple(hunks), *count_lines(hunks), words)
