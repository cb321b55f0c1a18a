"""Drafts that a person writes, edits and throws away: new, edit, discard."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from app.background.feedback.drafts import (
    MOST_BYTES,
    MOST_DRAFTS,
    Draft,
    DraftTooLarge,
    has_same_texts,
    new_draft,
)
from app.cli.feedback.call import Call, row
from app.cli.feedback.removed import tell_removed
from app.cli.output import JsonObject, print_json, print_lines
from app.cli.parser import Parser
from app.cli.transcript import locate
from app.errors import ReverieError, UsageError
from app.outside import Editing
from app.plain_text import cut, plain_line
from app.sessions.catalogue import is_session_id, session_id_of
from app.sessions.foreign.read import read_any
from app.storage.local import FileLog

Stored = TypeVar("Stored")
_NOTHING = "Nothing was stored."
_UNCHANGED = "The draft is unchanged."
_LONGEST_TITLE = 80
"""Characters of a title that is made of a text's first line."""


def add_texts(action: Parser) -> None:
    """Give an action the flags for what a draft says beside its body."""
    action.add_argument("--category", metavar="TEXT", help="for example bug or idea")
    action.add_argument("--evidence", metavar="TEXT", help="where it can be seen")
    action.add_argument("--session", metavar="ID|FILE", help="the session it is about")


def new(call: Call, arguments: Namespace) -> int:
    """Queue a draft of the person's own; returns the exit code.

    Raises `SessionNotFound`, `DraftTooLarge`, `StorageError`, and `ReverieError` for a text that
    is empty or not UTF-8. What was written in an editor is kept in a file then.
    """
    given = _given(call, arguments)
    named = str(given.pop("title", ""))

    def store(text: str) -> tuple[Draft, tuple[Draft, ...]]:
        if not named.strip() and not text.strip():
            raise ReverieError("There is nothing to report: the text is empty.", kept=_NOTHING)
        title = named or _first_line(text, _room(text, *given.values()))
        draft = new_draft(call.here.clock, title, text, project=str(call.here.folder), **given)
        return draft, call.outbox.add(draft)

    draft, evicted = _taken(call, "", store)
    tell_removed(call.outbox.folder, evicted, f"only {MOST_DRAFTS} are kept")
    if call.as_json:
        gone = [{"id": old.id, "title": old.title} for old in evicted]
        print_json({**row(draft), "evicted": gone})
    else:
        print_lines(f"Queued as {draft.id}; `reverie feedback preview {draft.id}` shows it.")
    return 0


def edit(call: Call, arguments: Namespace) -> int:
    """Replace texts of a draft; returns the exit code.

    Those that flags name; without one the body, by what stdin holds or the editor leaves. Raises
    what `new` raises, `DraftNotFound`, and `StorageError` while the draft is being sent.
    """
    before = call.draft(arguments.id)
    given = _given(call, arguments)

    def changed(draft: Draft) -> Draft:
        return replace(draft, **given)

    def store(text: str) -> Draft:
        if not text:
            raise ReverieError("The text is empty.", kept=_UNCHANGED)

        def with_text(draft: Draft) -> Draft:
            if _has_terminal() and not has_same_texts(draft, before):
                raise ReverieError(f"The draft {draft.id} was changed meanwhile.", kept=_UNCHANGED)
            return replace(draft, body=text)

        return call.outbox.change(before.id, with_text)

    draft = call.outbox.change(before.id, changed) if given else _taken(call, before.body, store)
    if call.as_json:
        print_json(row(draft))
    else:
        print_lines(f"Stored; `reverie feedback preview {draft.id}` shows it.")
    return 0


def discard(call: Call, arguments: Namespace) -> int:
    """Delete a draft; returns the exit code.

    Raises `DraftNotFound`, and `StorageError` while the draft is being sent.
    """
    draft = call.draft(arguments.id)
    call.outbox.discard(draft.id)
    if call.as_json:
        print_json({"id": draft.id, "title": draft.title, "status": "discarded"})
    else:
        print_lines(f"Discarded {draft.id} ({draft.title}).")
    return 0


def _given(call: Call, arguments: Namespace) -> JsonObject:
    """The texts that flags name. Raises `SessionNotFound`."""
    texts = {name: getattr(arguments, name) for name in ("title", "category", "evidence")}
    given: JsonObject = {name: text for name, text in texts.items() if text is not None}
    if arguments.session is not None:
        file = locate(call.here, arguments.session)
        records = () if is_session_id(file.stem) else read_any(FileLog(file).read()).records
        given["session_id"] = session_id_of(file, records)
    return given


def _room(*texts: str) -> int:
    """Bytes that a title may have beside these texts."""
    return max(MOST_BYTES - sum(len(text.encode("utf-8", "replace")) for text in texts), 0)


def _first_line(text: str, room: int) -> str:
    """A title made of the text's first line, in at most `room` bytes."""
    first = next((line for line in text.splitlines() if line.strip("# \t")), "")
    title = cut(plain_line(first).strip("# "), _LONGEST_TITLE)
    return title.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")


# where the text comes from


def _has_terminal() -> bool:
    # A process can be started without any stdin at all.
    return sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison] - it can be None


def _piped() -> str:
    """Stdin as it is. Raises `DraftTooLarge`, and `ReverieError` when it is not UTF-8."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - it can be None
        return ""
    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    except OSError as error:
        raise ReverieError(f"Stdin cannot be read: {error.strerror or error}.") from error
    if len(data) > MOST_BYTES:
        raise DraftTooLarge(
            f"The text on stdin has more than {MOST_BYTES} bytes, which is the limit.",
            kept=_NOTHING,
            todo="Shorten it.",
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ReverieError(
            f"The text on stdin is not UTF-8 (byte {error.start + 1}).", kept=_NOTHING
        ) from error


def _taken(call: Call, text: str, store: Callable[[str], Stored]) -> Stored:
    """Let `store` have what is piped in, or what the person's editor makes of `text`.

    Raises `UsageError`, and `ReverieError` when the editor or `store` fails.
    """
    if not _has_terminal():
        return store(_piped())
    if not sys.stdout.isatty():
        raise UsageError("The editor needs a terminal on stdout; give the text on stdin.")
    stored: list[Stored] = []
    Editing(text, call.here.environment).run(lambda left: stored.append(store(left)))
    return stored[0]
