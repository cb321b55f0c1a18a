"""A draft as one text to be edited: title, body, and the evidence below a line of its own."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from app.background.feedback.drafts import Draft
from app.memory.edit_text import Shape, shown, stored

_NAME: Final = "evidence"
_DASHES: Final = 3


class ReportText(Struct, frozen=True):
    """What the editor begins with."""

    text: str = ""
    line: str = ""
    """The line above the evidence; none of the draft's own lines is the same."""
    shape: Shape = Shape()
    """What is not seen of it: how its lines end, and which characters cannot be shown."""


def composed(draft: Draft) -> ReportText:
    """The first line is the title; an empty one follows it where anything does."""
    title = " ".join(draft.title.splitlines())
    own = {*draft.body.splitlines(), *draft.evidence.splitlines()}
    dashes = _DASHES
    while (line := f"{'-' * dashes} {_NAME} {'-' * dashes}") in own:
        dashes += 1
    parts = [title]
    if draft.body or draft.evidence:
        parts += ["", draft.body]
    if draft.evidence:
        parts += ["", line, "", draft.evidence]
    ends = [text.count("\r\n") for text in parts], [text.count("\n") for text in parts]
    text, shape = shown(("\r\n" if any(ends[0]) and ends[0] == ends[1] else "\n").join(parts))
    return ReportText(text, line, shape)


def parts_of(text: str, report: ReportText) -> tuple[str, str, str]:
    """Title, body and evidence of an edited text; nothing of it is dropped but the blank lines
    that `composed` has put in.
    """
    end = "\r\n" if report.shape.is_crlf else "\n"
    title, _, rest = stored(text, report.shape).partition(end)
    rest = rest.removeprefix(end)
    lines = rest.split(end)
    if report.line not in lines:
        return title, rest, ""
    at = lines.index(report.line)
    body, evidence = end.join(lines[:at]), end.join(lines[at + 1 :])
    return title, body.removesuffix(end), evidence.removeprefix(end)
