"""What the list of sessions shows of a transcript, from its two ends alone.

A small file is read whole. Of a bigger one only head and tail are read; what needs the whole file
(branches, cost) is known when `exact` has read it once (transcripts.md, quirks 13, 18, 22; a13.6).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from app.plain_text import encodable
from app.sessions.branches import prompt_tree
from app.sessions.codec import parse_transcript
from app.sessions.graph import MessageGraph, open_view
from app.sessions.records import CHAIN_TYPES, Record, parse_record
from app.sessions.status import Status, last_turn, status_of
from app.sessions.summary import NAMING, Titles, moment_at, titles_of

WHOLE = 16_384
"""Bytes up to which a file is read whole: a list of 1 000 sessions is to take under 0.3 s."""
END = 65_536
"""Bytes that are read at each end of a bigger one."""
MOST_END = 1 << 20
"""Bytes that are read at most at an end until it says what is asked of it."""

METADATA_TYPES = frozenset(
    {
        *NAMING,
        "mode",
        "permission-mode",
        "queue-operation",
        "file-history-snapshot",
        "file-history-delta",
        "tag",
        "agent-name",
        "pr-link",
    }
)
"""Records that only a transcript has, beside those of the chain (transcripts.md, a3)."""

IMPORTED = "imported-from"
"""The type of the record that marks a session as brought here from elsewhere."""


class Tariff(msgspec.Struct, frozen=True):
    """What replies cost: a name for the prices in force, and the cost of a session in USD."""

    key: str
    cost: Callable[[MessageGraph], float | None]


_LATEST = 250_000_000_000
"""Seconds: nearly the end of the years that a date can have; a file system takes more."""

UNPRICED = Tariff("", lambda _graph: None)


class SessionSummary(msgspec.Struct, frozen=True):
    """One session in the list."""

    session_id: str
    path: Path
    size: int
    """Bytes."""
    written: int
    """The file's last change in nanoseconds since the epoch."""
    active: float = 0.0
    """The time of the last record of the conversation, in seconds since the epoch; 0: not said."""
    title: str = ""
    first_prompt: str = ""
    status: Status = "unreadable"
    branches: int | None = None
    cost_usd: float | None = None
    """None when it is not known, or not known yet."""
    cwd: str = ""
    """Where its first record says that it was opened; empty when none says it."""
    last_cwd: str = ""
    git_branch: str = ""
    forked_from: str = ""
    """The session that it branched off."""
    is_imported: bool = False
    is_sidechain: bool = False
    """It holds the work of a sub-agent and no conversation."""
    is_exact: bool = False
    """The whole file was read."""

    @property
    def updated_at(self) -> float:
        """When something was last said, in seconds since the epoch, never after the last write.

        The last write itself may be a new title or the import, and counts where no record of the
        conversation has a time.
        """
        written = min(self.written / 1e9, _LATEST)
        return min(self.active, written) if self.active > 0 else written


class _Fork(msgspec.Struct, gc=False):
    session_id: str = msgspec.field(default="", name="sessionId")


class _Line(msgspec.Struct, gc=False):
    """The little of a line that the list needs."""

    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    sidechain: bool = msgspec.field(default=False, name="isSidechain")
    cwd: str | None = None
    git_branch: str | None = msgspec.field(default=None, name="gitBranch")
    forked: _Fork | None = msgspec.field(default=None, name="forkedFrom")
    custom: str | None = msgspec.field(default=None, name="customTitle")
    made: str | None = msgspec.field(default=None, name="aiTitle")
    prompt: str | None = msgspec.field(default=None, name="lastPrompt")
    summary: str | None = None
    leaf: str | None = msgspec.field(default=None, name="leafUuid")

    @property
    def naming(self) -> str | None:
        """The name that it gives the session, if it gives one."""
        return self.custom or self.made or self.prompt or self.summary


_decoder = msgspec.json.Decoder(_Line)
_OWN_TITLE = b"customTitle"


def summarise(file: Path, tariff: Tariff = UNPRICED) -> SessionSummary:
    """What the list shows of a transcript; a file that cannot be read is `unreadable`."""
    return _read(file, tariff, whole=False)


def exact(file: Path, tariff: Tariff = UNPRICED) -> SessionSummary:
    """As `summarise`, from the whole file, however big."""
    return _read(file, tariff, whole=True)


def newest_of(files: Iterable[tuple[float, Path]]) -> Path | None:
    """The session in which something was said last; those of sub-agents do not count.

    `files` with the time of their last write, newest first: no more are read than can be it.
    """
    newest: SessionSummary | None = None
    for written, file in files:
        if newest is not None and newest.updated_at >= written:
            break
        each = summarise(file)
        if not each.is_sidechain and (newest is None or each.updated_at > newest.updated_at):
            newest = each
    return None if newest is None else newest.path


def _read(file: Path, tariff: Tariff, *, whole: bool) -> SessionSummary:
    known = SessionSummary(file.stem, file, 0, 0)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return known
    try:
        found = os.fstat(descriptor)
        known = SessionSummary(file.stem, file, found.st_size, found.st_mtime_ns)
        if not stat.S_ISREG(found.st_mode):
            return known
        ends = None if whole or found.st_size <= WHOLE else _of_ends(descriptor, known)
        return _of_whole(_content(descriptor), known, tariff) if ends is None else ends
    except (OSError, ValueError, RecursionError):  # one file never hides the others
        return known
    finally:
        os.close(descriptor)


def _content(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def _of_whole(content: bytes, known: SessionSummary, tariff: Tariff) -> SessionSummary:
    parsed = parse_transcript(content)
    view = open_view(parsed.records)
    graph = view.graph
    main = [graph.records[here] for here in graph.position.values() if graph.is_main(here)]
    if not graph.position and not any(r.type in METADATA_TYPES for r in parsed.records):
        status: Status = "unreadable" if content.strip() else "empty"
        return msgspec.structs.replace(known, status=status, is_exact=True)
    titles = titles_of(parsed.records)
    first = next(iter(main), None)
    places = _Places()
    for record in (first, *main[-1:]):
        if record is not None:
            places.see(_lean(record))
    imported = any(record.type == IMPORTED for record in parsed.records)
    return msgspec.structs.replace(
        known,
        title=titles.best(graph.position),
        first_prompt=titles.first_prompt,
        active=_last_moment(r for r in reversed(parsed.records) if r.in_chain),
        status=status_of(view),
        branches=len(prompt_tree(graph).tips),
        cost_usd=tariff.cost(graph),
        cwd=places.first,
        last_cwd=places.last,
        git_branch=places.branch,
        forked_from=places.forked_from,
        is_imported=imported,
        is_sidechain=bool(graph.position) and graph.is_sidechain_file,
        is_exact=True,
    )


def _last_moment(newest_first: Iterable[Record] | Iterable[_Line]) -> float:
    for each in newest_first:
        moment = moment_at(each.timestamp)
        if moment is not None:
            return moment.timestamp()
    return 0.0


class _Places:
    """Where the records of a session say that they were written, and where they come from."""

    def __init__(self) -> None:
        self.first = self.last = self.branch = self.forked_from = ""

    def see(self, line: _Line) -> None:
        """Take in a record of the conversation, in file order."""
        if line.cwd:
            self.last = encodable(line.cwd)
            self.first = self.first or self.last
        if line.git_branch is not None:
            self.branch = encodable(line.git_branch)
        if line.forked is not None:
            self.forked_from = self.forked_from or encodable(line.forked.session_id)


# From head and tail


@dataclass(frozen=True, slots=True)
class _Tail:
    lines: list[_Line]
    raws: list[bytes]
    """The bytes of each line."""
    status: Status


_Read: TypeAlias = tuple[list[_Line], list[bytes]]
"""Lines as decoded, and the bytes of each."""


def _of_ends(descriptor: int, known: SessionSummary) -> SessionSummary | None:
    """None when the ends do not say how the session stands."""
    titles = Titles()
    if known.size <= END:
        found = _tail(descriptor, known.size, aside=False)
        head = _beginning(found, titles)
    else:
        head = _head(descriptor, titles)
        found = _tail(descriptor, known.size, aside=_is_aside(head))
    if found is None:
        return None
    tail, status = found.lines, found.status
    talk = [line for line in head if line.type in CHAIN_TYPES]
    end = [line for line in tail if line.type in CHAIN_TYPES]
    ours = [line for line in end if not line.sidechain]
    named = [line for line in (*head, *tail) if line.type not in CHAIN_TYPES]
    if not talk and not end and not any(line.type in METADATA_TYPES for line in named):
        return known
    for line in named:
        if line.type in NAMING:
            titles.name(line.type or "", line.naming, line.leaf)
    places = _Places()
    for line in (*(line for line in talk if not line.sidechain), *ours[-1:]):
        places.see(line)
    return msgspec.structs.replace(
        known,
        title=titles.best({line.uuid for line in (*head, *tail) if line.uuid}),
        first_prompt=titles.first_prompt,
        active=_last_moment(reversed(end)),
        status=status,
        cwd=places.first,
        last_cwd=places.last,
        git_branch=places.branch,
        forked_from=places.forked_from,
        is_imported=any(line.type == IMPORTED for line in named),
        is_sidechain=bool(end or talk) and not ours and all(line.sidechain for line in talk),
    )


def _head(descriptor: int, titles: Titles) -> list[_Line]:
    """The lines up to the first prompt, and behind it those with the person's own title."""
    found: list[_Line] = []
    block, start = os.pread(descriptor, END, 0), 0
    while not titles.first_prompt:
        stop = block.find(b"\n", start)
        if stop < 0:
            more = os.pread(descriptor, MOST_END // 4, len(block))
            if not more or len(block) >= MOST_END:
                return found
            block += more
            continue
        for line, raw in zip(*_decoded([block[start:stop]]), strict=True):
            found.append(line)
            if line.type == "user":
                titles.user(parse_record(raw))
        start = stop + 1
    if block.find(_OWN_TITLE, start) >= 0:
        whole = block[start : block.rfind(b"\n")].split(b"\n")
        found += _decoded([raw for raw in whole if _OWN_TITLE in raw])[0]
    return found


def _is_aside(head: list[_Line]) -> bool:
    talk = [line for line in head if line.type in CHAIN_TYPES]
    return bool(talk) and all(line.sidechain for line in talk)


def _beginning(found: _Tail | None, titles: Titles) -> list[_Line]:
    """The lines up to the first prompt of a file that its tail has whole."""
    if found is None:
        return []
    for here, line in enumerate(found.lines):
        if line.type == "user":
            titles.user(parse_record(found.raws[here]))
            if titles.first_prompt:
                return found.lines[: here + 1]
    return found.lines


def _tail(descriptor: int, size: int, *, aside: bool) -> _Tail | None:
    """As many lines of the end as tell how the last turn ended; None when `MOST_END` tell nothing.

    `aside`: the head is the work of a sub-agent, which has no turns of a person.
    """
    length = min(END, size)
    while True:
        block = os.pread(descriptor, length, size - length)
        start = 0 if length == size else block.find(b"\n") + 1
        if start or length == size:
            lines, raws = _decoded(block[start:].split(b"\n"))
            end = [here for here, line in enumerate(lines) if line.type in CHAIN_TYPES]
            ours = [here for here in end if not lines[here].sidechain]
            status = last_turn(parse_record(raws[here]) for here in reversed(ours))
            if status != "empty" or length == size or (aside and end and not ours):
                return _Tail(lines, raws, status)
        if length >= MOST_END:
            return None
        length = min(length * 4, size)


def _decoded(raws: list[bytes]) -> _Read:
    raws = [raw for raw in raws if raw]
    try:
        return [_decoder.decode(raw) for raw in raws], raws
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        records = [record for raw in raws for record in parse_transcript(raw).records]
        return [_lean(record) for record in records], [record.raw for record in records]


def _lean(record: Record) -> _Line:
    """A line that is not as it should be, by the reader that takes everything."""
    data = record.data

    def text(key: str) -> str | None:
        value = data.get(key)
        return value if isinstance(value, str) else None

    line = _Line(record.type, record.uuid, record.timestamp, record.sidechain)
    line.cwd, line.git_branch = text("cwd"), text("gitBranch")
    line.leaf = text("leafUuid")
    if record.type in NAMING:
        line.custom = text(NAMING[record.type])
    fork = data.get("forkedFrom")
    if isinstance(fork, dict):
        line.forked = _Fork(str(cast("dict[str, Any]", fork).get("sessionId") or ""))
    return line
