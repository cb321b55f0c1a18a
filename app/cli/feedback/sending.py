"""`reverie feedback send`: one attempt, one request, and how it ended."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import sys
from argparse import Namespace
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from app.background.feedback.configured import NoSink
from app.background.feedback.drafts import Draft, DraftNotFound
from app.background.feedback.payload import Payload
from app.background.feedback.sender import Refused, Result, send
from app.background.feedback.sinks import Failed, Sent
from app.cli.feedback.call import Call
from app.cli.feedback.report import attachment_keys, report_of, tell, wish_of
from app.cli.output import JsonObject, note, print_json, print_lines
from app.errors import ReverieError

_TOO_LARGE = 413
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class _End:
    """How the attempt ended, in the words of spec/cli.md."""

    status: str
    """`sent`, `failed`, `unclear`, `refused` or `aborted`."""
    reason: str = ""
    remote_id: str | None = None
    todo: str = ""
    code: int = 1
    retry_after: float | None = None


def send_report(call: Call, arguments: Namespace) -> int:
    """Send a draft; returns the exit code: 0 sent, 1 not, 128 and the signal's number when ended.

    Raises `UsageError` and `DraftNotFound`; whatever else keeps it from leaving is told as
    `refused`.
    """
    wish = wish_of(arguments)
    draft = call.draft(arguments.id)
    facts: JsonObject = {}
    try:
        sink = call.sink()
        payload = report_of(call, draft, wish, sink.budget)
        data = sink.encoded(payload)
        size = len(data)
        _check(data, arguments.expect)
        facts = {"notes": list(payload.notes), **attachment_keys(payload)}
        facts |= {"sink": sink.name, "target": sink.target, "bytes": size}
        tell(payload)

        def progress(done: int, total: int) -> None:
            if done == total and not call.as_json and sys.stderr.isatty():
                note(f"{total} bytes have left; waiting for {sink.target} to answer.")

        sending = send(
            call.outbox,
            payload,
            sink,
            call.here.clock,
            again=arguments.again,
            progress=progress,
        )
        end = _end_of(call, asyncio.run(_until_stopped(sending)), payload)
    except NoSink as error:
        way_out = f"`reverie feedback export {draft.id}` writes it to a file."
        end = _End("refused", str(error), todo=way_out)
    except ReverieError as error:
        end = _End("refused", str(error))
    return _tell(call, draft, end, facts)


def _check(data: bytes, expected: str | None) -> None:
    """Raises `ReverieError` when these are not the bytes that were looked at."""
    if expected is not None and hashlib.sha256(data).hexdigest() != expected.lower():
        raise ReverieError(
            "These are other bytes than expected: the draft or the session has changed.",
            todo="Look at the preview again.",
        )


async def _until_stopped(sending: Coroutine[Any, Any, Result]) -> Result | signal.Signals:
    """What comes of it, or the signal that ended it; the draft says so then."""
    task = asyncio.ensure_future(sending)
    caught: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        caught.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not caught:
            raise
        return caught[0]


def _end_of(call: Call, outcome: Result | signal.Signals, payload: Payload) -> _End:
    draft = payload.draft
    match outcome:
        case Sent():
            return _End("sent", outcome.note, outcome.remote_id, code=0)
        case Refused():
            return _End("refused", outcome.reason, todo=_again(draft) if outcome.is_unclear else "")
        case Failed():
            kept = _kept(call, draft)
            status = "unclear" if kept is not None and kept.status == "unclear" else "failed"
            todo = _again(draft) if status == "unclear" else ""
            if outcome.status == _TOO_LARGE and payload.has_transcript:
                todo = f"`reverie feedback send {draft.id}` without the transcript may work."
            return _End(status, outcome.reason, todo=todo, retry_after=outcome.retry_after)
        case _:
            now = call.outbox.get(draft.id)
            reason = "It was stopped; nothing was sent." if now == draft else now.reason
            todo = _again(draft) if now.status == "unclear" else ""
            return _End("aborted", reason, todo=todo, code=128 + outcome)


def _again(draft: Draft) -> str:
    return (
        f"Look there first; if it has not arrived, `reverie feedback send {draft.id} --again` "
        "sends it once more."
    )


def _tell(call: Call, draft: Draft, end: _End, facts: JsonObject) -> int:
    if call.as_json:
        print_json(
            {
                "id": draft.id,
                "status": end.status,
                "remote_id": end.remote_id,
                "reason": end.reason,
                "todo": end.todo or None,
                "retry_after_seconds": end.retry_after,
                "may_have_arrived": (kept := _kept(call, draft)) is not None
                and kept.may_have_arrived,
                "notes": [],
                **facts,
            }
        )
    elif end.status == "sent":
        print_lines(f"Sent as {end.remote_id}.")
    is_kept = end.status != "sent" and _kept(call, draft) is not None
    kept = f"The draft {draft.id} is kept." if is_kept else ""
    if words := " ".join(filter(None, [end.reason, kept, end.todo])):
        note(words)
    return end.code


def _kept(call: Call, draft: Draft) -> Draft | None:
    """The draft as it stands now; None when it is gone."""
    try:
        return call.outbox.get(draft.id)
    except DraftNotFound:
        return None
