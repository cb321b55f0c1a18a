"""Documents changed from the command line: versioned writes, deletions, restored versions."""

from __future__ import annotations

import sys

from app.cli.output import note, print_json, print_lines
from app.errors import ReverieError
from app.memory.documents import MOST_BYTES, Documents, Outcome, version_of
from app.storage.documents import Author

CONFLICT = 3
"""The exit code of a conflict (spec/cli.md)."""
_AUTHOR = Author("you", why="from the command line")


def write(documents: Documents, name: str, if_version: str, *, as_json: bool) -> int:
    """Make stdin the text of a document; returns the exit code."""
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        too_long = len(data) > MOST_BYTES
        reason = f"The text has more than {MOST_BYTES} bytes." if too_long else f"Stdin: {error}."
        return _tell(Outcome("refused", reason=reason), name, as_json=as_json)
    return _tell(documents.write(name, text, if_version, _AUTHOR), name, as_json=as_json)


def delete(documents: Documents, name: str, if_version: str, *, as_json: bool) -> int:
    """Take a document and its line in the entry away; returns the exit code."""
    done = documents.delete(name, if_version, _AUTHOR)
    if done.change is not None:
        documents.unlink(done.change.name, _AUTHOR)
    return _tell(done, name, as_json=as_json)


def restore(documents: Documents, name: str, change: str | None, *, as_json: bool) -> int:
    """Make an earlier version the document's again; returns the exit code.

    Raises `ReverieError` where there is none.
    """
    wanted = change or _before_last(documents, name)
    made = documents.restore(name, wanted, Author("you", why=f"back to {wanted}"))
    version = version_of(documents.store.text_of(made.after or ""))
    return _tell(Outcome("written", version, current_version=version), name, as_json=as_json)


def _before_last(documents: Documents, name: str) -> str:
    documents.settle()
    changes = [each for each in documents.history(name) if each.author.what != "set_aside"]
    if changes and changes[0].after is None:
        return changes[0].id  # deleted: what it held until then
    if len(changes) < 2:
        raise ReverieError(f"{name} has no earlier version.", kept="Nothing was changed.")
    return changes[1].id


def _tell(done: Outcome, name: str, *, as_json: bool) -> int:
    if as_json:
        print_json(
            {
                "status": done.status,
                "name": name,
                "version": done.version,
                "current_version": done.current_version,
                "current_text": done.current_text,
                "reason": done.reason or None,
            }
        )
    elif done.reason:
        note(done.reason)
    else:
        print_lines(
            f"{name}: {done.status}" + (f", version {done.version}" if done.version else "")
        )
    return {"written": 0, "deleted": 0, "refused": 1}.get(done.status, CONFLICT)
