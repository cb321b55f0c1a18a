"""Links from one document to another, found, renamed and taken away; all other bytes stay."""

from __future__ import annotations

import posixpath
import re
from typing import Final
from urllib.parse import quote, unquote

from msgspec import Struct

from app.memory.entry import ENTRY
from app.memory.markdown import without_code
from app.storage.names import SUFFIX
from app.storage.reading import BOM

_LINK: Final = re.compile(
    r"(?<![!\\])\[((?:[^\[\]\n]"
    r"|(?<=!)\[[^\[\]\n]{0,200}\]\([^()\n]{0,500}\)"  # a picture
    r"|\[[^\[\]\n]{0,500}\](?!\()){0,1000}+)\]"
    r"\([ \t]*+(<[^<>\n]{0,2000}>|[^\s()<>]++(?:\([^\s()]{0,500}\)[^\s()<>]*+){0,20})"
    r"(?:[ \t]++(?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'|\([^()\n]{0,500}\)))?[ \t]*+\)"
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_QUOTED: Final = re.compile(r"[\s()<>%#\\\x00-\x1f\x7f]")
_WORD: Final = re.compile(r"[^\s()<>\[\]\"'`|,;:*]+")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_NESTED: Final = 20
"""Links within the words of a link that are taken away one after the other."""


class _Link(Struct, frozen=True):
    start: int
    end: int
    label: str
    place: tuple[int, int]
    """Where the target stands."""
    target: str
    """The document it names; empty for what names none."""
    fragment: str


def links(text: str, of: str = ENTRY) -> list[tuple[int, str]]:
    """Line numbers, counted from 1, and targets of all links to relative `.md` files.

    `of` is the document that holds the text; a target is a name relative to the memory folder,
    and begins with `../` where it leads out of that. Links in code are none.
    """
    found: list[tuple[int, str]] = []
    line, done = 1, 0
    for link in _found(text, of):
        line += text.count("\n", done, link.start)
        done = link.start
        if link.target:
            found.append((line, link.target))
    return found


def mentions(text: str, of: str = ENTRY) -> set[str]:
    """Names of documents that a text may mean, by link or in plain words, code included."""
    found = {target for _, target in links(text, of)}
    if SUFFIX in text:
        for word in _WORD.findall(text):
            if (end := word.rfind(SUFFIX)) > 0:
                name = word[: end + len(SUFFIX)]
                found |= {posixpath.normpath(name), _below(of, name)}
    return found


def without_link(text: str, name: str, of: str = ENTRY) -> str:
    """The text without its links to the document `name`.

    A list item that links to nothing else goes as a whole; other lines keep their words.
    """
    for _ in range(_MOST_NESTED):
        shorter = _without_once(text, name, of)
        if shorter == text:
            break
        text = shorter
    return text


def _without_once(text: str, name: str, of: str) -> str:
    mark = BOM if text.startswith(BOM) else ""
    text = text.removeprefix(BOM)
    waiting = _found(text, of)[::-1]
    parts: list[str] = []
    for line in _LINE.finditer(text):
        here: list[_Link] = []
        while waiting and waiting[-1].start < line.end():
            here.append(waiting.pop())
        if here and all(link.target == name for link in here) and _ITEM.match(line[0]):
            continue
        done = line.start()
        for link in here:
            if link.target == name:
                parts += [text[done : link.start], link.label]
                done = link.end
        parts.append(text[done : line.end()])
    return mark + "".join(parts)


def with_renamed_link(text: str, old: str, new: str, of: str = ENTRY) -> str:
    """The text with its links to the document `old` leading to `new`; their words stay."""
    parts: list[str] = []
    done = 0
    for link in _found(text, of):
        if link.target == old:
            parts += [text[done : link.place[0]], _written(new, of) + link.fragment]
            done = link.place[1]
    return "".join(parts) + text[done:]


def _found(text: str, of: str) -> list[_Link]:
    if "](" not in text:
        return []
    found: list[_Link] = []
    for match in _LINK.finditer(without_code(text)):
        target, hash_mark, fragment = match[2].removeprefix("<").removesuffix(">").partition("#")
        label = text[match.start(1) : match.end(1)]
        place = match.span(2)
        name = _named(target, of)
        found.append(_Link(*match.span(), label, place, name, hash_mark + fragment))
    return found


def _named(target: str, of: str) -> str:
    """The document that a link's target names, empty for none."""
    if not target.endswith(SUFFIX) or target.startswith("/") or _SCHEME.match(target):
        return ""
    return _below(of, unquote(target))


def _below(of: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(of), target))


def _written(name: str, of: str) -> str:
    """How a link in the document `of` names another one."""
    path = posixpath.relpath(name, posixpath.dirname(of) or ".")
    path = _QUOTED.sub(lambda match: quote(match[0], safe=""), path)
    return f"./{path}" if _SCHEME.match(path) else path
