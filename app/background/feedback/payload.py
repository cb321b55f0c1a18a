"""Exactly the bytes that leave: the draft, and of the transcript what was chosen, redacted.

Pure: the same input makes the same bytes, so that what was previewed is what is sent.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import msgspec

from app.background.feedback.drafts import Draft
from app.background.feedback.transcript import Message, Transcript
from app.plain_text import encodable
from app.sessions.envelope import VERSION
from app.sessions.records import JsonObject

if TYPE_CHECKING:
    from app.background.feedback.redact import Finding

BUDGET: Final = 1 << 20
"""Bytes of a whole report with its transcript (spec/feedback.md)."""

_SHRINKS: Final = 4
"""Times that a message may be larger than the room left: what is struck out makes it smaller, and
beyond that it is not looked at, which would take long and as good as never make it fit."""

_SESSION: Final = "session id"
_TEXTS: Final = ("title", "category", "body", "evidence")

Withheld: TypeAlias = Literal["", "other_session", "third_party"]


class Client(msgspec.Struct, frozen=True):
    """What is said about the program that reports."""

    name: str = "reverie"
    version: str = VERSION
    platform: str = sys.platform


class Choice(msgspec.Struct, frozen=True):
    """Which messages of a transcript are attached; none of it is unless this is made."""

    up_to: int | None = None
    """Number of the last message; None for all."""
    without: frozenset[int] = frozenset()
    """Numbers of messages that are left out."""

    def takes(self, message: Message) -> bool:
        """Whether the message is attached."""
        is_late = self.up_to is not None and message.number > self.up_to
        return not is_late and message.number not in self.without


class Payload(msgspec.Struct, frozen=True):
    """A report that is ready to leave, and what was done to it."""

    draft: Draft
    """As it was when this was built; a draft that was edited since is not sent."""
    data: bytes
    """The JSON, in UTF-8. What a sink makes of it is `Sink.encoded`."""
    findings: tuple[Finding, ...]
    """Secrets found, in order of the texts; restored ones are in `data`."""
    notes: tuple[str, ...]
    """What the person should know before sending, as sentences."""
    has_transcript: bool = False
    withheld: Withheld = ""
    """Why a transcript that was asked for is not attached."""
    dropped_messages: int = 0
    dropped_bytes: int = 0
    """What the budget cut off at the beginning of the transcript."""


def build(
    draft: Draft,
    transcript: Transcript | None = None,
    chosen: Choice | None = None,
    *,
    budget: int = BUDGET,
    restored: Collection[str] = (),
    client: Client | None = None,
) -> Payload:
    """The report; a transcript is attached only when one is given and `chosen`.

    It is left out, and a note says so, when it is another session's or holds third-party content.
    `budget` is for the whole report in bytes: the oldest messages go first. `restored` are keys of
    findings that stay. Takes about two seconds for each MB of text: call it in a thread.
    """
    from app.background.feedback.redact import redacted  # 17 ms of patterns that no start pays

    findings: list[Finding] = []
    report: JsonObject = {"id": draft.id, "created_at": draft.created}
    for name in _TEXTS:
        report[name], found = redacted(encodable(str(getattr(draft, name))), restored, name)
        findings += found
    report["client"] = msgspec.structs.asdict(client or Client())
    if transcript is None or chosen is None:
        return Payload(draft, _encoded(report), tuple(findings), ())
    withheld, why = _obstacle(draft, transcript)
    if withheld:
        return Payload(draft, _encoded(report), tuple(findings), (why,), withheld=withheld)
    attachment, found = _attached(transcript, chosen, budget - len(_encoded(report)), restored)
    truncated = attachment["truncated"]
    return Payload(
        draft,
        _encoded({**report, "transcript": attachment}),
        (*findings, *found),
        _cut_note(truncated["dropped_messages"], len(attachment["messages"]), budget),
        has_transcript=True,
        **truncated,
    )


def still_secret(payload: Payload) -> tuple[Finding, ...]:
    """Secrets in the bytes that nobody restored: empty for whatever `build` made."""
    from app.background.feedback.redact import redacted_value  # as in `build`

    restored = {finding.key for finding in payload.findings if finding.is_restored}
    report: dict[str, Any] = msgspec.json.decode(payload.data)
    attached = report.get("transcript", {"messages": []})
    parts = [(report[name], name) for name in _TEXTS]
    if "transcript" in report:
        parts.append((attached["session_id"], _SESSION))
    parts += [(message, _place(message["number"])) for message in attached["messages"]]
    looked = (redacted_value(part, restored, place)[1] for part, place in parts)
    return tuple(finding for found in looked for finding in found if not finding.is_restored)


def _obstacle(draft: Draft, transcript: Transcript) -> tuple[Withheld, str]:
    messages = transcript.messages
    if transcript.session_id != draft.session_id or any(m.is_of_other_session for m in messages):
        return "other_session", (
            "The transcript is left out: it is not, or not only, of the session that this draft is "
            "about."
        )
    marked = next((message for message in messages if message.third_party), None)
    if marked is not None:
        return "third_party", (
            f"The transcript is withheld: message {marked.number} is {marked.third_party}."
        )
    return "", ""


def _attached(
    transcript: Transcript, chosen: Choice, room: int, restored: Collection[str]
) -> tuple[dict[str, Any], list[Finding]]:
    """The attachment in at most `room` bytes, newest messages first, and what was found in it."""
    takes = [message for message in transcript.messages if chosen.takes(message)]
    sizes = [len(_encoded(_told(message))) for message in takes]
    from app.background.feedback.redact import redacted, redacted_value  # as in `build`

    session_id, of_id = redacted(encodable(transcript.session_id), restored, _SESSION)
    # The widest numbers that can occur, so that the cut's own record always has room.
    frame = _framed(session_id, [], len(takes), sum(sizes))
    left = room - len(_encoded(frame)) - len(',"transcript":')
    kept: list[JsonObject] = []
    findings: list[tuple[Finding, ...]] = []
    while takes and sizes[-1] <= max(left, 0) * _SHRINKS:
        told, found = redacted_value(_told(takes[-1]), restored, _place(takes[-1].number))
        size = len(_encoded(told)) + 1
        if size > left:
            break
        left -= size
        kept.append(cast("JsonObject", told))
        findings.append(found)
        takes.pop()
        sizes.pop()
    framed = _framed(session_id, kept[::-1], len(takes), sum(sizes))
    return framed, [*of_id, *(finding for found in findings[::-1] for finding in found)]


def _place(number: int) -> str:
    return f"message {number}"


def _framed(session_id: str, messages: list[JsonObject], number: int, size: int) -> dict[str, Any]:
    truncated = {"dropped_messages": number, "dropped_bytes": size}
    return {"session_id": session_id, "messages": messages, "truncated": truncated}


def _told(message: Message) -> JsonObject:
    """The message as it stands in a report, before redaction."""
    return {
        "number": message.number,
        "role": message.role,
        "at": message.at,
        "content": _encodable(message.content),
    }


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [_encodable(each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {encodable(key): _encodable(each) for key, each in members.items()}
    return value


def _cut_note(dropped: int, kept: int, budget: int) -> tuple[str, ...]:
    if not dropped:
        return ()
    if not kept:
        what = "The message is" if dropped == 1 else f"All {dropped} messages are"
        why = f": with {'it' if dropped == 1 else 'the newest'} the report would not stay"
    else:
        what = "The oldest message is" if dropped == 1 else f"The oldest {dropped} messages are"
        why = ", so that the report stays"
    return (f"{what} left out{why} under {budget} bytes.",)


def _encoded(value: object) -> bytes:
    return msgspec.json.encode(value)
