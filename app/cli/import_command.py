"""`reverie sessions import`: sessions of other tools become sessions of ours (spec/cli.md)."""

from __future__ import annotations

import json
import re
import shutil
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from app.checkpoints.blobs import store_of
from app.cli.output import note, print_json, print_lines
from app.cli.parser import Parser
from app.errors import ReverieError, SessionNotFound, StorageError, UsageError
from app.installation import Installation
from app.paths import make_private_folder, read_small, write_private
from app.sessions.catalogue import existing_path, is_session_id, transcripts
from app.sessions.codec import Parsed, parse_transcript
from app.sessions.envelope import new_uuid
from app.sessions.foreign.adopt import Adoption
from app.sessions.foreign.companions import agents_in, copy_backups, copy_companions, moved_paths
from app.sessions.foreign.detect import ORIGIN_NAMES, Origin, origin_of
from app.sessions.foreign.find import (
    all_sessions,
    recorded_folder,
    session_folders,
    sessions_by_id,
    sessions_of_folder,
)
from app.sessions.foreign.read import read_any
from app.sessions.glance import IMPORTED
from app.sessions.graph import MessageGraph
from app.sessions.records import JsonObject, Record, new_record
from app.sessions.summary import warnings_of
from app.storage.local import FileLog

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_HEAD = 1 << 16


def add_import_parser(actions: Any) -> Parser:
    """Add `import` to `actions`, which `add_subparsers` of `reverie sessions` made."""
    parser = cast(
        "Parser",
        actions.add_parser(
            "import",
            help="make sessions of Claude Code, Codex or pi sessions of this project",
            description="Copies sessions of other tools; the sources are never changed. Without "
            "ID or FILE: all sessions of this folder.",
        ),
    )
    parser.add_argument("sources", nargs="*", metavar="ID|FILE", help="which sessions")
    parser.add_argument(
        "--from",
        dest="origin",
        choices=tuple(ORIGIN_NAMES),
        help="the tool; a FILE tells by itself which one wrote it",
    )
    parser.add_argument(
        "--all-projects",
        action="store_true",
        help="the sessions of all folders, each into the project of its own folder",
    )
    parser.add_argument(
        "--again", action="store_true", help="also what was imported before, as a new copy"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run_import(here: Installation, arguments: Namespace) -> int:
    """Carry out `reverie sessions import`; returns the exit code.

    0 when a session was imported or all of them were before, 1 when nothing could be. Raises
    `UsageError`, and `ReverieError` when no session is found or a file is of another tool.
    """
    files = _wanted(here, arguments)
    work = _Import(here, arguments.origin, again=arguments.again)
    for file in files:
        folder = _project_of(here, file) if arguments.all_projects else here.folder
        try:
            work.take(file, folder)
        except ReverieError as error:
            note(str(error))
            work.failed += 1
            work.skipped.append({"source": str(file), "reason": str(error)})
    if arguments.json:
        print_json({"imported": work.imported, "skipped": work.skipped})
    elif work.said:
        print_lines(*work.said)
    return 0 if work.imported or not work.failed else 1


# which sessions


def _wanted(here: Installation, arguments: Namespace) -> list[Path]:
    origin: Origin | None = arguments.origin
    if arguments.sources:
        named = [_named(here, origin, text) for text in arguments.sources]
        files = list(dict.fromkeys(file for group in named for file in group))
        _refuse_other_origins(files, origin)
        return files
    if origin is None:
        raise UsageError("Say whose sessions: --from claude-code, --from codex or --from pi.")
    if arguments.all_projects:
        found, where = all_sessions(origin, here.environment), "any folder"
    else:
        found, where = sessions_of_folder(origin, here.environment, here.folder), str(here.folder)
    if not found:
        raise SessionNotFound(
            f"No session of {ORIGIN_NAMES[origin]} that began in {where} was found below "
            f"{_places(here, origin)}."
        )
    return found


def _named(here: Installation, origin: Origin | None, text: str) -> list[Path]:
    """The files that one ID or FILE means."""
    file = existing_path(here.folder, text)
    if file is not None:
        return [file]
    if origin is None or not _ID.fullmatch(text):
        todo = "" if origin else "To import by ID, say whose it is with --from."
        raise SessionNotFound(f"There is no file {text}.", kept="Nothing was imported.", todo=todo)
    found = sessions_by_id(origin, here.environment, text)
    if not found:
        raise SessionNotFound(
            f"No session of {ORIGIN_NAMES[origin]} with the ID {text} was found below "
            f"{_places(here, origin)}.",
            kept="Nothing was imported.",
        )
    return found[-1:]


def _places(here: Installation, origin: Origin) -> str:
    return " or ".join(str(folder) for folder in session_folders(origin, here.environment))


def _refuse_other_origins(files: Iterable[Path], wanted: Origin | None) -> None:
    for file in files:
        try:
            found = origin_of(read_small(file))
        except OSError:
            continue  # that it cannot be read is said when its turn comes
        if wanted is not None and found is not None and found != wanted:
            raise ReverieError(
                f"{file} is a session of {ORIGIN_NAMES[found]}, not of {ORIGIN_NAMES[wanted]}.",
                kept="Nothing was imported.",
                todo=f"Use --from {found}, or leave --from out.",
            )


def _project_of(here: Installation, file: Path) -> Path:
    named = Path(recorded_folder(file))
    return named if named.is_absolute() else here.folder


# one session


@dataclass(slots=True)
class _Import:
    here: Installation
    wanted: Origin | None
    again: bool
    imported: list[JsonObject] = field(default_factory=list[JsonObject])
    skipped: list[JsonObject] = field(default_factory=list[JsonObject])
    said: list[str] = field(default_factory=list[str])
    failed: int = 0
    known: dict[Path, dict[tuple[str, str], str]] = field(
        default_factory=dict[Path, dict[tuple[str, str], str]]
    )
    """By project: what was imported into it, and as which session."""

    def take(self, file: Path, folder: Path) -> None:
        """Import one file into the project of `folder`. Raises `ReverieError`."""
        content = _read(file)
        origin = origin_of(content)
        if origin is None or (self.wanted is not None and origin != self.wanted):
            names = ", ".join(ORIGIN_NAMES.values()) if self.wanted is None else ""
            raise ReverieError(
                f"{file} is not a session of {names or ORIGIN_NAMES[self.wanted or 'pi']}.",
                kept="It was not changed and not imported.",
            )
        parsed = read_any(content)
        messages = sum(1 for r in parsed.records if r.in_chain and r.type in {"user", "assistant"})
        if not messages:
            raise ReverieError(f"{file} holds no messages.", kept="It was not imported.")
        known = self._known(folder)
        key = (origin, _source_id(file, origin, parsed))
        if key in known and not self.again:
            reason = f"already imported as {known[key]}"
            self.skipped.append({"source": str(file), "reason": reason})
            self.said.append(f"Skipped {file}: {reason}; --again makes another copy.")
            return
        new_id = new_uuid()
        target = self.here.places.transcript(folder, new_id)
        left_out = _write(file, target, parsed, new_id, key)
        known[key] = new_id
        self.said.append(f"Imported {file} as {new_id} ({messages} messages)")
        self.imported.append(
            {
                "session_id": new_id,
                "source": str(file),
                "origin": origin,
                "messages": messages,
                "path": str(target),
            }
        )
        if left_out:
            note(f"{file}: {left_out} records are nested too deeply and were left out.")
        for warning in warnings_of(Parsed((), parsed.flaws), MessageGraph()):
            note(f"{file}: {warning.detail}.")

    def _known(self, folder: Path) -> dict[tuple[str, str], str]:
        project = self.here.places.project(folder)
        if project not in self.known:
            found = (_imported_from(file) for _, file in transcripts(self.here.places, folder))
            self.known[project] = {key: name for key, name in found if key is not None}
        return self.known[project]


def _read(file: Path) -> bytes:
    try:
        return read_small(file, file.stat().st_size + 1)
    except OSError as error:
        raise StorageError(
            f"{file} cannot be read: {error.strerror or error}.", kept="It was not imported."
        ) from error


def _source_id(file: Path, origin: Origin, parsed: Parsed) -> str:
    if origin == "claude-code" and is_session_id(file.stem):
        return file.stem
    named = Counter(record.session_id for record in parsed.records if record.session_id)
    return named.most_common(1)[0][0] if named else file.stem


def _write(
    source: Path, target: Path, parsed: Parsed, session_id: str, key: tuple[str, str]
) -> int:
    """Write the new transcript as a whole, behind what lies beside it.

    Returns how many records were left out, because they are nested too deeply.
    """
    origin, source_id = key
    head = new_record(
        {
            "type": IMPORTED,
            "origin": origin,
            "sourceSessionId": source_id,
            "sourcePath": str(source),
            "sessionId": session_id,
        }
    )
    beside = target.with_suffix("")
    make_private_folder(target.parent)
    try:
        copied = copy_companions(source, beside) if origin == "claude-code" else 0
        if origin == "claude-code":
            copy_backups(source, store_of(target).folder)
        moved = moved_paths(source_id, beside) if copied else None
        adoption = Adoption(session_id, new_uuid, moved)
        records = [head, *adoption.take(parsed.records)]
        for agent in agents_in(beside) if copied else ():
            theirs = parse_transcript(FileLog(agent).read()).records
            write_private(agent, _lines(adoption.take(theirs)))
        write_private(target, _lines(records))
    except StorageError:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return adoption.left_out


def _lines(records: Iterable[Record]) -> bytes:
    return b"".join(record.raw + b"\n" for record in records)


def _imported_from(file: Path) -> tuple[tuple[str, str] | None, str]:
    """Which session a transcript was imported from, and the transcript's own id."""
    try:
        line = read_small(file, _HEAD).split(b"\n", 1)[0]
        value: object = json.loads(line)
    except (OSError, ValueError, RecursionError):
        return None, file.stem
    if not isinstance(value, dict):
        return None, file.stem
    data = cast("JsonObject", value)
    if data.get("type") != IMPORTED:
        return None, file.stem
    return (str(data.get("origin")), str(data.get("sourceSessionId"))), file.stem
