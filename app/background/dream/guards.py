"""What must be true of a dream before it is published without a look at it (spec/dream.md).

Checked here and not asked of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from app.background.dream.record import DreamFile
from app.memory.entry import fit
from app.memory.links import links
from app.memory.markdown import front_matter
from app.storage.names import ENTRY

MOST_VANISHED: Final = 0.5
"""Share of the memory's bytes that may vanish."""


def objections(base: Mapping[str, bytes], changes: Sequence[DreamFile]) -> list[str]:
    """Why a person must look at it first, a sentence each; none when all is well."""
    after = dict(base)
    for change in changes:
        if change.after is None:
            after.pop(change.name, None)
        else:
            after[change.name] = change.after.encode()
    found = [*_vanished(base, after), *_entry(base, after)]
    for change in changes:
        found += _front_matter(change)
    return found


def _vanished(base: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    before, now = (sum(map(len, held.values())) for held in (base, after))
    if now >= before * (1 - MOST_VANISHED):
        return []
    return [f"More than half of the memory would vanish: {before:,} bytes become {now:,}."]


def _entry(base: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    old, new = (held.get(ENTRY, b"").decode("utf-8", "replace") for held in (base, after))
    found: list[str] = []
    line = fit(new).first_line_cut
    if line and new != old:
        found.append(f"{ENTRY} would be over its budget from line {line} on.")
    dead = {target for _, target in links(new) if target not in after}
    dead -= {target for _, target in links(old) if target not in base}
    if dead:
        found.append(f"{ENTRY} would lead to documents that do not exist: {_named(dead)}.")
    if ENTRY in base and ENTRY not in after:
        found.append(f"{ENTRY} would be deleted.")
    return found


def _named(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:5]) + (f" and {len(shown) - 5} more" if len(shown) > 5 else "")


def _front_matter(change: DreamFile) -> list[str]:
    if change.after is None:
        return []
    had = bool(change.before and front_matter(change.before)[1])
    begins = change.after.startswith("---\n")
    if front_matter(change.after)[1] or not (had or begins):
        return []
    return [f"The front matter of {change.name} would not be readable any more."]
