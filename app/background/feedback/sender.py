"""One attempt to send one draft: queued → sending → sent, failed or unclear.

The draft says `sending` on disk before the first byte leaves and is deleted only after the
service's yes. What a crash leaves behind is settled by the outbox (`Outbox.listing`): where the
sink knows reports by their key another attempt with the same bytes is safe, elsewhere the person
decides.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from datetime import timedelta
from functools import partial
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from app.background.feedback.drafts import Draft, has_same_texts, wait_left
from app.background.feedback.holding import holding, to_its_end
from app.background.feedback.outbox import Outbox
from app.background.feedback.payload import Payload, still_secret
from app.background.feedback.sinks import Failed, Outcome, Progress, Sent, Sink
from app.clock import Clock, timestamp
from app.errors import ReverieError, StorageError
from app.models.retry import wait_in_words

_OPEN: Final = "The report may have arrived all the same."
_NOTHING_LEFT: Final = "Nothing left this machine."
CANCELLED: Final = Failed(f"The attempt was cancelled. {_OPEN}", is_unclear=True)
STOPPED: Final = Failed(f"The attempt was cancelled. {_NOTHING_LEFT}")
_TAKEN: Final = "The service already has a report under this id, which may be another one."
_TAKEN_STATUS: Final = 409
_WAYS_ON: Final = "It can be sent again as a second report, or discarded."
_DIGITS: Final = 12
"""Of the digest in the key of a second report."""


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


class _Attempt:
    """One attempt: what goes where, and the draft before and while it is made."""

    def __init__(self, payload: Payload, sink: Sink, clock: Clock, digest: str) -> None:
        self.payload = payload
        self.sink = sink
        self.before = payload.draft
        self.draft = payload.draft
        self._clock = clock
        self._digest = digest

    def mark(self, draft: Draft, *, again: bool) -> Draft:
        """The draft as it is while it is sent. Raises `_NotNow` when it may not be."""
        self._refuse(draft, again=again)
        self.before = draft
        self.draft = replace(
            draft,
            status="sending",
            reason="",
            at=timestamp(self._clock.now()),
            retry_after="",
            sink=self.sink.name,
            target=self.sink.target,
            is_idempotent=self.sink.is_idempotent,
            attempted=self._digest,
            attempted_key=self._key(draft),
            attempted_sink=self.sink.name,
            attempted_target=self.sink.target,
        )
        return self.draft

    def judged(self, outcome: Outcome) -> Outcome:
        """The outcome; where the key turns out to be another report's it is no yes."""
        is_own = self.before.attempted == self._digest or self.draft.attempted_key != self.draft.id
        if is_own or not self.sink.is_idempotent:
            return outcome
        if isinstance(outcome, Sent):
            taken = Failed(f"{_TAKEN} {_WAYS_ON}", is_unclear=True)
            return self._taken(taken) if outcome.is_duplicate else outcome
        if outcome.status == _TAKEN_STATUS:
            return self._taken(replace(outcome, reason=f"{outcome.reason} {_WAYS_ON}"))
        return outcome

    def _taken(self, failed: Failed) -> Failed:
        # What is there is not what was sent now, so these bytes get a key of their own.
        self.draft = replace(self.draft, attempted="", may_have_arrived=True)
        self.before = self.draft
        return failed

    def failed(self, failed: Failed) -> Draft:
        """The draft after the attempt ended like this."""
        now = self._clock.now()
        wait = failed.retry_after
        # What may have arrived once stays so, until a yes.
        doubtful = failed.is_unclear or self.before.may_have_arrived
        known = self.draft
        if not doubtful:
            known = replace(
                known, attempted="", attempted_key="", attempted_sink="", attempted_target=""
            )
        elif not failed.is_unclear:
            known = self.before
        return replace(
            known,
            status="unclear" if doubtful and not known.is_idempotent else "failed",
            reason=failed.reason,
            at=timestamp(now),
            retry_after="" if wait is None else timestamp(now + timedelta(seconds=wait)),
            sink=self.sink.name,
            target=self.sink.target,
            may_have_arrived=doubtful,
        )

    def _key(self, draft: Draft) -> str:
        if not draft.may_have_arrived:
            return draft.id
        if draft.attempted == self._digest:
            return draft.attempted_key
        # Under the key of the text that may be there these words would be taken for that one.
        return f"{draft.id}-{self._digest[:_DIGITS]}"

    def _refuse(self, draft: Draft, *, again: bool) -> None:
        if not has_same_texts(draft, self.payload.draft):
            raise _NotNow(Refused("The draft was changed since it was shown. Look at it again."))
        wait = wait_left(draft, self._clock.now())
        if wait > 0 and draft.target == self.sink.target:
            words = wait_in_words(wait)
            raise _NotNow(Refused(f"The service asked to wait; {words} are left. Send it then."))
        if again or not draft.may_have_arrived:
            return
        sink, target = draft.attempted_sink or draft.sink, draft.attempted_target or draft.target
        is_known = (sink, target) == (self.sink.name, self.sink.target) and self.sink.is_idempotent
        if not is_known:
            raise _NotNow(
                Refused(
                    f"It may have arrived at {target or 'the service'} already. Look there; if it "
                    "has not, say that it is to be sent again.",
                    is_unclear=True,
                )
            )
        if draft.attempted != self._digest:
            raise _NotNow(
                Refused(
                    f"An earlier text of it may have arrived at {target} already. Look there; if "
                    "it is sent again, it is a second report.",
                    is_unclear=True,
                )
            )


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

    `again` is the person's word that a report which may have arrived is sent once more; it makes a
    second report of bytes that differ from those that may have. Refused are a draft that was edited
    since the payload was built, a payload with a secret that nobody restored, settings under which
    nothing may be sent, a service's `retry-after` that is not over, and a draft that another
    process sends. Where it is cancelled the draft says whether a byte may have left; once there is
    an answer a cancel is too late. Raises DraftNotFound, and `StorageError` when the draft cannot
    be marked; nothing was sent then.
    """
    found = await asyncio.to_thread(still_secret, payload)
    if found:
        return Refused(
            f"There is still a {found[0].kind} in {found[0].place}. Look at the report again."
        )
    if fault := sink.fault(payload):
        return Refused(fault)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(sink.encoded(payload)).hexdigest())
    attempt = _Attempt(payload, sink, clock, digest)
    try:
        mark = partial(attempt.mark, again=again)
        async with holding(outbox, payload.draft.id, mark):
            return await _made(outbox, attempt, progress)
    except _NotNow as refusal:
        return refusal.refused


async def _made(outbox: Outbox, attempt: _Attempt, progress: Progress) -> Outcome:
    has_begun = False

    def watched(done: int, total: int) -> None:
        nonlocal has_begun
        has_begun = True
        progress(done, total)

    try:
        outcome = await attempt.sink.send(attempt.payload, watched, attempt.draft.attempted_key)
    except BaseException as error:  # a cancel too: whatever ends it, the draft must say how
        end = _end(error, has_begun=has_begun)
        with contextlib.suppress(StorageError):  # then the outbox settles it, as after a crash
            await to_its_end(outbox.finish, attempt.failed(end))
        raise
    return await _noted(outbox, attempt, attempt.judged(outcome))


def _end(error: BaseException, *, has_begun: bool) -> Failed:
    """What an attempt that did not come back is called."""
    if not isinstance(error, asyncio.CancelledError):
        what = f"The attempt broke off by a fault of this program ({type(error).__name__})."
        return Failed(f"{what} {_OPEN if has_begun else _NOTHING_LEFT}", is_unclear=has_begun)
    return CANCELLED if has_begun else STOPPED


async def _noted(outbox: Outbox, attempt: _Attempt, outcome: Outcome) -> Outcome:
    """The outcome, written down; where that fails it says so and the outbox settles it later."""
    try:
        if isinstance(outcome, Failed):
            await to_its_end(outbox.finish, attempt.failed(outcome))
        else:
            await to_its_end(outbox.sent, attempt.draft, outcome.remote_id)
    except StorageError as error:
        if isinstance(outcome, Failed):
            return replace(outcome, reason=f"{outcome.reason} {error}")
        return replace(outcome, note=f"It was sent, but that could not be noted. {error}")
    return outcome
