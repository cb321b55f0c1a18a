"""What another program's write has overwritten without having seen it (cases/B23).

A program that takes no lock reads a document, and writes it back a moment later: whatever was
written in between is gone from the document. The history has it, and tells from which version the
other program had started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile
from typing import Final

from app.memory.three_way import three_way
from app.storage.documents import Author, Change, DocumentStore

WINDOW: Final = 2.0
"""Seconds between a write of ours and another program's in which that may not have seen ours.

A person who takes a line out needs longer, and is not to find it there again.
"""
TICK: Final = 0.02
"""Seconds by which a file's time may lag behind the clock."""
_MOST_VERSIONS: Final = 100


def mended(store: DocumentStore, seen: Change) -> tuple[bytes, Author] | None:
    """What a document must hold so that both writes count, and whose it is; None as a rule."""
    past = [each for each in store.changes(seen.name) if each.author.what != "set_aside"]
    if not past or past[-1].id != seen.id or seen.after is None:
        return None
    foreign = [*takewhile(_is_foreign, reversed(past))]
    past = past[: len(past) - len(foreign)]
    if not past or any(each.after is None for each in (past[-1], *foreign)):
        return None  # what was deleted meanwhile is not to come back
    ours = past[-1]
    mine, theirs = _lines(store, ours.after), _lines(store, seen.after)
    base = _origin(store, past, seen, mine, theirs)
    if base is None or base == theirs:
        return None
    text = b"".join(union(base, mine, theirs))
    if text == b"".join(theirs):
        return None
    why = "brought back what another program had overwritten unseen"
    return text, Author(ours.author.who, why=why, what="merged")


def _origin(
    store: DocumentStore,
    past: Sequence[Change],
    seen: Change,
    mine: Sequence[bytes],
    theirs: Sequence[bytes],
) -> Sequence[bytes] | None:
    """The version that the other program had read; None where that is the latest of ours."""
    best, found = _distance(mine, theirs), None
    for change in reversed(past[-_MOST_VERSIONS:]):
        if not -TICK <= _seconds(seen.at) - _seconds(change.at) <= WINDOW:
            break  # the other program's is older: a copy from before was put there
        before = _lines(store, change.before)
        distance = _distance(before, theirs)
        if distance < best:
            best, found = distance, before
    return found


def _is_foreign(change: Change) -> bool:
    return change.author.who == "other" and change.author.what != "merged"


def _distance(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    first, second = Counter(one), Counter(other)
    return (first - second).total() + (second - first).total()


def _lines(store: DocumentStore, digest: str | None) -> Sequence[bytes]:
    return [] if digest is None else store.text_of(digest).splitlines(keepends=True)


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def union(base: Sequence[bytes], mine: Sequence[bytes], theirs: Sequence[bytes]) -> list[bytes]:
    """Both changes of `base`; where they touch the same lines, theirs and then mine."""
    lines: list[bytes] = []
    for stretch in three_way(base, mine, theirs):
        if stretch.lines is not None:
            lines += stretch.lines
            continue
        lines += map(_ended, stretch.theirs)
        # What was there before is theirs to keep or to drop; what mine added is missing there.
        added = Counter(stretch.mine) - Counter(stretch.base) - Counter(stretch.theirs)
        for line in stretch.mine:
            if added[line] > 0:
                added[line] -= 1
                lines.append(_ended(line))
    return lines


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"
