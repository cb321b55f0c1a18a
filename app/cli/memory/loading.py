"""What requests load of memory and instruction files, and what is wrong with it."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from app.agent.remembering import briefing_of, documents_of, session_memory
from app.cli.output import print_json, print_lines
from app.config import Settings
from app.installation import Installation
from app.memory.health import check as examine
from app.memory.index import Index
from app.memory_look import health_rows


def entry(here: Installation, settings: Settings, *, as_json: bool) -> int:
    """Print what every request carries of memory and instruction files; returns the exit code.

    As text all of it, word for word; in JSON `text` is the memory entry's part of it.
    """
    loaded = briefing_of(here, session_memory(here, settings, "")).load()
    found = loaded.entry
    if not as_json:
        print_lines(*(loaded.text.split("\n") if loaded.text else ["Nothing is loaded."]))
        return 0
    print_json(
        {
            "text": found.text,
            "lines": found.lines,
            "code_units": found.code_units,
            "truncated": found.is_cut,
            "first_line_cut": found.first_line_cut or None,
            "lines_left_out": found.lines_left_out,
            "bytes_left_out": found.bytes_left_out,
            "trouble": found.trouble or None,
            "request_text": loaded.text,
            "sources": [
                {
                    "path": str(each.path),
                    "scope": each.scope,
                    "bytes": len(each.text.encode("utf-8", "replace")),
                    "updated_at": _moment(each.modified),
                    "imported_by": str(each.imported_by) if each.imported_by else None,
                    "truncated": each.is_cut,
                }
                for each in loaded.instructions.sources
            ],
            "skipped": msgspec.to_builtins(loaded.instructions.skipped),
        }
    )
    return 0


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def index(here: Installation, settings: Settings, *, as_json: bool) -> int:
    """Print what each document is about; returns the exit code."""
    found = Index(documents_of(here, settings).store).contents()
    if as_json:
        print_json(
            {
                "text": found.text,
                "truncated": found.is_cut,
                "scan_truncated": found.is_scan_cut,
                "documents": [
                    {
                        "name": each.name,
                        "title": each.title,
                        "description": each.description,
                        "type": each.kind,
                        "size": each.size,
                        "updated_at": _moment(each.modified / 1e9),
                    }
                    for each in found.items
                ],
                "skipped": msgspec.to_builtins(found.skipped),
            }
        )
        return 0
    skipped = [f"left out: {each.name}: {each.reason}" for each in found.skipped]
    print_lines(
        *(found.text.rstrip("\n").split("\n") if found.text else ["No documents."]), *skipped
    )
    return 0


def check(here: Installation, settings: Settings, *, as_json: bool) -> int:
    """Print what is cut off, orphaned, dead, doubled or in conflict; returns the exit code."""
    loaded = briefing_of(here, session_memory(here, settings, "")).load()
    documents = documents_of(here, settings)
    documents.settle()
    contents = Index(documents.store).contents()
    health = examine(documents.store, contents, loaded.entry, loaded.instructions)
    if as_json:
        print_json(msgspec.to_builtins(health))
        return 0
    for heading, rows in health_rows(health):
        print_lines(heading)
        print_lines(*(f"  {words}" for words, _name, _line in rows))
    return 0
