"""A draft's file: read without being held up or led astray, put aside where it is none."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

import msgspec

from app.background.feedback.drafts import Draft, is_draft_id, moment

MOST_FILE_BYTES: Final = 1 << 20
"""Of a draft's file; six times the limit of its texts is the most that JSON makes of them."""
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def read_draft(path: Path) -> Draft | None:
    """The draft in a file, None when it holds none. Raises `OSError` when it cannot be read."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return None
    descriptor = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        content = os.read(descriptor, MOST_FILE_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MOST_FILE_BYTES:
        return None
    try:
        draft = msgspec.json.decode(content, type=Draft)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    is_named = is_draft_id(draft.id) and path.name == f"{draft.id}.json"
    return draft if is_named and moment(draft.created) is not None else None


def put_aside(path: Path) -> None:
    """Rename a file that is no draft, over no other. Raises `OSError`."""
    aside = path.with_name(f"{path.name}.damaged")
    number = 2
    while os.path.lexists(aside):
        aside = path.with_name(f"{path.name}.{number}.damaged")
        number += 1
    path.rename(aside)
    if stat.S_ISREG(aside.lstat().st_mode):
        aside.chmod(0o600)
