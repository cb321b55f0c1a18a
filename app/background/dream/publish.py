"""A dream's changes into the memory, and out of it again (spec/dream.md)."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from app.background.dream.guards import objections
from app.background.dream.record import Dream, DreamFile, DreamLog
from app.background.dream.stage import contents
from app.errors import ReverieError, StorageError
from app.memory.documents import Documents
from app.storage.documents import Author, DocumentStore, Moved, Replacement
from app.storage.names import ENTRY

_TRIES: Final = 10
"""How often it is looked anew at what another program changes meanwhile."""
_KEPT: Final = "Nothing was changed."


def publish(dream: Dream, documents: Documents, log: DreamLog) -> Dream:
    """Write what is staged, all of it or nothing; a document that somebody else has changed since
    is left as it is, and then nothing that takes a line away is written: what it said may have gone
    into that one.

    A dream of which nothing could be written has failed. Raises `StorageError`; whatever had been
    begun is made up for by the next write.
    """
    begun = replace(dream, status="publishing")
    log.save(begun)
    try:
        made = _ended(begun, _written(begun, documents.store))
    except StorageError:
        made = settled(begun, documents)
        if made.status == "held":
            log.save(dream)
            raise
    with contextlib.suppress(StorageError):  # the history tells it, as `settled` reads it
        log.save(made)
    return made


def _written(dream: Dream, store: DocumentStore) -> dict[str, str]:
    """Write what fits; returns the changes' ids by the document's name."""
    staged = [each for each in dream.files if each.state == "staged"]
    for _ in range(_TRIES):
        wanted = [
            Replacement(each.name, _data(each.after), _digest(_data(each.before)))
            for each in _fit(staged, store)
        ]
        with contextlib.suppress(Moved):  # changed since it was looked at: looked at anew
            done = store.replace_all(wanted, _author(dream))
            return {name: change.id for name, change in done.items()}
    raise StorageError("The memory is changed by another program all the time.", kept=_KEPT)


def _fit(staged: Sequence[DreamFile], store: DocumentStore) -> Sequence[DreamFile]:
    """What of it still fits the memory as it is now."""
    fit = [each for each in staged if _stays(each, store)]
    if len(fit) == len(staged):
        return fit
    fit, now = [each for each in fit if _keeps_all(each)], contents(store)
    if {*objections(now, fit)} - {*objections(now, staged)}:
        fit = [each for each in fit if each.name != ENTRY]
    return fit


def _stays(file: DreamFile, store: DocumentStore) -> bool:
    try:
        return _digest(store.read(file.name)) == _digest(_data(file.before))
    except StorageError:
        return False


def _keeps_all(file: DreamFile) -> bool:
    """Whether every line of it is still there: none can have been meant for another document."""
    before, after = ({line.strip() for line in _lines(text)} for text in (file.before, file.after))
    return file.after is not None and before <= after | {""}


def settled(dream: Dream, documents: Documents) -> Dream:
    """A dream whose process died while it published, as its history says that it ended.

    It is held where nothing had changed yet. Raises `StorageError`.
    """
    if dream.status != "publishing":
        return dream
    documents.settle()
    made = {
        change.name: change.id
        for change in documents.store.changes()
        if change.author == replace(_author(dream), what=change.author.what)
    }
    if not made:
        return replace(dream, status="held", reason="It was cut off before anything changed.")
    return _ended(dream, made)


def shown(dream: Dream, documents: Documents) -> Dream:
    """The dream as `settled` has it; as it is written down where that is not to be found out."""
    try:
        return settled(dream, documents)
    except StorageError:
        return dream


def _author(dream: Dream) -> Author:
    return Author("dream", why=f"dream {dream.id}")


def _ended(dream: Dream, made: Mapping[str, str]) -> Dream:
    """The dream after these changes, by the document's name."""
    files = tuple(
        each
        if each.state != "staged"
        else replace(each, state="published", change_id=made[each.name])
        if each.name in made
        else replace(each, state="conflict")
        for each in dream.files
    )
    left = ", ".join(each.name for each in files if each.state == "conflict")
    reason = f"Left as they are, since somebody changed the memory meanwhile: {left}."
    return replace(
        dream,
        status="completed" if made or not left else "failed",
        files=files,
        reason=reason if left else "",
    )


def revert(
    dream: Dream, documents: Documents, log: DreamLog, names: Sequence[str] = ()
) -> tuple[Dream, list[str]]:
    """Take a dream back, or some of its documents; later edits of them stay.

    Returns the dream as it is now, and a sentence for each document that was left alone because a
    later edit is in the way. Raises `ReverieError` for a name that it has not changed, and where
    nothing of it was published.
    """
    if dream.status not in ("completed", "reverted"):
        raise ReverieError(
            f"The dream {dream.id} cannot be taken back: it is {dream.status}.",
            kept="Nothing was changed.",
        )
    unknown = sorted({*names} - {each.name for each in dream.files})
    if unknown:
        raise ReverieError(f"The dream {dream.id} did not change {', '.join(unknown)}.")
    author = Author("you", why=f"dream {dream.id} taken back")
    files: list[DreamFile] = []
    left: list[str] = []
    for each in dream.files:
        if each.state != "published" or (names and each.name not in names):
            files.append(each)
            continue
        try:
            if not _stays(each, documents.store):  # else it is back already
                documents.revert(each.name, each.change_id, author)
        except ReverieError as error:
            left.append(str(error))
            files.append(each)
        else:
            files.append(replace(each, state="reverted"))
    status = "reverted" if all(each.state != "published" for each in files) else dream.status
    made = replace(dream, files=tuple(files), status=status)
    log.save(made)
    return made, left


def with_hunks(file: DreamFile, accepted: Collection[int]) -> DreamFile:
    """The file with only some of its hunks (`hunks_of`), by number; the others are refused."""
    before, after = _lines(file.before), _lines(file.after)
    lines: list[str] = []
    for number, (tag, a, b, c, d) in _numbered(before, after):
        keeps = tag == "equal" or number in accepted
        lines += after[c:d] if keeps else before[a:b]
    text = "".join(lines)
    if accepted and {*range(len(hunks_of(file)))} <= {*accepted}:
        return file
    if not accepted or text == file.before:
        return replace(file, state="refused")
    return replace(file, after=text)


def hunks_of(file: DreamFile) -> list[tuple[list[str], list[str], int]]:
    """The changed stretches: lines before, lines after, and the line before where each begins,
    counted from 1.
    """
    before, after = _lines(file.before), _lines(file.after)
    return [
        (before[a:b], after[c:d], a + 1)
        for _, (tag, a, b, c, d) in _numbered(before, after)
        if tag != "equal"
    ]


def _numbered(
    before: list[str], after: list[str]
) -> Iterator[tuple[int, tuple[str, int, int, int, int]]]:
    number = 0
    for code in SequenceMatcher(None, before, after).get_opcodes():
        yield number, code
        number += code[0] != "equal"


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines(keepends=True)


def _data(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _digest(data: bytes | None) -> str | None:
    return None if data is None else sha256(data).hexdigest()
