"""Drafts that a person writes, edits and throws away: new, edit, discard."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Generator
from pathlib import Path

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
from app.cli.output import JsonObject, note, print_json, print_lines
from app.cli.parser import Parser
from app.cli.transcript import locate
from app.errors import ReverieError, StorageError, UsageError
from app.outside import Editing
from app.plain_text import cut, plain, plain_line
from app.sessions.catalogue import is_session_id, session_id_of
from app.sessions.foreign.read import read_any
from app.storage.local import FileLog

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
    is_typed = _has_terminal()
    text = _edited(call, "") if is_typed else _piped()
    title = str(given.pop("title", ""))
    if not title.strip() and not text.strip():
        raise ReverieError("There is nothing to report: the text is empty.", kept=_NOTHING)
    title = title or _first_line(text, _room(text, *given.values()))
    with _kept(call, "unsaved", text if is_typed else "", _NOTHING):
        draft = new_draft(call.here.clock, title, text, project=str(call.here.folder), **given)
        evicted = call.outbox.add(draft)
    for old in evicted:
        why = f"only {MOST_DRAFTS} are kept"
        note(f"The oldest draft, {old.id} ({old.title}), was removed: {why}.")
    if call.as_json:
        gone = [{"id": old.id, "title": old.title} for old in evicted]
        print_json({**row(draft), "evicted": gone})
    else:
        print_lines(f"Queued as {draft.id}; `reverie feedback preview {draft.id}` shows it.")
    return 0


def edit(call: Call, arguments: Namespace) -> int:
    """Replace texts of a draft; returns the exit code.

    The body is what stdin holds, or what the editor leaves where stdin is a terminal and no flag
    names a text. Raises what `new` raises, `DraftNotFound`, and `StorageError` while the draft is
    being sent.
    """
    before = call.draft(arguments.id)
    given = _given(call, arguments)
    is_typed = _has_terminal() and not given
    text = _edited(call, before.body) if is_typed else "" if _has_terminal() else _piped()
    if text:
        given["body"] = text
    if not given:
        raise ReverieError("The text is empty.", kept=_UNCHANGED)

    def changed(draft: Draft) -> Draft:
        if is_typed and not has_same_texts(draft, before):
            raise ReverieError(f"The draft {draft.id} was changed meanwhile.")
        return replace(draft, **given)

    with _kept(call, before.id, text if is_typed else "", _UNCHANGED):
        draft = call.outbox.change(before.id, changed)
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


def _edited(call: Call, text: str) -> str:
    """What the person's editor leaves. Raises `UsageError`, and `ReverieError` when it fails."""
    if not sys.stdout.isatty():
        raise UsageError("The editor needs a terminal on stdout; give the text on stdin.")
    return Editing(text, call.here.environment).run()


@contextlib.contextmanager
def _kept(call: Call, name: str, typed: str, kept: str) -> Generator[None, None, None]:
    """Save what was typed, under `name`, when it cannot become a draft's text; say where it is."""
    try:
        yield
    except ReverieError as error:
        if not typed:
            raise
        file = _put_aside(call, name, typed)
        if file is None:
            print_lines(*plain(typed).split("\n"))
        where = f"in {file}; `reverie feedback new < FILE` takes it" if file else "on stdout"
        raise ReverieError(
            error.happened, kept=f"{kept} What you wrote is {where}.", todo=error.todo
        ) from error


def _put_aside(call: Call, name: str, text: str) -> Path | None:
    """The file that has the text now, beside the drafts or else in the temporary folder."""
    with contextlib.suppress(StorageError):
        return call.outbox.set_aside(name, text)
    with contextlib.suppress(OSError):
        descriptor, path = tempfile.mkstemp(prefix="reverie-", suffix=".txt")
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        return Path(path)
    return None
