"""Documents shown on the command line: their list, texts, histories, and what holds some words."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from app.cli.output import print_bytes, print_json, print_lines
from app.errors import ReverieError
from app.memory.documents import NEW, Documents, version_of
from app.memory.search import search as find
from app.memory_look import last_changes, texts_of, versions_of
from app.patch import structured_patch
from app.storage.documents import DocumentInfo


def listing(documents: Documents, number: int, *, as_json: bool) -> int:
    """Print a page of the documents; returns the exit code."""
    documents.settle()
    page, pages = documents.page(number)
    last = last_changes(documents)
    who = {name: change.author.who for name, change in last.items()}
    skipped = documents.store.listing().skipped
    if as_json:
        print_json(
            {
                "documents": [_row(documents, each, who.get(each.name)) for each in page],
                "page": number,
                "pages": pages,
                "skipped": [{"name": each.name, "reason": each.reason} for each in skipped],
            }
        )
        return 0
    width = max((len(each.name) for each in page), default=0)
    lines = [
        f"{each.name:<{width}}  {each.size:>7}  {_moment(each.modified)[:16]}  "
        f"{who.get(each.name, '')}".rstrip()
        for each in page
    ]
    if not lines:
        lines = ["Nothing is remembered of this project yet."]
    if pages > 1:
        lines.append(f"page {number} of {pages}; --page N shows another")
    print_lines(*lines, *(f"left out: {each.name}: {each.reason}" for each in skipped))
    return 0


def _row(documents: Documents, document: DocumentInfo, who: str | None) -> dict[str, Any]:
    data = documents.store.read(document.name)
    return {
        "name": document.name,
        "version": version_of(data),
        "size": document.size,
        "updated_at": _moment(document.modified),
        "who": who,
    }


def _moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="seconds")


def read(documents: Documents, name: str, version: str | None, *, as_json: bool) -> int:
    """Print a document, now or as it was; returns the exit code.

    Raises `ReverieError` where there is none.
    """
    documents.settle()
    if version is not None:
        text = documents.past_text(name, version)
        found = version_of(text.encode())
    else:
        page = documents.read(name)
        text, found = page.text, page.version
        if found == NEW:
            raise ReverieError(f"There is no document {page.name} in this project's memory.")
    if as_json:
        print_json({"name": name, "text": text, "version": found})
    elif sys.stdout.isatty():
        print_lines(*text.removeprefix("\ufeff").splitlines())
    else:
        print_bytes(text.encode())
    return 0


def history(documents: Documents, name: str, change: str | None, *, as_json: bool) -> int:
    """Print who changed a document, or what one change did; returns the exit code.

    Raises `ReverieError` where there is nothing of it.
    """
    versions = versions_of(documents, name)
    if not versions:
        raise ReverieError(f"Nothing is known of a document {name}.")
    if change is not None:
        hunks = structured_patch(*texts_of(documents, name, change))
        if as_json:
            print_json({"name": name, "id": change, "hunks": hunks})
        else:
            print_lines(*(line for hunk in hunks for line in _hunk_lines(hunk)))
        return 0
    if as_json:
        changes = {each.id: each for each in documents.history(name)}
        rows = [
            {
                "id": each.id,
                "at": each.at,
                "who": each.who,
                "what": each.what,
                "why": each.why,
                "session_id": each.session_id or None,
                "message": changes[each.id].author.message or None,
                "name": each.name,
                "version": (changes[each.id].after or "")[:12] or None,
                "added": each.added,
                "removed": each.removed,
            }
            for each in versions
        ]
        print_json({"name": name, "changes": rows})
    else:
        print_lines(
            *(
                f"{each.id}  {each.at[:16]}  {each.who:<9}  {each.what:<9}  "
                f"+{each.added} -{each.removed}  {each.why}".rstrip()
                for each in versions
            )
        )
    return 0


def _hunk_lines(hunk: dict[str, Any]) -> list[str]:
    head = "@@ -{oldStart},{oldLines} +{newStart},{newLines} @@".format(**hunk)
    return [head, *(str(line) for line in hunk["lines"])]


def search(documents: Documents, query: str, *, as_json: bool) -> int:
    """Print the names and lines that hold all words of a query; returns the exit code."""
    names = [each.name for each in documents.store.listing().documents]
    found = find(documents.store, names, query)
    if as_json:
        rows = [{"name": each.name, "line": each.line, "text": each.text} for each in found]
        print_json({"hits": rows})
    elif found:
        print_lines(
            *(f"{each.name}:{each.line}: {each.text}" if each.line else each.name for each in found)
        )
    else:
        print_lines("Nothing in this project's memory holds these words.")
    return 0
