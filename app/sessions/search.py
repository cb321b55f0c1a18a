"""Search over the titles and the full text of many sessions, hits as they are found.

A session's bytes are scanned for the rarest part of what is sought; only lines that hold it are
decoded. What counts is what people see: prompts, replies, tool calls and their results.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

from app.sessions.codec import parse_transcript
from app.sessions.glance import SessionSummary
from app.sessions.prompts import blocks_of, content_of, user_kind
from app.sessions.records import JsonObject, Record

SNIPPET = 120
"""Characters of text around a hit."""
MOST_HITS = 20
"""Hits in one session, so that a common word does not bury the other sessions."""

_BLOCK = 1 << 20
_NEVER_ESCAPED = re.compile(r"[A-Za-z0-9_.,:;()\[\]{}=*#@!$%^~|?-]+")

Role: TypeAlias = Literal["title", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that holds everything that was sought; uuid empty for a title."""

    session_id: str
    path: Path
    uuid: str
    role: Role
    snippet: str
    at: tuple[int, int]
    """Where in the snippet the first word stands."""


class Query:
    """Words that must all occur in one message, in any order and case."""

    def __init__(self, text: str) -> None:
        self.words = tuple(dict.fromkeys(_fold(text).split()))
        self._needles = _needles(self.words)
        self._plain = tuple(run.encode() for word in self.words for run in _runs(word))

    def holds(self, text: str) -> bool:
        """Whether a text has all words."""
        folded = _fold(text)
        return bool(self.words) and all(word in folded for word in self.words)

    def place(self, text: str) -> tuple[int, int] | None:
        """Where the first word stands in a text."""
        start = _fold(text).find(self.words[0]) if self.words else -1
        return None if start < 0 else (start, start + len(self.words[0]))

    def lines(self, content: bytes) -> Iterator[bytes]:
        """Lines that may hold all words: every line that does is among them."""
        lowered = content.lower()
        end = 0
        while end < len(content):
            found = [p for needle in self._needles if (p := lowered.find(needle, end)) >= 0]
            if not found:
                return
            start = content.rfind(b"\n", 0, min(found)) + 1
            stop = content.find(b"\n", min(found))
            end = len(content) if stop < 0 else stop + 1
            if all(lowered.find(run, start, end) >= 0 for run in self._plain):
                yield content[start:end]


_ALIKE = {"ς": "σ", "ẞ": "ß", "\u2126": "ω", "\u212b": "å", "µ": "μ"}
"""Letters that people take for the same, beside those that are the capitals of others."""


class _Folding(dict[int, int]):
    """Each character without its case.

    Only such as `_cases` leads back to; above all none but ASCII becomes ASCII (`İ` no `i`),
    since of that the bytes of a line are asked.
    """

    def __missing__(self, code: int) -> int:
        character = chr(code)
        lower = _ALIKE.get(character) or character.lower()
        known = len(lower) == 1 and character in _cases(lower)
        self[code] = ord(lower) if known else code
        return self[code]


_folding = _Folding()


def _fold(text: str) -> str:
    """The text without case, character by character, so that places stay what they are."""
    return text.lower() if text.isascii() else text.translate(_folding)


def _cases(character: str) -> set[str]:
    """All that a character without case may stand for."""
    alike = {other for other, same in _ALIKE.items() if same == character}
    return {character, character.upper(), *alike}


def _runs(word: str) -> list[str]:
    """The parts of a word that every writer of JSON leaves as they are."""
    return _NEVER_ESCAPED.findall(word)


def _needles(words: tuple[str, ...]) -> tuple[bytes, ...]:
    """Bytes, in lower case, of which a line must hold one to hold all words."""
    runs = [run for word in words for run in _runs(word)]
    if runs:
        return (max(runs, key=len).encode(),)
    if not words:
        return ()
    start = max(words, key=len)[:2]
    cases = itertools.product(*(_cases(c) for c in start))
    forms = {form for each in cases for form in _json_forms("".join(each))}
    return tuple(sorted(form.encode("utf-8", "surrogatepass").lower() for form in forms))


def _json_forms(text: str) -> set[str]:
    """How a text may stand in a JSON string."""
    escaped = "".join(f"\\u{unit:04x}" for unit in _utf16(text))
    short = json.dumps(text, ensure_ascii=False)[1:-1]
    return {short, json.dumps(text)[1:-1], escaped, short.replace("/", "\\/")}


def _utf16(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))


def search_sessions(
    sessions: Iterable[SessionSummary], text: str, missed: set[Path] | None = None
) -> Iterator[Hit]:
    """Hits in titles and first prompts, then in full texts, session by session.

    Transcripts that could not be read to their end are put into `missed`.
    """
    query, known = Query(text), list(sessions)
    missed = set() if missed is None else missed
    for session in known:
        hit = search_title(session, query)
        if hit is not None:
            yield hit
    for session in known:
        yield from search_text(session, query, missed)


def search_title(session: SessionSummary, query: Query) -> Hit | None:
    """The hit in a session's title or first prompt."""
    for text in (session.title, session.first_prompt):
        at = query.place(text)
        if at is not None and query.holds(text):
            return _hit(session, "", "title", text, at)
    return None


def search_text(
    session: SessionSummary, query: Query, missed: set[Path], *, most: int = MOST_HITS
) -> Iterator[Hit]:
    """Hits in a session's messages in file order, at most so many.

    A file that is gone has none; one that cannot be read to its end is put into `missed`.
    """
    found = 0
    try:
        for line in _candidates(session.path, query):
            for record in parse_transcript(line).records:
                hit = _hit_in(session, record, query, missed)
                if hit is not None:
                    yield hit
                    found += 1
                    if found == most:
                        return
    except FileNotFoundError:
        return
    except OSError:
        missed.add(session.path)


def _candidates(file: Path, query: Query) -> Iterator[bytes]:
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            yield from query.lines(block + content.readline())


def _hit_in(session: SessionSummary, record: Record, query: Query, missed: set[Path]) -> Hit | None:
    if record.sidechain:
        return None
    try:
        seen = list(seen_texts(record))
    except (ValueError, RecursionError):  # what one record hides does not hide the others
        missed.add(session.path)
        return None
    if not query.holds("\n".join(text for _, text in seen)):
        return None
    for role, text in seen:
        at = query.place(text)
        if at is not None:
            return _hit(session, record.uuid or "", role, text, at)
    return None


def _hit(session: SessionSummary, uuid: str, role: Role, text: str, at: tuple[int, int]) -> Hit:
    snippet, place = _snippet(text, at)
    return Hit(session.session_id, session.path, uuid, role, snippet, place)


def _snippet(text: str, at: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    start, stop = at
    margin = max(SNIPPET - (stop - start), 0) // 3
    first = max(start - margin, 0)
    before = ("…" if first else "") + " ".join(text[first:start].split()).lstrip()
    if before and text[start - 1].isspace():
        before += " "
    word = text[start:stop]
    rest = max(SNIPPET - len(before) - len(word), 0)
    after = text[stop : stop + rest]
    tail = (" " if after[:1].isspace() else "") + " ".join(after.split())
    end = "…" if stop + rest < len(text) else ""
    return before + word + tail + end, (len(before), len(before) + len(word))


# What people see of a record


def seen_texts(record: Record) -> Iterator[tuple[Role, str]]:
    """The texts of a record that stand in the conversation, each with who said it."""
    if record.type == "attachment":
        attachment = record.data.get("attachment")
        fields = cast("JsonObject", attachment) if isinstance(attachment, dict) else {}
        if fields.get("type") == "queued_command":
            yield from _texts("user", fields.get("prompt"))
    elif record.type == "user":
        data = record.data
        if user_kind(record, data) not in {"meta", "machine", "interrupt"}:
            yield from _texts("user", content_of(data))
    elif record.type == "assistant":
        yield from _texts("assistant", content_of(record.data))


def _texts(role: Role, content: object) -> Iterator[tuple[Role, str]]:
    for block in blocks_of(content):
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            yield role, block["text"]
        elif kind == "tool_use":
            for text in _strings(block.get("input")):
                yield "tool", text
        elif kind == "tool_result":
            yield from _texts("tool", block.get("content"))


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < 8 and isinstance(value, dict):
        for each in cast("JsonObject", value).values():
            yield from _strings(each, depth + 1)
    elif depth < 8 and isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _strings(each, depth + 1)
