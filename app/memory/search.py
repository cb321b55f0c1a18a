"""Search over the names and the lines of documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.memory.pages import Found
from app.plain_text import cut, plain_line
from app.storage.document_folder import MOST_READ
from app.storage.documents import DocumentStore
from app.storage.reading import decode

_SNIPPET: Final = 200
"""Characters of a line that are shown."""
_BEFORE: Final = 60
"""Of these before the hit, at most."""


def search(store: DocumentStore, names: Iterable[str], query: str, most: int = 200) -> list[Found]:
    """Names, then lines, that hold every word of the query in any order and case. Blocking.

    At most `most`; a document that cannot be read is found by its name only. Texts are one line
    without control characters.
    """
    words = list(dict.fromkeys(query.casefold().split()))
    if not words:
        return []
    known = list(names)
    found = [Found(name, 0, plain_line(name)) for name in known if _holds(name.casefold(), words)]
    for name in known:
        if len(found) >= most:
            break
        text = decode(store.head(name, MOST_READ)).text
        folded = text.casefold()
        if _holds(folded, words):
            lines = zip(text.split("\n"), folded.split("\n"), strict=True)
            for number, (line, fold) in enumerate(lines, 1):
                if _holds(fold, words):
                    found.append(Found(name, number, _snippet(line, fold, words)))
    return found[:most]


def _holds(folded: str, words: list[str]) -> bool:
    return all(word in folded for word in words)


def _snippet(line: str, folded: str, words: list[str]) -> str:
    start = max(_place(line, folded, min(folded.find(word) for word in words)) - _BEFORE, 0)
    if start + _SNIPPET > len(line):
        start = max(len(line) - _SNIPPET, 0)
    shown = plain_line(line[start : start + _SNIPPET + 1]).strip()
    if start:
        shown = f"…{shown}"
    return cut(shown, _SNIPPET)


def _place(line: str, folded: str, at: int) -> int:
    """Where in the line a place of the folded line is: some letters fold to several."""
    if len(line) == len(folded):
        return at
    done = 0
    for place, letter in enumerate(line):
        done += len(letter.casefold())
        if done > at:
            return place
    return len(line)
