"""Opens what a session has on disk: its own transcript, or a branch of one (spec/sessions.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.agent.file_records import history_records, load_history
from app.checkpoints.blobs import NOTE, store_of
from app.checkpoints.moves import settle
from app.clock import timestamp
from app.errors import ReverieError, StorageError
from app.installation import Installation, Options
from app.sessions.catalogue import is_own_transcript
from app.sessions.envelope import new_uuid
from app.sessions.foreign.adopt import adopt
from app.sessions.foreign.read import read_any
from app.sessions.fork import fork_records
from app.sessions.graph import GraphView, open_view
from app.sessions.journal import Journal
from app.sessions.kept import walk_from
from app.sessions.ownership import Holder, Ownership, holder_of, own
from app.sessions.records import Record
from app.sessions.repair import repair_warnings
from app.sessions.summary import Warning as TranscriptWarning
from app.sessions.summary import title_from, warnings_of
from app.sessions.view import request_view
from app.storage.local import FileLog

COPIED = "its file is only read; what you say goes to a new session that begins with all of it"
HELD = "files cannot be rewound here to before this branch: that process keeps their history"
MOST_LOOKED_AT = 20_000_000
"""Bytes of records that are looked through for repairs when a session is opened."""


@dataclass(slots=True)
class SessionFiles:
    """An open session's records, and the right to write more of them."""

    session_id: str
    file: Path
    """Its transcript, which may not be there yet."""
    journal: Journal
    view: GraphView
    records: tuple[Record, ...]
    warnings: tuple[str, ...]
    """What was repaired, left out or done otherwise than asked, a sentence each."""
    ownership: Ownership | None
    """None where nothing is written, or where the folder cannot hold a lock."""
    source: Path | None = None
    """The file of another program that it begins with: its backups are still to be copied."""


def open_files(here: Installation, options: Options, session_id: str) -> SessionFiles:
    """The files of a session, new or from `options.resume`.

    A transcript that another living process writes is not written by two: the second gets a
    branch of its own, as with `--fork-session`. A file that is no session of ours is only read:
    what is said goes to a new session with all of it. Raises `StorageError` when it cannot be
    read and `ReverieError` when it is something else.
    """
    file = options.resume or here.places.transcript(here.folder, session_id)
    projects = {file.parent, here.places.project(here.folder)}
    cut_off = tuple(said for each in sorted(projects) for said in settle_rewinds(each))
    parsed = read_any(FileLog(file).read() if options.resume else b"")
    view = open_view(parsed.records)
    found = (*warnings_of(parsed, view.graph), *_repairs(view))
    warnings = (*cut_off, *(f"{w.detail} ({w.count})" for w in found))
    if options.resume and not is_own_transcript(here.places.projects, file):
        if not view.graph.position:
            raise ReverieError(
                f"{file} is not a transcript: none of its lines is a message of one.",
                kept="It was not changed.",
            )
        return _copy(here, options, parsed.records, (*warnings, COPIED))
    owner = None if options.fork else _own(file, options)
    if options.resume and (options.fork or isinstance(owner, Holder)):
        holder = owner if isinstance(owner, Holder) else holder_of(file)
        is_held = holder is not None and holder.pid != os.getpid()
        if isinstance(owner, Holder):
            who = f"another process ({owner.pid})" if owner.pid else "another process"
            warnings += (f"it is open in {who}, so this is a branch of it",)
        if is_held:
            warnings += (HELD,)
        return _branch(here, options, _at(view, options.fork_at), is_held, warnings)
    journal = Journal(session_id, FileLog(file) if options.persist else None)
    ownership = owner if isinstance(owner, Ownership) else None
    return SessionFiles(session_id, file, journal, view, parsed.records, warnings, ownership)


def settle_rewinds(project: Path) -> list[str]:
    """End the rewinds in which a process was killed, of all sessions of a project that nobody has
    open; returns what was done, a sentence without its end each.
    """
    return [said for note in sorted(project.glob(f"*/{NOTE}")) if (said := settle_rewind(note))]


def settle_rewind(note: Path) -> str:
    """The same for the session with this note; empty where there was nothing to do."""
    file = note.parent.with_suffix(".jsonl")
    if not note.exists():
        return ""
    try:
        owner = own(file)
    except (OSError, StorageError):
        return ""  # it can be tried again at any start
    if isinstance(owner, Holder):
        return ""
    try:
        written = FileLog(file).read()
        return settle(note, lambda uuid: f'"uuid":"{uuid}"'.encode() in written)
    finally:
        owner.release()


def _copy(
    here: Installation, options: Options, records: tuple[Record, ...], warnings: tuple[str, ...]
) -> SessionFiles:
    """A session that has what a file holds; it is written with the first thing that is said."""
    session_id = options.session_id or new_uuid()
    adopted = adopt(records, session_id=session_id, new_uuid=new_uuid)
    files = _begun(here, options, session_id, adopted, warnings)
    files.source = options.resume
    return files


def _begun(
    here: Installation,
    options: Options,
    session_id: str,
    records: list[Record],
    warnings: tuple[str, ...],
) -> SessionFiles:
    """A new session that begins with these records, written in front of its first own one."""
    file = here.places.transcript(here.folder, session_id)
    owner = _own(file, options)
    journal = Journal(session_id, FileLog(file) if options.persist else None, records)
    ownership = owner if isinstance(owner, Ownership) else None
    return SessionFiles(
        session_id, file, journal, open_view(records), tuple(records), warnings, ownership
    )


def _repairs(view: GraphView) -> tuple[TranscriptWarning, ...]:
    """What the next request needs to have repaired; not looked for in one of huge size."""
    records = view.graph.records
    is_whole = not view.graph.boundaries
    if is_whole and sum(record.stop - record.start for record in records) > MOST_LOOKED_AT:
        return ()
    positions = walk_from(view.graph, view.leaf).positions
    if sum(records[here].stop - records[here].start for here in positions) > MOST_LOOKED_AT:
        return ()
    return repair_warnings(request_view(view.graph, view.leaf))


def _at(view: GraphView, uuid: str | None) -> GraphView:
    """The view from this record, from the end of the branch in use for None."""
    here = view.graph.position.get(uuid or "")
    return view if here is None else GraphView(view.graph, view.length, here)


def _branch(
    here: Installation,
    options: Options,
    view: GraphView,
    is_held: bool,
    warnings: tuple[str, ...],
) -> SessionFiles:
    """A fork; the file history goes along unless another process owns it."""
    session_id = options.session_id or new_uuid()
    forked = fork_records(
        view.graph,
        view.leaf,
        session_id=session_id,
        title=title_from(view.graph.records),
        new_uuid=new_uuid,
    )
    if options.resume is not None and not is_held:
        forked += _history(here, options.resume, view, forked, session_id)
    files = _begun(here, options, session_id, forked, warnings)
    files.journal.write_beginning()
    return files


def _history(
    here: Installation, source: Path, view: GraphView, forked: list[Record], session_id: str
) -> list[Record]:
    """The file history that a fork shares with its source, and the bytes it needs."""
    history = load_history(view.graph)
    target = here.places.transcript(here.folder, session_id)
    store_of(source).share(store_of(target), history.blobs())
    renamed = {str(r.data["forkedFrom"]["messageUuid"]): r.uuid or "" for r in forked if r.uuid}
    return history_records(history, renamed, session_id, timestamp(here.clock.now()))


def _own(file: Path, options: Options) -> Ownership | Holder | None:
    if not options.persist:
        return None
    try:
        return own(file)
    except (OSError, StorageError):
        return None  # the first record that cannot be written says why
