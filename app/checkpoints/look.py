"""One look at a project: which files there are, and what tells whether they were written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from app.checkpoints.baseline import NO_STAMP, Stamp, stamp_of

MOST_FILES = 20_000
MOST_BYTES = 200_000_000
"""Of a project that is watched (issue 4)."""
BYTES = f"{MOST_BYTES // 1_000_000} MB"


class Look(Struct, frozen=True):
    """What was seen, by names relative to the root."""

    listed: frozenset[bytes]
    complete: bool
    """Whether `listed` is all there is."""
    stamps: Mapping[bytes, Stamp]
    """Of what is there: of the listed, if `complete`, and of those known before."""

    def size(self, name: bytes) -> int:
        """In bytes; 0 where nothing is."""
        return self.stamps.get(name, NO_STAMP)[0]

    def too_much(self) -> str:
        """Why so much is not watched, as the end of a sentence; empty when it is."""
        if len(self.listed) > MOST_FILES:
            return f"more than {MOST_FILES:_} files".replace("_", " ")
        if not self.complete:
            return "its files cannot be listed"
        if sum(self.size(name) for name in self.listed) > MOST_BYTES:
            return f"more than {BYTES} of files"
        return ""


def look_at(
    prefix: bytes,
    known: Iterable[bytes],
    list_names: Callable[[], list[bytes] | None],
    left_out: bytes,
) -> Look:
    """List the files under `prefix` and meanwhile look at those known before; blocking.

    `list_names` gives None where they cannot be listed. Names that begin with `left_out`, if it is
    not empty, are left out.
    """
    with ThreadPoolExecutor(1) as beside:
        listing = beside.submit(list_names)
        stamps = _stamps(prefix, known)
        names = listing.result()
    if names is None or len(names) > MOST_FILES:
        return Look(frozenset(names or ()), False, stamps)
    listed = frozenset(name for name in names if not left_out or not name.startswith(left_out))
    return Look(listed, True, stamps | _stamps(prefix, listed - stamps.keys()))


def _stamps(prefix: bytes, names: Iterable[bytes]) -> dict[bytes, Stamp]:
    """Of what is there, whatever it is."""
    found: dict[bytes, Stamp] = {}
    lstat = os.lstat
    for name in names:
        try:
            status = lstat(prefix + name)
        except OSError:
            continue
        found[name] = stamp_of(status)
    return found
