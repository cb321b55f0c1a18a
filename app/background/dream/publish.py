"""A dream's changes into the memory, and out of it again (spec/dream.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from hashlib import sha256

from msgspec.structs import replace

from app.background.dream.record import Dream, DreamFile, DreamLog
from app.errors import ReverieError
from app.memory.documents import Documents
from app.storage.documents import Author, Replacement


def publish(dream: Dream, documents: Documents, log: DreamLog) -> Dream:
    """Write what is staged, all of it or nothing; a document that somebody else has changed since
    is left as it is.

    Raises `StorageError`; whatever had been begun is made up for by the next write.
    """
    staged = [each for each in dream.files if each.state == "staged"]
    log.save(replace(dream, status="publishing"))
    wanted = [Replacement(e.name, _data(e.after), _digest(e.before)) for e in staged]
    author = Author("dream", why=f"dream {dream.id}")
    done = documents.store.replace_all(wanted, author)
    files: list[DreamFile] = []
    for each in dream.files:
        change = done.get(each.name)
        if each.state != "staged":
            files.append(each)
        elif change is None:
            files.append(replace(each, state="conflict"))
        else:
            files.append(replace(each, state="published", change_id=change.id))
    conflicts = [each.name for each in files if each.state == "conflict"]
    reason = f"Left as they are, since somebody else changed them: {', '.join(conflicts)}."
    made = replace(
        dream, status="completed", files=tuple(files), reason=reason if conflicts else ""
    )
    log.save(made)
    return made


def settled(dream: Dream, documents: Documents) -> Dream:
    """A dream whose process died while it published, as its history says that it ended."""
    if dream.status != "publishing":
        return dream
    documents.settle()
    made = {
        change.name: change.id
        for change in documents.store.changes()
        if change.author.who == "dream" and change.author.why == f"dream {dream.id}"
    }
    if not made:
        return replace(dream, status="failed", reason="It was cut off before anything changed.")
    files = tuple(
        replace(each, state="published", change_id=made[each.name])
        if each.name in made
        else replace(each, state="conflict" if each.state == "staged" else each.state)
        for each in dream.files
    )
    return replace(dream, status="completed", files=files)


def revert(
    dream: Dream, documents: Documents, log: DreamLog, names: Sequence[str] = ()
) -> tuple[Dream, list[str]]:
    """Take a dream back, or some of its documents; later edits of them stay.

    Returns the dream as it is now, and a sentence for each document that was left alone because a
    later edit is in the way. Raises `ReverieError` for a name that it has not changed.
    """
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
    whole = len(hunks_of(file))
    if len(accepted) >= whole:
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


def _digest(text: str | None) -> str | None:
    return None if text is None else sha256(text.encode()).hexdigest()
