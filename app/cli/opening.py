"""From flags to a session: the installation, the options, and which transcript is meant."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from app.cli.parser import Flags, split_names
from app.errors import ReverieError, SessionNotFound, StorageError, UsageError
from app.installation import Installation, Options
from app.paths import Places, find_places, make_private_folder, read_small, working_folder
from app.sessions.catalogue import (
    find_transcript,
    is_session_id,
    named_transcript,
    newest_transcript,
)


def find_installation() -> Installation:
    """The app's folders and the working folder. Raises `ReverieError` when that was deleted."""
    folder = working_folder()
    if folder is None:
        gone = os.environ.get("PWD", "")
        raise ReverieError(
            f"The working folder {gone} does not exist any more.".replace("  ", " "),
            todo="Go to another folder and start again.",
        )
    return Installation(find_places(os.environ), folder, os.environ)


def log_to_file(places: Places) -> None:
    """Write the app's own log to `reverie.log`, 0600, for `--debug`. Raises `StorageError`."""
    make_private_folder(places.logs)
    file = places.logs / "reverie.log"
    try:
        stream = os.fdopen(
            os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600), "a"
        )
    except OSError as error:
        raise StorageError(f"The log {file} cannot be written: {error.strerror}.") from error
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("app")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


def options_from(flags: Flags, here: Installation) -> Options:
    """The options of a session, with the transcript that it goes on with.

    Raises `UsageError` for a folder that does not exist, `SessionNotFound` for a session that
    does not (spec/sessions.md, Resume), and `ReverieError` for an id that is taken.
    """
    skips = flags.dangerously_skip_permissions
    return Options(
        prompt=flags.prompt,
        model=flags.model,
        small_model=flags.small_model,
        mode="bypassPermissions" if skips else flags.permission_mode,
        tools=None if flags.tools is None else split_names(flags.tools),
        allowed=split_names(flags.allowed_tools),
        denied=split_names(flags.disallowed_tools),
        added_folders=tuple(_folder(here, text) for text in flags.add_dir),
        appended_prompt=flags.append_system_prompt,
        settings_file=_settings_file(flags.settings),
        persist=not flags.no_session_persistence,
        session_id=_new_id(here, flags.session_id),
        resume=_transcript(flags, here),
        pick=flags.resume == "",
        fork=flags.fork_session,
        max_turns=flags.max_turns,
    )


def _folder(here: Installation, text: str) -> Path:
    folder = here.folder / Path(text).expanduser()
    if not folder.is_dir():
        raise UsageError(f"--add-dir {text}: there is no such folder.")
    return folder.resolve()


def _new_id(here: Installation, session_id: str | None) -> str | None:
    if session_id is None:
        return None
    if not is_session_id(session_id):
        raise ReverieError(f"Invalid session ID: {session_id}.", todo="It must be a UUID.")
    try:
        taken = find_transcript(here.places, here.folder, session_id)
    except SessionNotFound:
        return session_id
    raise ReverieError(f"Session ID {session_id} is already in use: {taken}.")


def _transcript(flags: Flags, here: Installation) -> Path | None:
    if flags.resume:
        return named_transcript(here.places, here.folder, flags.resume)
    if not flags.continue_:
        return None
    newest = newest_transcript(here.places, here.folder)
    if newest is None and flags.print:
        raise SessionNotFound("There is no conversation in this folder to continue.")
    return newest


def _settings_file(name: str | None) -> Path | None:
    """The file of `--settings`. Raises `UsageError` when it cannot be read: rules may be in it."""
    if name is None:
        return None
    file = Path(name)
    try:
        read_small(file)
    except OSError as error:
        raise UsageError(
            f"The settings file {name} cannot be read: {error.strerror}.", kept="Nothing was run."
        ) from error
    return file
