"""What the state knows of feedback drafts: enough for a list and a counter, no text of theirs."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

DraftStatus: TypeAlias = Literal["queued", "sending", "failed", "unclear"]
"""`unclear`: it may have arrived, and sending it again may make a second report."""
Ending: TypeAlias = Literal["sent", "failed", "unclear", "refused", "aborted"]


class DraftSeen(msgspec.Struct, frozen=True):
    """A draft as it lay in the outbox."""

    id: str
    title: str
    created: str
    """ISO time in UTC."""
    size: int
    """UTF-8 bytes of its texts."""
    status: DraftStatus = "queued"
    reason: str = ""
    """Why the last attempt failed, as a sentence."""
    retry_after: str = ""
    """ISO time before which the service wants no other attempt."""
    version: str = ""
    """Another one for other texts."""


class Sending(msgspec.Struct, frozen=True):
    """An attempt that goes on."""

    draft_id: str
    task_id: str
    """By which it is stopped."""
    done: int = 0
    total: int = 0
    """Bytes handed over, and all there are."""


class Attempt(msgspec.Struct, frozen=True):
    """How the last attempt ended."""

    draft_id: str
    ending: Ending
    words: str
    """What happened and what to do, as sentences."""
    number: int
    """Counts the attempts of this app, so that two of the same kind are told apart."""
    is_too_large: bool = False
    """Whether the service takes no report of this size."""
    needs_word: bool = False
    """Whether only the person's word is missing, since it may have arrived before."""


class Feedback(msgspec.Struct, frozen=True):
    """The outbox."""

    drafts: tuple[DraftSeen, ...] = ()
    """Newest first."""
    damaged: tuple[str, ...] = ()
    """Names of files that are no drafts; they are kept."""
    trouble: str = ""
    """Why the outbox cannot be put in order, as a sentence."""
    is_read: bool = False
    sending: Sending | None = None
    attempt: Attempt | None = None
