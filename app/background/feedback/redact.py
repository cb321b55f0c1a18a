"""Secrets found in a text that is about to leave, each with its place, and struck out.

Pure and in memory. What is struck out reads `[redacted: KIND]`; such a mark is never touched
again, so that redacting twice changes nothing.
"""

from __future__ import annotations

import base64
import binascii
import bisect
import hashlib
import re
from collections.abc import Callable, Collection
from operator import itemgetter
from typing import Final, cast

import msgspec

from app.background.feedback.marks import KINDS, MARK
from app.background.feedback.secret_rules import rules
from app.background.feedback.secret_values import is_secret, name_of, name_of_next, named_secrets
from app.background.feedback.veils import unveiled

_EDGES: Final = " \t\r\n\"'=:"
_ROUNDS: Final = 20
"""Times that a text is looked at again, because striking out may show another secret."""
_SHORTEST: Final = 6
"""Characters of the shortest text that any rule finds a secret in: `a@b.cc`."""
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}")
_WRAPPED: Final = re.compile(
    r"(?<![A-Za-z0-9+/])(?:(?:[A-Za-z0-9+/]{76}\r?\n){1,}|(?:[A-Za-z0-9+/]{64}\r?\n){1,})"
    r"[A-Za-z0-9+/]{1,76}={0,2}"
)
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE: Final = re.compile(r"[\s\d>|+:\u2192\\nrt-]{0,16}[A-Za-z0-9+/=]{1,128}(?:\\[nr])*\s*")
_MOST_OF_A_KEY: Final = 16_384
"""Characters before the end of a key that may be the key when its beginning is cut off."""
_PRINTABLE: Final = 0.9
"""Part of a decoded text's characters that must be printable for it to be a text."""
_MAIL: Final = "e-mail address"
_NOT_IN_BASE64: Final = frozenset({"home path"})


class Finding(msgspec.Struct, frozen=True):
    """One secret in one place, however often it stands there."""

    key: str
    """What `restored` names it by; the same at every look while place and secret stay."""
    kind: str
    place: str
    """Which text it stands in, for people: `body`, `message 3`."""
    start: int
    stop: int
    """Characters of the text as it was when this was found: what came before may be struck out."""
    secret: str
    """The text that is struck out; for the review screen alone, never for a log."""
    is_restored: bool = False


class _Span(msgspec.Struct):
    start: int
    stop: int
    kind: str


def redacted(
    text: str, restored: Collection[str] = (), place: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """The text without its secrets, and what was found, each secret once.

    Findings whose key is in `restored` stay in the text and are reported as restored.
    """
    findings: dict[str, Finding] = {}
    for _ in range(_ROUNDS if len(text) >= _SHORTEST else 0):
        spans = _merged(text, _spans(text))
        found = [_finding(text, span, restored, place) for span in spans]
        for finding in found:
            findings.setdefault(finding.key, finding)
        if all(finding.is_restored for finding in found):
            break
        text = _struck(text, found)
    return text, tuple(findings.values())


def redacted_value(
    value: object, restored: Collection[str] = (), place: str = ""
) -> tuple[object, tuple[Finding, ...]]:
    """A JSON value with every string in it redacted, names of members too.

    A member whose name says that it is secret is struck out whatever it looks like.
    """
    findings: list[Finding] = []

    def look(value: object, name: str = "") -> object:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return value
        string = str(value)
        if name and not MARK.fullmatch(string) and is_secret(name, value):
            finding = _finding(string, _Span(0, len(string), "password"), restored, place)
            findings.append(finding)
            # What is restored stays whole: nothing inside it is struck out.
            return value if finding.is_restored else _struck(string, [finding])
        if not isinstance(value, str):
            return value
        clean, found = redacted(string, restored, place)
        findings.extend(found)
        return clean

    return _mapped(value, look, ""), tuple(findings)


def _mapped(value: object, look: Callable[[object, str], object], name: str) -> object:
    if isinstance(value, list):
        items = cast("list[object]", value)
        names = [name, *(name_of_next(item) or name for item in items[:-1])]
        return [_mapped(item, look, called) for item, called in zip(items, names, strict=False)]
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        mapped: dict[str, object] = {}
        numbers: dict[str, int] = {}
        for key, each in members.items():
            # Named by what is left of names, so that a second look sees the same.
            free = free_name(str(look(key, "")), mapped, numbers)
            beside = look(members.get("name") or members.get("key"), "") if key == "value" else ""
            called = name_of(free, beside, name, "value" in members)
            mapped[free] = _mapped(each, look, called)
        return mapped
    return look(value, name)


def free_name(name: str, taken: Collection[str], numbers: dict[str, int]) -> str:
    """The name, with a number where another member's is struck out to the same.

    `numbers` holds the last number that each name got.
    """
    free = name
    while free in taken:
        numbers[name] = numbers.get(name, 1) + 1
        free = f"{name} {numbers[name]}"
    return free


def _finding(text: str, span: _Span, restored: Collection[str], place: str) -> Finding:
    secret = text[span.start : span.stop]
    key = hashlib.sha256(f"{place}\0{secret}".encode("utf-8", "replace")).hexdigest()[:16]
    return Finding(key, span.kind, place, span.start, span.stop, secret, key in restored)


def _struck(text: str, findings: list[Finding]) -> str:
    parts: list[str] = []
    done = 0
    for finding in findings:
        if not finding.is_restored:
            parts += [text[done : finding.start], f"[redacted: {finding.kind}]"]
            done = finding.stop
    return "".join([*parts, text[done:]])


def _spans(text: str) -> list[_Span]:
    spans = _matches(text)
    clear = unveiled(text)
    if clear:
        for span in _matches(clear.text):
            if "\n" not in clear.text[span.start : span.stop]:
                spans.append(_Span(*clear.place(span.start, span.stop), span.kind))
    for pattern in (_BASE64, _WRAPPED):
        for match in pattern.finditer(text):
            decoded = _decoded("".join(match[0].split()))
            if decoded and any(s.kind not in _NOT_IN_BASE64 for s in _matches(decoded)):
                spans.append(_Span(match.start(), match.end(), KINDS[-1]))
    return spans


def _matches(text: str) -> list[_Span]:
    marks = [mark.span() for mark in MARK.finditer(text)]
    found: list[tuple[int, int, int, str]] = []
    for kind, pattern in rules():
        group = "secret" if "secret" in pattern.groupindex else 0
        found += [(m.start(), *m.span(group), kind) for m in pattern.finditer(text)]
    found += [(*place, "password") for place in named_secrets(text)]
    # The word `password` of a mark names nothing.
    spans = [_Span(s, e, kind) for at, s, e, kind in found if not (marks and _is_in(marks, at))]
    for span in spans:
        while span.start < span.stop and text[span.start] in _EDGES:
            span.start += 1
        while span.start < span.stop and text[span.stop - 1] in _EDGES:
            span.stop -= 1
    return [*(span for span in spans if span.start < span.stop), *_key_tails(text)]


def _key_tails(text: str) -> list[_Span]:
    """The lines of private keys whose beginning is not in the text."""
    spans: list[_Span] = []
    done = 0
    for end in _KEY_END.finditer(text):
        start = end.start()
        lines = text[max(done, start - _MOST_OF_A_KEY) : start].splitlines(keepends=True)
        while lines and _KEY_LINE.fullmatch(lines[-1]):
            start -= len(lines.pop())
        if text[start : end.start()].strip():
            spans.append(_Span(start, end.start(), "private key"))
        done = end.end()
    return spans


def _is_in(marks: list[tuple[int, int]], position: int) -> bool:
    before = bisect.bisect_right(marks, position, key=itemgetter(0)) - 1
    return before >= 0 and position < marks[before][1]


def _merged(text: str, spans: list[_Span]) -> list[_Span]:
    """The spans without overlaps, in order; those that touch a mark lose that part."""
    marks = [match.span() for match in MARK.finditer(text)]
    whole: list[_Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.stop)):
        if whole and span.start < whole[-1].stop:
            # A password in an address looks like an e-mail address with the host behind it.
            if span.kind != _MAIL:
                whole[-1].stop = max(whole[-1].stop, span.stop)
        else:
            whole.append(_Span(span.start, span.stop, span.kind))
    return _outside(text, whole, marks) if marks else whole


def _outside(text: str, spans: list[_Span], marks: list[tuple[int, int]]) -> list[_Span]:
    kept: list[_Span] = []
    first = 0
    for span in spans:
        while first < len(marks) and marks[first][1] <= span.start:
            first += 1
        start, here = span.start, first
        if here == len(marks) or marks[here][0] >= span.stop:
            kept.append(span)
            continue
        pieces: list[_Span] = []
        while here < len(marks) and marks[here][0] < span.stop:
            pieces.append(_Span(start, max(marks[here][0], start), span.kind))
            start = marks[here][1]
            here += 1
        pieces.append(_Span(start, max(span.stop, start), span.kind))
        # The commas and quotes between two marks are no secret.
        kept += [s for s in pieces if any(map(str.isalnum, text[s.start : s.stop]))]
    return kept


def _decoded(token: str) -> str:
    """The text that base64 stands for, empty when it stands for none."""
    standard = token.replace("-", "+").replace("_", "/").rstrip("=")
    standard = standard[: len(standard) - (len(standard) % 4 == 1)]
    try:
        data = base64.b64decode(standard + "=" * (-len(standard) % 4))
        decoded = data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    readable = sum(map(str.isprintable, decoded)) + decoded.count("\n")
    return decoded if readable >= _PRINTABLE * len(decoded) else ""
