"""The report as it would leave: what was chosen for it, and what is told about it.

`preview`, `send` and `export` take the same flags, so that the same flags make the same bytes.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from app.background.feedback.drafts import Draft
from app.background.feedback.payload import Choice, Payload, build
from app.background.feedback.redact import Finding
from app.background.feedback.transcript import Transcript
from app.background.feedback.transcript import read_transcript as messages_of
from app.cli.feedback.call import Call
from app.cli.output import JsonObject, note
from app.cli.parser import Parser, positive_number
from app.cli.transcript import locate, read_transcript
from app.errors import ReverieError, UsageError

_SHOWN = 4
"""Characters of a secret that are shown, at most; they are never more than a quarter of it."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What goes along with a draft's own texts."""

    session: str | None
    """An id or a file; None for no transcript."""
    choice: Choice
    restored: tuple[str, ...]
    """Keys of secrets that are to leave."""


def add_wishes(action: Parser) -> None:
    """Give an action the flags that choose what leaves."""
    action.add_argument(
        "--attach-transcript", metavar="ID|FILE", help="attach the draft's session; off unless set"
    )
    action.add_argument(
        "--up-to", type=positive_number, metavar="N", help="only the messages up to this one"
    )
    action.add_argument(
        "--without",
        type=numbers,
        action="extend",
        default=[],
        metavar="N,N",
        help="leave these messages out",
    )
    action.add_argument(
        "--restore",
        action="extend",
        type=lambda text: text.split(","),
        default=[],
        metavar="KEY,KEY",
        help="let these secrets leave; `show` and `preview --json` name the keys",
    )


def numbers(text: str) -> list[int]:
    """`3,5` as numbers. Raises `ValueError`."""
    return [positive_number(part) for part in text.split(",")]


def wish_of(arguments: Namespace) -> Wish:
    """What the flags ask for. Raises `UsageError`."""
    session: str | None = arguments.attach_transcript
    if session is None and (arguments.up_to is not None or arguments.without):
        raise UsageError("--up-to and --without choose messages: name a session too.")
    choice = Choice(arguments.up_to, frozenset(arguments.without))
    return Wish(session, choice, tuple(arguments.restore))


def report_of(call: Call, draft: Draft, wish: Wish, budget: int) -> Payload:
    """The report in at most `budget` bytes.

    Raises `SessionNotFound`, and `ReverieError` for a file that is no transcript and for a message
    that is to be left out and does not exist.
    """
    transcript = None if wish.session is None else _transcript(call, wish.session)
    payload = build(
        draft, transcript, transcript and wish.choice, budget=budget, restored=wish.restored
    )
    if transcript is not None and payload.has_transcript:
        _check_numbers(transcript, wish.choice.without)
    unknown = set(wish.restored) - {finding.key for finding in payload.findings}
    more = tuple(f"No secret in this report has the key {key}." for key in sorted(unknown))
    return replace(payload, notes=payload.notes + more)


def _transcript(call: Call, session: str) -> Transcript:
    found = read_transcript(locate(call.here, session))
    return messages_of(found.session_id, found.view)


def _check_numbers(transcript: Transcript, without: Iterable[int]) -> None:
    unknown = sorted(set(without) - {message.number for message in transcript.messages})
    if unknown:
        raise ReverieError(
            f"--without {unknown[0]}: the transcript has {len(transcript.messages)} messages.",
            kept="Nothing was sent.",
            todo="`reverie feedback preview` shows their numbers.",
        )


def tell(payload: Payload) -> None:
    """Say on stderr what a person should know of a report before it leaves."""
    for sentence in payload.notes:
        note(sentence)
    struck = sum(not finding.is_restored for finding in payload.findings)
    if struck:
        what = "secret is" if struck == 1 else "secrets are"
        note(f"{struck} {what} struck out; `preview --json` names them, --restore KEY keeps one.")
    for finding in payload.findings:
        if finding.is_restored:
            note(f"Restored, so it is in the report: {finding.kind} in {finding.place}.")


def secret_row(finding: Finding) -> JsonObject:
    """A secret that was found, never the whole of it."""
    return {
        "key": finding.key,
        "kind": finding.kind,
        "place": finding.place,
        "begins": begins(finding),
        "restored": finding.is_restored,
    }


def begins(finding: Finding) -> str:
    """As much of a secret as tells its owner which one it is."""
    return f"{finding.secret[: min(_SHOWN, len(finding.secret) // 4)]}…"


def attachment_keys(payload: Payload) -> JsonObject:
    """What became of the transcript."""
    return {
        "has_transcript": payload.has_transcript,
        "withheld": payload.withheld or None,
        "dropped_messages": payload.dropped_messages,
        "dropped_bytes": payload.dropped_bytes,
    }
