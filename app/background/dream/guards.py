"""What must be true of a dream before it is published without a look at it (spec/dream.md).

Checked here and not asked of the model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from app.background.dream.record import DreamFile
from app.memory.entry import fit
from app.memory.links import links
from app.memory.markdown import front_matter
from app.storage.names import ENTRY

MOST_VANISHED: Final = 0.5
"""Share of the memory's bytes that may vanish, of its words and of its documents."""

_WORD: Final = re.compile(r"[\u2e80-\ud7ff\uf900-\ufaff]|[^\s\u2e80-\ud7ff\uf900-\ufaff]+")
"""A word between spaces; of scripts that set none each character is one."""


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
    found: list[str] = []
    before, now = (sum(map(len, held.values())) for held in (base, after))
    if now < before * (1 - MOST_VANISHED):
        found.append(f"More than half of the memory would vanish: {before:,} bytes become {now:,}.")
    old, new = _words(base), _words(after)
    said, lost = sum(old.values()), sum(size for word, size in old.items() if word not in new)
    if not found and lost > said * MOST_VANISHED:
        found.append(
            f"More than half of what the memory says would vanish: {lost:,} of {said:,} bytes."
        )
    gone = len(base.keys() - after.keys())
    if gone > len(base) * MOST_VANISHED:
        found.append(f"More than half of the documents would be deleted: {gone} of {len(base)}.")
    return found


def _words(held: Mapping[str, bytes]) -> dict[str, int]:
    """The bytes that each word takes up; whatever is said several times may be said once."""
    found: dict[str, int] = defaultdict(int)
    for data in held.values():
        for word in _WORD.findall(data.decode("utf-8", "replace")):
            found[word] += len(word.encode())
    return found


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
    elif old.strip() and not new.strip():
        found.append(f"{ENTRY} would be emptied.")
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
