"""What the screen of feedback lists, as cells: drafts, messages of a transcript, secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from rich.cells import cell_len

from app.background.feedback.drafts import Draft
from app.background.feedback.payload import Choice
from app.background.feedback.redact import Finding
from app.background.feedback.transcript import Message
from app.plain_text import plain_line
from app.state.feedback import DraftSeen, Feedback, Sending
from widgets.cells import Cell, cut_cells
from widgets.dreams.dream_rows import count_in_words, moment_of
from widgets.glyphs import Glyphs

WHEN, STATUS = 13, 15
"""Cells of the columns of the list."""
LEAST_TITLE: Final = 14
"""Cells of a title for which the moment gives way."""
LEAST_WHEN: Final = 70
"""Cells of a message's line below which its moment gives way."""
PLACE: Final = 14
"""Cells of the place of a secret."""
MOST_SECRET: Final = 48
"""Cells of a secret that are shown."""
ROLES: Final = {"user": ("you", "user"), "assistant": ("assistant", "tool")}


def bytes_in_words(count: int) -> str:
    """`1 284 bytes`."""
    return f"{count:,} byte{'' if count == 1 else 's'}".replace(",", " ")


def share_in_words(sending: Sending) -> str:
    """`sending 45 %`."""
    return f"sending {sending.done * 100 // max(sending.total, 1)} %"


def status_cell(draft: DraftSeen, sending: Sending | None) -> Cell:
    """How a draft stands; whatever went wrong with it, it is still queued."""
    if sending is not None and sending.draft_id == draft.id:
        return share_in_words(sending), "accent"
    if draft.status == "sending":
        return "being sent", "accent"
    if draft.status == "failed":
        return "queued, failed", "error"
    return ("queued, unclear", "warn") if draft.status == "unclear" else ("queued", "muted")


def draft_cells(
    draft: DraftSeen,
    sending: Sending | None,
    width: int,
    now: datetime,
    glyphs: Glyphs,
    *,
    chosen: bool,
) -> list[Cell]:
    """A draft as one line."""
    status, colour = status_cell(draft, sending)
    room = width - 2 - STATUS
    when = f"{moment_of(draft.created, now):<{WHEN}}" if room - WHEN >= LEAST_TITLE else ""
    room = max(room - len(when), 1)
    title = f"“{plain_line(draft.title).strip() or 'no title yet'}”"
    shown = cut_cells(title, room - 1, glyphs.more)
    return [
        (f"{glyphs.folded if chosen else ' '} ", "accent"),
        (shown + " " * max(room - cell_len(shown), 0), "text"),
        (when, "muted"),
        (status, colour),
    ]


def about_lines(
    draft: Draft, seen: DraftSeen | None, now: datetime, *, is_sending: bool
) -> list[Cell]:
    """What is told of a draft above its text, a line each."""
    facts = [
        moment_of(draft.created, now),
        plain_line(draft.category),
        f"session {draft.session_id[:8]}" if draft.session_id else "about no session",
        bytes_in_words(draft.size),
    ]
    lines: list[Cell] = [(" · ".join(fact for fact in facts if fact), "muted")]
    if is_sending or (seen is not None and seen.status == "sending"):
        lines.append(("being sent", "accent"))
    elif seen is not None and seen.reason:
        when = moment_of(draft.at, now)
        words = f"queued; not sent{f' at {when}' if when else ''}: {plain_line(seen.reason)}"
        until = moment_of(seen.retry_after, now)
        lines.append((f"{words}{f' Not before {until}.' if until else ''}", "warn"))
        if draft.may_have_arrived and "may have arrived" not in seen.reason:
            place = plain_line(draft.attempted_target)
            at = f" at {place}" if place else ""
            lines.append((f"An earlier attempt may have arrived{at} all the same.", "warn"))
    return lines


def found_in_words(findings: Sequence[Finding]) -> str:
    """`found: 1 token, 2 e-mail addresses (struck out); left in: 1 home path`."""
    if not findings:
        return "found: no secret"
    struck = _counted([each for each in findings if not each.is_restored])
    kept = _counted([each for each in findings if each.is_restored])
    parts = [f"{struck} (struck out)" if struck else "", f"left in: {kept}" if kept else ""]
    return f"found: {'; '.join(part for part in parts if part)}"


def _counted(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.kind for finding in findings)
    return ", ".join(f"{count} {_several(kind, count)}" for kind, count in counts.items())


def _several(kind: str, count: int) -> str:
    if count == 1 or " of " in kind:
        return kind
    return f"{kind}{'es' if kind.endswith('s') else 's'}"


def finding_cells(
    finding: Finding, width: int, glyphs: Glyphs, *, chosen: bool, is_kept: bool
) -> list[Cell]:
    """A secret as one line; the mark says whether it is struck out or kept."""
    mark, colour = ("[ ] ", "warn") if is_kept else ("[x] ", "removed")
    place = f"{cut_cells(plain_line(finding.place), PLACE - 1, glyphs.more):<{PLACE}}"
    kind = f"{plain_line(finding.kind)}  "
    room = min(max(width - 6 - PLACE - len(kind), 1), MOST_SECRET)
    secret = cut_cells(plain_line(finding.secret), room, glyphs.more)
    return [
        (f"{glyphs.prompt if chosen else ' '} ", "accent"),
        (mark, "text"),
        (place, "muted"),
        (kind, "text"),
        (secret, colour),
    ]


def message_cells(
    message: Message,
    choice: Choice,
    width: int,
    now: datetime,
    glyphs: Glyphs,
    *,
    chosen: bool,
    cut: str,
) -> list[Cell]:
    """A message of the transcript as one line; `cut` is why it does not go along all the same."""
    takes = choice.takes(message)
    who, colour = ROLES.get(message.role, (message.role, "text"))
    lead = f"{message.number:>4}  {moment_of(message.at, now):<{WHEN}}"
    if width < LEAST_WHEN:
        lead = f"{message.number:>4}  "
    note = f"{cut}  " if cut and takes else ""
    room = max(width - 6 - len(lead) - 11 - len(note), 1)
    words = cut_cells(message_in_words(message), room, glyphs.more)
    return [
        (f"{glyphs.prompt if chosen else ' '} ", "accent"),
        ("[x] " if takes else "[ ] ", "text"),
        (lead, "muted"),
        (f"{who:<11}", colour if takes else "muted"),
        (note, "warn"),
        (words, "text" if takes and not cut else "muted"),
    ]


def message_in_words(message: Message) -> str:
    """The first of what a message says or does, on one line."""
    for block in message.content:
        if block.get("type") == "text" and str(block.get("text", "")).strip():
            return plain_line(str(block["text"])).strip()
        if block.get("type") == "tool_use":
            return f"calls {plain_line(str(block.get('name')))}"
        if block.get("type") == "tool_result":
            return "result of a tool"
    return plain_line(message.third_party) or "nothing that could be told"


def head_words(feedback: Feedback) -> str:
    """How many drafts there are."""
    return count_in_words(len(feedback.drafts), "draft") if feedback.is_read else ""
