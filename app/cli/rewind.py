"""`reverie --resume ID --rewind-files UUID`: files back, with no model request (spec/cli.md)."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from app.agent.conversation import Conversation
from app.agent.file_tracker import FileTracker
from app.agent.rewinder import FilesPart, Rewinder, Rewound
from app.checkpoints.apply import FAILED
from app.checkpoints.blobs import note_of, store_of
from app.checkpoints.line_counts import count_lines
from app.checkpoints.plan import NOT_ENABLED, RewindError, Selection, Step
from app.cli.opening import options_from
from app.cli.output import JsonObject, note, print_json, print_lines
from app.cli.parser import Flags
from app.errors import ReverieError, UsageError
from app.git import git_branch, git_root
from app.installation import Installation, Options
from app.plain_text import plain_line
from app.session_files import SessionFiles, open_files
from app.sessions.catalogue import is_own_transcript
from app.sessions.envelope import Envelope
from app.sessions.graph import MessageGraph
from app.sessions.ownership import holder_of

DONE = "Files rewound to state at message"


def run_rewind(here: Installation, flags: Flags) -> int:
    """Put files back, or say what that would do; returns the exit code."""
    as_json = flags.output_format == "json"
    try:
        return _run(here, options_from(flags, here), flags, as_json=as_json)
    except UsageError:
        raise
    except ReverieError as error:
        if not as_json:
            raise
        print_json(_document((), error=_one_line(error)))
        return 1


def _run(here: Installation, options: Options, flags: Flags, *, as_json: bool) -> int:
    if not here.settings(options).settings.checkpoints:
        raise RewindError(NOT_ENABLED)
    files = _open(here, options)
    try:
        root = _folder_of(files.view.graph) or here.folder
        session = _Session(here, files, root, options.added_folders)
        return asyncio.run(session.rewind(flags, as_json=as_json))
    finally:
        files.journal.close()
        if files.ownership is not None:
            files.ownership.release()


def _open(here: Installation, options: Options) -> SessionFiles:
    file = options.resume
    if file is None or not is_own_transcript(here.places.projects, file):
        raise RewindError(
            f"{FAILED}{file} is no session of Reverie.", todo="`reverie sessions import` makes one."
        )
    holder = holder_of(file)
    if holder is not None and holder.pid != os.getpid():
        raise RewindError(
            f"{FAILED}the session is open in another process ({holder.pid}), which owns its files.",
            kept="Nothing was changed.",
            todo="Rewind there, or close it first.",
        )
    files = open_files(here, options, file.stem)
    for warning in files.warnings:
        note(f"About this session: {warning}.")
    return files


def _folder_of(graph: MessageGraph) -> Path | None:
    """The folder in which the session was held last."""
    for record in reversed(graph.records):
        if record.in_chain and isinstance(cwd := record.data.get("cwd"), str):
            return Path(cwd)
    return None


class _Session:
    def __init__(
        self, here: Installation, files: SessionFiles, root: Path, added: tuple[Path, ...]
    ) -> None:
        envelope = Envelope(
            files.session_id, here.clock, cwd=lambda: str(root), branch=lambda: git_branch(root)
        )
        self._root = root
        self._talk = Conversation(
            envelope, files.journal, files.view, lambda _: None, self._storage_changed
        )
        self._store = store_of(files.file)
        tracker = FileTracker(
            self._talk, self._store, here.clock, None, lambda words, _: note(words)
        )
        roots = (git_root(root) or root, root, *added)
        self._rewinder = Rewinder(self._talk, tracker, roots, note_of(files.file))

    def _storage_changed(self, error: ReverieError | None) -> None:
        if error is not None:
            note(str(error))

    async def rewind(self, flags: Flags, *, as_json: bool) -> int:
        message = flags.rewind_files or ""
        plan = await self._rewinder.plan(message)
        part = FilesPart(plan, flags.shell, flags.force)
        stays = part.selection.conflicts
        if flags.force and part.selection.steps:
            # What cannot be done at all is left out, and said.
            part = replace(part, without=frozenset(step.path for step in stays))
        selection = part.selection
        lines = count_lines(selection.steps, self._store)
        error = self._conflicts(selection)
        done: Rewound | None = None
        if not error and not flags.dry_run:
            done = await self._rewinder.rewind(message, "files", part)
        if as_json:
            print_json(
                _document(
                    selection.steps,
                    lines=lines,
                    error=error,
                    conflicts=self._names(stays),
                    links=[self._name(path) for path in part.plan.links],
                    shell=self._names(part.plan.by_shell),
                    undo="" if done is None else done.uuid,
                    untracked=part.plan.untracked,
                    root=self._root,
                )
            )
            return 1 if error else 0
        self._tell(part, selection, lines, message, done)
        if error:
            raise RewindError(error, kept="Nothing was changed.", todo=self._advice(stays))
        for step in stays:
            note(f"Left as it is: {self._name(step.path)}, because {PROBLEMS[step.problem]}.")
        return 0

    def _conflicts(self, selection: Selection) -> str:
        return FAILED + ", ".join(self._names(selection.conflicts)) if selection.conflicts else ""

    def _advice(self, stays: tuple[Step, ...]) -> str:
        reasons = sorted({PROBLEMS[step.problem] for step in stays})
        return f"Why: {'; '.join(reasons)}. --force rewinds all that can be rewound."

    def _tell(
        self,
        part: FilesPart,
        selection: Selection,
        lines: tuple[int, int],
        message: str,
        done: Rewound | None,
    ) -> None:
        if done is not None:
            print_lines(f"{DONE} {message}")
            if done.steps:
                note(f"--rewind-files {done.uuid} undoes this.")
            for name in done.left:
                note(f"{name} was written to in this moment; these bytes are kept there.")
        else:
            print_lines(
                f"filesChanged: {len(selection.steps)}",
                f"insertions: {lines[0]}",
                f"deletions: {lines[1]}",
                *(f"  {self._line(step)}" for step in selection.steps),
                *(f"  conflict     {self._line(step)}" for step in selection.conflicts),
            )
        for path in part.plan.links:
            note(f"Skipped, because it is a symbolic link: {self._name(path)}.")
        for command in part.plan.untracked:
            note(f"Not known what this command changed: {plain_line(command)}")
        left = [] if part.with_shell else self._names(part.plan.by_shell)
        if left:
            note(f"Left as shell commands left it: {', '.join(left)}. --shell rewinds that too.")

    def _line(self, step: Step) -> str:
        who = ", ".join(WRITERS[writer] for writer in step.writers if writer in WRITERS)
        why = f"; {PROBLEMS[step.problem]}" if step.problem else ""
        return f"{step.action:11}  {self._name(step.path)}  ({who}{why})"

    def _names(self, steps: tuple[Step, ...]) -> list[str]:
        return [self._name(step.path) for step in steps]

    def _name(self, path: str) -> str:
        return plain_line(shown_path(path, self._root))


PROBLEMS = {
    "": "",
    "changed": "changed by someone else since our last write",
    "unknown": "nobody recorded what was left there, so it may be someone else's",
    "outside": "another program recorded it, outside the project or in git's own folder",
    "folder": "a folder with other files is in its place",
    "beneath": "a folder on the way to it is a file",
    "missing": "its saved bytes are gone or damaged",
    "unseen": "nobody saw what was there before the command",
    "blocked": "something that is no plain file is in its place or on the way",
}


WRITERS = {
    "tool": "ours",
    "shell": "shell",
    "unknown": "another program",
    "someone": "someone else",
}


def shown_path(path: str, root: Path) -> str:
    """A path as a person reads it: relative inside the project."""
    for folder in (root, Path(os.path.realpath(root))):
        if Path(path).is_relative_to(folder):
            return str(Path(path).relative_to(folder))
    return path


def _document(
    steps: tuple[Step, ...],
    *,
    lines: tuple[int, int] = (0, 0),
    error: str = "",
    conflicts: list[str] | None = None,
    links: list[str] | None = None,
    shell: list[str] | None = None,
    undo: str = "",
    untracked: tuple[str, ...] = (),
    root: Path = Path("/"),
) -> JsonObject:
    return {
        "can_rewind": not error,
        "error": error or None,
        "files_changed": [plain_line(shown_path(step.path, root)) for step in steps],
        "insertions": lines[0],
        "deletions": lines[1],
        "skipped_links": links or [],
        "conflicts": conflicts or [],
        "undo": undo or None,
        "shell_changes": shell or [],
        "untracked_commands": [plain_line(command) for command in untracked],
        "changes": [
            {
                "path": plain_line(shown_path(step.path, root)),
                "action": step.action,
                "writers": list(step.writers),
                "problem": step.problem or None,
            }
            for step in steps
        ],
    }


def _one_line(error: ReverieError) -> str:
    return plain_line(error.happened)
