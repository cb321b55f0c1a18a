"""A draft as one text to be edited: title, body, and the evidence below a line of its own."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from app.background.feedback.drafts import Draft

_NAME: Final = "evidence"
_DASHES: Final = 3


class ReportText(Struct, frozen=True):
    """What the editor begins with."""

    text: str
    line: str
    """The line above the evidence; none of the draft's own lines is the same."""


def composed(draft: Draft) -> ReportText:
    """The first line is the title; an empty one follows it."""
    title = " ".join(draft.title.splitlines())
    own = {*draft.body.split("\n"), *draft.evidence.split("\n")}
    dashes = _DASHES
    while (line := f"{'-' * dashes} {_NAME} {'-' * dashes}") in own:
        dashes += 1
    evidence = f"\n\n{line}\n\n{draft.evidence}" if draft.evidence else ""
    return ReportText(f"{title}\n\n{draft.body}{evidence}", line)


def parts_of(text: str, line: str) -> tuple[str, str, str]:
    """Title, body and evidence of an edited text; nothing of it is dropped but the blank lines
    that `composed` has put in.
    """
    title, _, rest = text.partition("\n")
    rest = rest.removeprefix("\n")
    lines = rest.split("\n")
    if line not in lines:
        return title, rest, ""
    at = lines.index(line)
    body, evidence = "\n".join(lines[:at]), "\n".join(lines[at + 1 :])
    return title, body.removesuffix("\n"), evidence.removeprefix("\n")
