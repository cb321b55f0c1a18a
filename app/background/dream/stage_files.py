"""The documents of the stage, opened folder by folder and through no link (spec/dream.md)."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator
from pathlib import Path
from typing import Final

from app.agent.tools.arguments import clean
from app.agent.tools.paths import reason_of
from app.background.dream.roots import NotAllowed, quoted
from app.paths import open_resolved
from app.storage.documents import NameRefused
from app.storage.names import checked_name, folded

MOST_BYTES: Final = 102_400
"""Of a document (spec/memory.md)."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class StageFiles:
    """Reads, writes and removes documents below one folder, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        """Resolved once: when it is put elsewhere later, nothing is opened any more."""
        self._given = folder

    def name_of(self, text: str) -> str:
        """The name of the document that `text` means: a name, or a path below the stage.

        Raises `NotAllowed` for everything else. Whether there is such a document is not asked.
        """
        if clean(text) != text or len(text) > 4_096:
            raise NotAllowed(f"{quoted(text)} is a name that no document can have.")
        name = text
        for root in (f"{self._given}/", f"{self.folder}/"):
            if text.startswith(root):
                name = text.removeprefix(root)
        if name.startswith("/"):
            raise NotAllowed(f"{quoted(text)} lies outside of the memory in {self.folder}.")
        try:
            return checked_name(name)
        except NameRefused as error:
            raise NotAllowed(error.happened) from error

    def trouble(self, name: str) -> str:
        """What is in the way of a change to a document with this name; empty when nothing is."""
        try:
            with self._opened(name) as (folder, last):
                self._refuse_clash(folder, last)
                _refuse_special(folder, last)
        except FileNotFoundError:
            return ""
        except NotAllowed as refused:
            return str(refused)
        except OSError as error:
            return str(_in_words(name, error))
        return ""

    def read(self, name: str) -> bytes | None:
        """The document, None when there is none. Raises `NotAllowed`."""
        try:
            with self._opened(name) as (folder, last):
                flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
                _refuse_special(folder, last)
                descriptor = os.open(last, flags, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _in_words(name, error) from error
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NotAllowed(f"{quoted(name)} is no regular file.")
            data = file.read(10 * MOST_BYTES + 1)
        if len(data) > 10 * MOST_BYTES:
            raise NotAllowed(f"{quoted(name)} is too large to be changed.")
        return data

    def write(self, name: str, data: bytes) -> None:
        """Put `data` in the document's place as a whole, 0600. Raises `NotAllowed`."""
        if b"\0" in data:
            raise NotAllowed(f"{quoted(name)} would hold NULs; a document is text.")
        if len(data) > MOST_BYTES:
            raise NotAllowed(f"{quoted(name)} would have {len(data)} bytes; {MOST_BYTES} are most.")
        try:
            with self._opened(name, make=True) as (folder, last):
                self._refuse_clash(folder, last)
                _refuse_special(folder, last)
                _replace(folder, last, data)
        except OSError as error:
            raise _in_words(name, error) from error

    def remove(self, name: str) -> None:
        """Remove the document. Raises `NotAllowed`, also when there is none."""
        try:
            with self._opened(name) as (folder, last):
                _refuse_special(folder, last)
                os.unlink(last, dir_fd=folder)
        except OSError as error:
            raise _in_words(name, error) from error

    @contextlib.contextmanager
    def _opened(self, name: str, *, make: bool = False) -> Generator[tuple[int, str], None, None]:
        """The document's folder held open, and its name in it. Raises `OSError`."""
        *parts, last = checked_name(name).split("/")
        folder = open_resolved(self.folder, _FOLDER)
        try:
            for part in parts:
                self._refuse_clash(folder, part)
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=folder)
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            yield folder, last
        finally:
            os.close(folder)

    def _refuse_clash(self, folder: int, part: str) -> None:
        for other in os.listdir(folder):
            if other != part and folded(other) == folded(part):
                raise NotAllowed(
                    f"{quoted(part)} differs from {quoted(other)} only in its letters' case."
                )


def _refuse_special(folder: int, name: str) -> None:
    """Raises `NotAllowed` for a link, a folder, a pipe or a device; `FileNotFoundError` passes."""
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            what = "a link" if stat.S_ISLNK(mode) else "no regular file"
            raise NotAllowed(f"{quoted(name)} is {what}.")


def _replace(folder: int, name: str, data: bytes) -> None:
    temporary = f".{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:  # also a cancellation: no temporary file may stay; raised again below
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _in_words(name: str, error: OSError) -> NotAllowed:
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return NotAllowed(f"{quoted(name)} lies below a link or a file; nothing was changed.")
    if isinstance(error, FileNotFoundError):
        return NotAllowed(f"{quoted(name)} does not exist.")
    return NotAllowed(f"{quoted(name)} cannot be used: {reason_of(error)}. Nothing was changed.")
