"""What the list of sessions shows of a transcript, from its two ends alone.

A small file is read whole. Of a bigger one only head and tail are read; what needs the whole file
(branches, cost) is known when `exact` has read it once (transcripts.md, quirks 13, 18, 22; a13.6).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from app.sessions.branches import prompt_tree
from app.sessions.codec import parse_transcript
from app.sessions.graph import MessageGraph, open_view
from app.sessions.records import CHAIN_TYPES, Record, parse_record
from app.sessions.status import Status, last_turn, status_of
from app.sessions.summary import NAMING, Titles, titles_of

END = 65_536
"""Bytes that are read at each end, and the size up to which a file is read whole.

Reading whole costs 0.4 ms for 64 KiB and more the bigger the file is, its ends 0.15 ms always.
"""
MOST_HEAD = 1 << 20
"""Bytes that are read at most until the first prompt or a whole last line is found."""

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


UNPRICED = Tariff("", lambda _graph: None)


class SessionSummary(msgspec.Struct, frozen=True):
    """One session in the list."""

    session_id: str
    path: Path
    size: int
    """Bytes."""
    written: int
    """The file's last change in nanoseconds since the epoch."""
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
        """The last write, in seconds since the epoch."""
        return self.written / 1e9


class _Fork(msgspec.Struct, gc=False):
    session_id: str = msgspec.field(default="", name="sessionId")


class _Line(msgspec.Struct, gc=False):
    """The little of a line that the list needs."""

    type: str | None = None
    uuid: str | None = None
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


def _read(file: Path, tariff: Tariff, *, whole: bool) -> SessionSummary:
    nothing = SessionSummary(file.stem, file, 0, 0)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return nothing
    try:
        found = os.fstat(descriptor)
        known = SessionSummary(file.stem, file, found.st_size, found.st_mtime_ns)
        if not stat.S_ISREG(found.st_mode):
            return known
        if whole or found.st_size <= END:
            with os.fdopen(os.dup(descriptor), "rb") as content:
                return _of_whole(content.read(), known, tariff)
        return _of_ends(descriptor, known)
    except OSError:
        return nothing
    finally:
        os.close(descriptor)


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


class _Places:
    """Where the records of a session say that they were written, and where they come from."""

    def __init__(self) -> None:
        self.first = self.last = self.branch = self.forked_from = ""

    def see(self, line: _Line) -> None:
        """Take in a record of the conversation, in file order."""
        if line.cwd:
            self.first = self.first or line.cwd
            self.last = line.cwd
        if line.git_branch is not None:
            self.branch = line.git_branch
        if line.forked is not None:
            self.forked_from = self.forked_from or line.forked.session_id


# From head and tail

_Read: TypeAlias = tuple[list[_Line], list[bytes]]
"""Lines as decoded, and the bytes of each."""


def _of_ends(descriptor: int, known: SessionSummary) -> SessionSummary:
    titles = Titles()
    head = _head(descriptor, titles)
    tail, raws = _tail(descriptor, known.size)
    talk = [line for line in head if line.type in CHAIN_TYPES]
    end = [here for here, line in enumerate(tail) if line.type in CHAIN_TYPES]
    ours = [here for here in end if not tail[here].sidechain]
    named = [line for line in (*head, *tail) if line.type not in CHAIN_TYPES]
    if not talk and not end and not any(line.type in METADATA_TYPES for line in named):
        return known
    for line in named:
        if line.type in NAMING:
            titles.name(line.type or "", line.naming, line.leaf)
    places = _Places()
    for line in (*(line for line in talk if not line.sidechain), *(tail[h] for h in ours[-1:])):
        places.see(line)
    return msgspec.structs.replace(
        known,
        title=titles.best({line.uuid for line in (*head, *tail) if line.uuid}),
        first_prompt=titles.first_prompt,
        status=last_turn(parse_record(raws[here]) for here in reversed(ours)),
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
            more = os.pread(descriptor, MOST_HEAD // 4, len(block))
            if not more or len(block) >= MOST_HEAD:
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


def _tail(descriptor: int, size: int) -> _Read:
    length = END
    while True:
        block = os.pread(descriptor, length, size - length)
        start = block.find(b"\n") + 1
        if 0 < start < len(block) or length >= min(MOST_HEAD, size):
            return _decoded(block[start:].split(b"\n"))
        length = min(length * 4, size)


def _decoded(raws: list[bytes]) -> _Read:
    raws = [raw for raw in raws if raw]
    try:
        return [_decoder.decode(raw) for raw in raws], raws
    except (msgspec.MsgspecError, UnicodeDecodeError):
        records = [record for raw in raws for record in parse_transcript(raw).records]
        return [_lean(record) for record in records], [record.raw for record in records]


def _lean(record: Record) -> _Line:
    """A line that is not as it should be, by the reader that takes everything."""
    data = record.data

    def text(key: str) -> str | None:
        value = data.get(key)
        return value if isinstance(value, str) else None

    line = _Line(record.type, record.uuid, record.sidechain, text("cwd"), text("gitBranch"))
    line.leaf = text("leafUuid")
    if record.type in NAMING:
        line.custom = text(NAMING[record.type])
    fork = data.get("forkedFrom")
    if isinstance(fork, dict):
        line.forked = _Fork(str(cast("dict[str, Any]", fork).get("sessionId") or ""))
    return line
