"""A feedback draft: what it says, how large it may be, and when it may be sent again."""

from __future__ import annotations

import re
import secrets
from datetime import datetime, timedelta
from typing import Final

import msgspec

from app.clock import Clock, timestamp
from app.errors import ReverieError
from app.plain_text import encodable
from app.state.feedback import DraftStatus

MOST_BYTES: Final = 32_768
"""UTF-8 bytes of a draft's own texts (spec/feedback.md)."""
MOST_DRAFTS: Final = 10
"""Drafts kept; the oldest leaves first (spec/feedback.md)."""
LIFETIME: Final = timedelta(days=30)
"""How long a draft is kept (spec/feedback.md)."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class DraftTooLarge(ReverieError):
    """The texts of a draft are longer than the limit, which the sentence names."""


class DraftNotFound(ReverieError):
    """No draft has this id: it was sent, discarded or never made."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """One report that waits for its person; one JSON file in the outbox."""

    id: str
    """Also the idempotency key of an attempt to send it, but for a second report of it."""
    created: str
    """ISO time in UTC."""
    title: str
    body: str
    category: str = ""
    evidence: str = ""
    session_id: str = ""
    """The session it is about; empty when it is about none."""
    project: str = ""
    """The folder of that session; it never leaves the machine."""
    status: DraftStatus = "queued"
    reason: str = ""
    """Why the last attempt failed, as a sentence."""
    at: str = ""
    """ISO time of the last attempt or of its end."""
    retry_after: str = ""
    """ISO time before which the service wants no other attempt."""
    sink: str = ""
    target: str = ""
    """Where the last attempt went to: an address, a repository or a file."""
    is_idempotent: bool = False
    """Whether the sink of the attempt that may have arrived, else of the last one, takes the same
    draft only once."""
    may_have_arrived: bool = False
    """Whether an attempt ended without a clear yes or no, and none with a yes."""
    attempted: str = ""
    """SHA-256 in hex of the bytes that may have arrived; empty where none are known."""
    attempted_key: str = ""
    """The idempotency key they went under."""
    attempted_sink: str = ""
    attempted_target: str = ""
    """Where they may have arrived; `target` where it is empty."""

    @property
    def size(self) -> int:
        """UTF-8 bytes of the texts that count against the limit."""
        texts = (self.title, self.category, self.body, self.evidence)
        return sum(len(text.encode("utf-8", "replace")) for text in texts)


def new_draft(
    clock: Clock,
    title: str,
    body: str,
    *,
    category: str = "",
    evidence: str = "",
    session_id: str = "",
    project: str = "",
) -> Draft:
    """A queued draft with a new id. Raises DraftTooLarge."""
    draft = Draft(
        id=f"fb-{secrets.token_hex(8)}",
        created=timestamp(clock.now()),
        title=title,
        body=body,
        category=category,
        evidence=evidence,
        session_id=session_id,
        project=project,
    )
    return checked(draft)


def checked(draft: Draft) -> Draft:
    """The draft with lone surrogates made encodable. Raises DraftTooLarge."""
    draft = msgspec.structs.replace(
        draft,
        **{
            name: encodable(getattr(draft, name))
            for name in ("title", "category", "body", "evidence", "session_id", "project")
        },
    )
    if draft.size > MOST_BYTES:
        raise DraftTooLarge(
            f"The report has {draft.size} bytes; the limit is {MOST_BYTES}.",
            kept="Nothing was stored.",
            todo="Shorten it.",
        )
    return draft


def has_same_texts(one: Draft, other: Draft) -> bool:
    """Whether two versions of a draft would be read as the same report."""
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("id", "created", "title", "category", "body", "evidence", "session_id")
    )


def is_draft_id(text: str) -> bool:
    """Whether it can be a draft's id, and so a part of a file's name."""
    return _ID.fullmatch(text) is not None


def moment(text: str) -> datetime | None:
    """The ISO time with a zone in `text`, None when it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def wait_left(draft: Draft, now: datetime) -> float:
    """Seconds until the service wants another attempt; 0 when it may be made.

    A clock that was set back before the attempt was made holds nothing up.
    """
    until, since = moment(draft.retry_after), moment(draft.at)
    if until is None or since is None or now < since:
        return 0.0
    return max((until - now).total_seconds(), 0.0)
