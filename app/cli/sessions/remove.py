"""`reverie sessions rm` and `restore`: into the trash, and out of it."""

from __future__ import annotations

from app.checkpoints.blobs import note_of
from app.cli.output import JsonObject, note, print_json, print_lines
from app.cli.transcript import locate
from app.errors import ReverieError
from app.installation import Installation
from app.session_files import settle_rewind
from app.sessions.trash import restore, trash


def remove(here: Installation, names: list[str], *, as_json: bool) -> int:
    """Move sessions to the trash; one that cannot be moved keeps no other. Exit code 1 for it."""
    gone: list[JsonObject] = []
    failed: list[JsonObject] = []
    for name in names:
        try:
            file = locate(here, name)
            if said := settle_rewind(note_of(file)):
                note(f"About {file.stem}: {said}.")
            done = trash(file, here.places.projects, here.clock.now().timestamp())
        except ReverieError as error:
            note(str(error))
            failed.append({"argument": name, "reason": str(error)})
            continue
        gone.append({"session_id": done.session_id, "path": str(file), "trash": str(done.folder)})
        if not as_json:
            print_lines(
                f"{done.session_id} is in the trash: {done.folder}",
                f"Get it back with: reverie sessions restore {done.session_id}",
            )
    if as_json:
        print_json({"removed": gone, "failed": failed})
    return 1 if failed else 0


def bring_back(here: Installation, session_id: str, *, as_json: bool) -> int:
    """Put a session back where it was; returns the exit code."""
    file = restore(here.places.projects, session_id, here.clock.now().timestamp())
    if as_json:
        print_json({"session_id": session_id, "path": str(file)})
    else:
        print_lines(f"{session_id} is back: {file}")
    return 0
