"""Which names a document may have (spec/memory.md, Documents; cases/B24).

A name comes from a model as a rule: it is data, and no spelling of it leaves the folder.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from app.plain_text import cut, plain_line
from app.storage.documents import NameRefused

ENTRY: Final = "MEMORY.md"
"""The document that requests load."""
SUFFIX: Final = ".md"
MOST_LEVELS: Final = 8
"""Folders that a document may lie in, the memory folder included."""
_MOST_BYTES: Final = 255
_CLOSED: Final = frozenset({".git", "agents"})
_HIDDEN: Final = "holds a character that cannot be seen or stored in a name"
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def checked_name(text: str) -> str:
    """The name that `text` means, with `.`, `..` and doubled slashes folded away.

    Raises `NameRefused` for what leads out of the folder or can be no document's name.
    """
    if has_unseen(text):
        raise _refused(text, _HIDDEN)
    if not text.strip():
        raise _refused(text, "is empty")
    if text.startswith(("/", "~")):
        raise _refused(text, "is not relative to the memory folder")
    if text.endswith("/"):
        raise _refused(text, "names a folder, not a document")
    parts: list[str] = []
    for part in text.split("/"):
        if part == ".." and not parts:
            raise _refused(text, "leads out of the memory folder")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise _refused(text, "is the memory folder itself")
    _check_parts(text, parts)
    return "/".join(parts)


def _check_parts(text: str, parts: list[str]) -> None:
    if len(parts) > MOST_LEVELS:
        raise _refused(text, f"lies more than {MOST_LEVELS} levels deep")
    for part in parts:
        if reason := closed(part) or unfit(part):
            raise _refused(text, reason)
    if not parts[-1].endswith(SUFFIX) or parts[-1] == SUFFIX:
        raise _refused(text, "does not end in `.md`")
    if folded("/".join(parts)) == folded(ENTRY) and parts != [ENTRY]:
        raise _refused(text, f"differs from {ENTRY} only in its letters' case")


def unfit(part: str) -> str:
    """Why no document or folder may be called so; empty for an ordinary name."""
    if has_unseen(part):
        return _HIDDEN
    if "\\" in part:
        return "holds a backslash; folders are divided by `/`"
    if part != part.strip():
        return "begins or ends with a space"
    return "is too long" if len(part.encode()) > _MOST_BYTES else ""


def has_unseen(text: str) -> bool:
    """Whether a name holds control, direction or format characters, or halves of pairs."""
    if text.isascii() and text.isprintable():
        return False
    return any(unicodedata.category(letter) in _UNSEEN for letter in text)


def closed(part: str) -> str:
    """Why nothing of this name is memory; empty for an ordinary name."""
    if part.casefold() in _CLOSED:
        return "is not part of memory (`.git` and `agents` are left alone)"
    return "is hidden" if part.startswith(".") else ""


def folded(name: str) -> str:
    """What two names have in common that a disk without cases takes for one."""
    return unicodedata.normalize("NFC", name).casefold()


def _refused(text: str, why: str) -> NameRefused:
    return NameRefused(
        f"The name “{cut(plain_line(text), 80)}” {why}.",
        kept="Nothing was read or changed.",
        todo="Use a relative name such as `topic.md` or `folder/topic.md`.",
    )
