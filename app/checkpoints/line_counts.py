"""How a rewind changes the lines of files: what a plan shows as + and −."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.checkpoints.blobs import BlobMissing, BlobStore
from app.checkpoints.plan import Step
from app.checkpoints.states import open_file
from app.patch import structured_patch

MOST_COMPARED = 2_000_000
"""Bytes of a file whose lines are compared; a larger one counts as no lines."""
_SAMPLE = 8_192


def count_lines(steps: Iterable[Step], store: BlobStore) -> tuple[int, int]:
    """Lines that come and lines that go when these steps are carried out."""
    insertions = deletions = 0
    for step in steps:
        for hunk in hunks_of(step, store) or ():
            insertions += sum(line.startswith("+") for line in hunk["lines"])
            deletions += sum(line.startswith("-") for line in hunk["lines"])
    return insertions, deletions


def hunks_of(step: Step, store: BlobStore) -> list[dict[str, Any]] | None:
    """What a step changes, as hunks of lines; None where the file is no text, or too large."""
    now = _text_now(step)
    then = _text_then(step, store)
    return None if now is None or then is None else structured_patch(now, then)


def _text_now(step: Step) -> str | None:
    if step.now.kind != "file":
        return ""
    if step.now.size > MOST_COMPARED:
        return None
    descriptor, _ = open_file(step.path)
    if descriptor is None:
        return ""
    with open(descriptor, "rb") as file:
        return text_of(file.read(MOST_COMPARED))


def _text_then(step: Step, store: BlobStore) -> str | None:
    if step.then.kind != "file":
        return ""
    if step.then.size > MOST_COMPARED:
        return None
    try:
        return text_of(store.read(step.blob or ""))
    except BlobMissing:
        return None


def text_of(data: bytes) -> str | None:
    """The text of these bytes, None where they are none."""
    if b"\0" in data[:_SAMPLE]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
