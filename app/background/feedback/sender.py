"""One attempt to send one draft: queued → sending → sent, failed or unclear.

The draft says `sending` on disk before the first byte leaves and is deleted only after the
service's yes. What a crash leaves behind is settled by the outbox (`Outbox.listing`): where the
sink knows drafts by their id another attempt is safe, elsewhere the person decides.
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from app.background.feedback.drafts import Draft, has_same_texts, wait_left
from app.background.feedback.outbox import Outbox
from app.background.feedback.payload import Payload, still_secret
from app.background.feedback.sinks import Failed, Outcome, Progress, Sent, Sink
from app.clock import Clock, timestamp
from app.errors import ReverieError, StorageError
from app.models.retry import wait_in_words

CANCELLED: Final = Failed(
    "The attempt was cancelled. The report may have arrived all the same.", is_unclear=True
)


class Refused(msgspec.Struct, frozen=True):
    """Nothing left this machine, and the draft is as it was."""

    reason: str
    is_unclear: bool = False
    """Whether only the person's word (`again`) is missing, since it may have arrived before."""


class _NotNow(ReverieError):
    """The attempt may not be made."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.reason)
        self.refused = refused


Result: TypeAlias = Sent | Failed | Refused


def _silent(done: int, total: int) -> None:
    pass


async def send(
    outbox: Outbox,
    payload: Payload,
    sink: Sink,
    clock: Clock,
    *,
    again: bool = False,
    progress: Progress = _silent,
) -> Result:
    """Send what was previewed, `sink.encoded(payload)`, in one request.

    `again` is the person's word that a report which may have arrived is sent once more. Refused
    are a draft that was edited since the payload was built, a payload with a secret that nobody
    restored, a service's `retry-after` that is not over, and a draft that another process sends.
    Cancelling notes that the end is unknown. Raises DraftNotFound, and `StorageError` when the
    draft cannot be marked; nothing was sent then.
    """
    found = await asyncio.to_thread(still_secret, payload)
    if found:
        return Refused(
            f"There is still a {found[0].kind} in {found[0].place}. Look at the report again."
        )

    def marked(draft: Draft) -> Draft:
        _refuse(draft, payload, sink, clock, again=again)
        return replace(
            draft,
            status="sending",
            reason="",
            at=timestamp(clock.now()),
            retry_after="",
            sink=sink.name,
            target=sink.target,
            is_idempotent=sink.is_idempotent,
        )

    try:
        with outbox.sending(payload.draft.id, marked) as draft:
            return await _attempt(outbox, draft, payload, sink, clock, progress)
    except _NotNow as refusal:
        return refusal.refused


async def _attempt(
    outbox: Outbox, draft: Draft, payload: Payload, sink: Sink, clock: Clock, progress: Progress
) -> Outcome:
    try:
        outcome = await sink.send(payload, progress)
    except asyncio.CancelledError:
        with contextlib.suppress(StorageError):  # then the outbox settles it, as after a crash
            outbox.finish(_after(draft, CANCELLED, clock))
        raise
    return _noted(outbox, draft, outcome, clock)


def _noted(outbox: Outbox, draft: Draft, outcome: Outcome, clock: Clock) -> Outcome:
    """The outcome, written down; where that fails it says so and the outbox settles it later."""
    try:
        if isinstance(outcome, Failed):
            outbox.finish(_after(draft, outcome, clock))
        else:
            outbox.sent(draft, outcome.remote_id)
    except StorageError as error:
        if isinstance(outcome, Failed):
            return replace(outcome, reason=f"{outcome.reason} {error}")
        return replace(outcome, note=f"It was sent, but that could not be noted. {error}")
    return outcome


def _after(draft: Draft, failed: Failed, clock: Clock) -> Draft:
    now = clock.now()
    wait = failed.retry_after
    # What may have arrived once stays so, until a yes.
    doubtful = failed.is_unclear or draft.may_have_arrived
    return replace(
        draft,
        status="unclear" if doubtful and not draft.is_idempotent else "failed",
        reason=failed.reason,
        at=timestamp(now),
        retry_after="" if wait is None else timestamp(now + timedelta(seconds=wait)),
        may_have_arrived=doubtful,
    )


def _refuse(draft: Draft, payload: Payload, sink: Sink, clock: Clock, *, again: bool) -> None:
    """Raises `_NotNow` when this draft may not be sent there now."""
    if not has_same_texts(draft, payload.draft):
        raise _NotNow(Refused("The draft was changed since it was shown. Look at it again."))
    wait = wait_left(draft, clock.now())
    if wait > 0 and draft.target == sink.target:
        words = wait_in_words(wait)
        raise _NotNow(Refused(f"The service asked to wait; {words} are left. Send it then."))
    is_same = (draft.sink, draft.target) == (sink.name, sink.target)
    is_safe = is_same and sink.is_idempotent
    if draft.may_have_arrived and not is_safe and not again:
        place = draft.target or "the service"
        raise _NotNow(
            Refused(
                f"It may have arrived at {place} already. Look there; if it has not, say that it "
                "is to be sent again.",
                is_unclear=True,
            )
        )
