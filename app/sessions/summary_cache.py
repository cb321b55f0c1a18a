"""What was found out about the transcripts of a project, so that no file is read twice.

One file a project, `catalogue.json`. It may be lost or damaged at any time: it is then made anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from app.errors import StorageError
from app.paths import read_small, write_private
from app.sessions.glance import SessionSummary

CACHE_FILE = "catalogue.json"
MOST_BYTES = 64 << 20
_FORM = 2
"""Counted up whenever a summary means something else than before."""


class _Cache(msgspec.Struct):
    form: int
    tariff: str
    sessions: list[SessionSummary]


def _path(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError


_decoder = msgspec.json.Decoder(_Cache, dec_hook=_path)


def read_cache(folder: Path, tariff: str) -> dict[str, SessionSummary]:
    """The known summaries of a project's data folder by file name; none where prices changed."""
    try:
        cache = _decoder.decode(read_small(folder / CACHE_FILE, MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if (cache.form, cache.tariff) != (_FORM, tariff):
        return {}
    return {each.path.name: each for each in cache.sessions if each.path.parent == folder}


def write_cache(folder: Path, tariff: str, summaries: Iterable[SessionSummary]) -> None:
    """Replace what is known about a project; one that cannot be written is done without."""
    try:
        content = msgspec.json.encode(_Cache(_FORM, tariff, list(summaries)), enc_hook=str)
        write_private(folder / CACHE_FILE, content)
    except (StorageError, ValueError):  # as where the folder's own name is not UTF-8
        return
