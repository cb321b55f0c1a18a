"""Files of a memory folder: found, opened and put in place without leaving it by any link."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final, TypeAlias

from app.errors import StorageError
from app.paths import open_resolved
from app.plain_text import cut, plain_line
from app.storage.documents import Moved, NameRefused
from app.storage.exchange import exchange
from app.storage.names import checked_name, folded

MOST_READ: Final = 1 << 20
"""Bytes of a file that counts as a document (spec/memory.md, Index)."""
_TEMPORARY: Final = ".reverie-"
_LEFTOVER: Final = re.compile(r"\.reverie-[0-9a-f]{16}")
Stamp: TypeAlias = tuple[int, int]
"""Time of the last change in nanoseconds, and size."""
_STAYED: Final = "Nothing was read or changed."


def digest_of(data: bytes | None) -> str | None:
    """The SHA-256 of a document, None for none."""
    return None if data is None else hashlib.sha256(data).hexdigest()


class DocumentFolder:
    """The files below one folder, which may itself be reached by a link."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def place(self, name: str) -> Path:
        """The resolved path of the document `name`, whether there is one or not.

        Links inside the folder are followed. Raises `NameRefused` for a bad name, a link that
        leads out, to nothing or to itself, and for a name that differs only in case from another.
        """
        name = checked_name(name)
        top = Path(os.path.realpath(self.root))
        self._refuse_clash(top, name)
        asked = top / name
        real = Path(os.path.realpath(asked))
        if real.is_symlink():
            raise _refused(name, "is a link that leads back to itself")
        if real == asked:
            self._refuse_file_as_folder(top, asked, name)
            return real
        if not real.is_relative_to(top):
            raise _refused(name, f"leads by a link to {real}, outside of the memory folder")
        if asked.is_symlink() and not real.exists():
            raise _refused(name, f"is a link to {real.name}, which does not exist")
        checked_name(str(real.relative_to(top)))
        return real

    def _refuse_clash(self, top: Path, name: str) -> None:
        folder = top
        for part in name.split("/"):
            if os.path.lexists(folder / part):
                folder /= part
                continue
            try:
                names = [each.name for each in folder.iterdir()]
            except OSError:
                return
            clash = next((n for n in names if folded(n) == folded(part)), None)
            if clash is not None:
                raise _refused(name, f"differs from {clash} only in its letters' case")
            return

    def _refuse_file_as_folder(self, top: Path, asked: Path, name: str) -> None:
        for parent in asked.parents:
            if parent == top:
                return
            with contextlib.suppress(OSError):
                if not stat.S_ISDIR(parent.lstat().st_mode):
                    raise _refused(name, f"lies below {parent.name}, which is a file")

    def read(self, name: str, most: int = MOST_READ) -> bytes | None:
        """The document, None when there is none.

        Raises `StorageError` for what is no plain file or larger than `most` bytes.
        """
        found = self._read(self.place(name), name, most)
        return None if found is None else found[0]

    def read_with_stamp(self, name: str) -> tuple[bytes, tuple[int, int]] | None:
        """The document, and its time and size as they were then."""
        return self._read(self.place(name), name, MOST_READ)

    def _read(self, place: Path, name: str, most: int) -> tuple[bytes, tuple[int, int]] | None:
        try:
            descriptor = open_resolved(place, os.O_RDONLY | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(name, error.strerror or str(error)) from error
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            os.close(descriptor)
            raise _unreadable(name, "it is not a regular file")
        with os.fdopen(descriptor, "rb") as file:
            if state.st_size > most:
                raise _unreadable(name, f"it has {state.st_size} bytes; {most} are the most")
            try:
                return file.read(most + 1), (state.st_mtime_ns, state.st_size)
            except OSError as error:
                raise _unreadable(name, error.strerror or str(error)) from error

    def put(
        self,
        name: str,
        data: bytes | None,
        expected: str | None,
        keep: Callable[[bytes], object],
    ) -> Stamp | None:
        """Put `data` in the document's place in one step, or with None take the document away.

        Returns time and size of what was put there: of ours, whatever another program does next.
        Raises `Moved` where it holds something else than `expected`; then it is as it was, also
        when another program wrote to it in this very moment. Raises `StorageError`.
        """
        self.tidy(name, keep)
        with self.prepared(name, data, expected) as commit:
            return commit()

    def tidy(self, name: str, keep: Callable[[bytes], object]) -> None:
        """Put away what a killed process has left beside a document: it may be the only copy of a
        text, so it goes to `keep` first. Only the lock's holder may. Raises `StorageError`.
        """
        place = self.place(name)
        with contextlib.suppress(FileNotFoundError), _told(name):
            if place.parent.is_dir():
                with self._opened(place.parent, make=False) as folder:
                    put_away_leftovers(folder, keep)

    @contextlib.contextmanager
    def prepared(
        self, name: str, data: bytes | None, expected: str | None
    ) -> Generator[Callable[[], Stamp | None], None, None]:
        """A write of `put` with everything done but its last step, which the call then is.

        Several that are prepared together happen within microseconds of each other.
        """
        place = self.place(name)
        try:
            with _told(name), self._opened(place.parent, make=data is not None) as folder:
                write = _Write(folder, place.name, data, expected)

                def commit() -> Stamp | None:
                    try:
                        with _told(name):
                            return write.commit()
                    except FileNotFoundError as error:
                        raise Moved(None) from error

                try:
                    yield commit
                finally:
                    write.close()
        except FileNotFoundError as error:
            raise Moved(None) from error

    @contextlib.contextmanager
    def _opened(self, folder: Path, *, make: bool) -> Generator[int, None, None]:
        """The folder held open, reached through no link; with `make` missing ones are made."""
        top = Path(os.path.realpath(self.root))
        if make and not top.is_dir():
            top.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDONLY | os.O_DIRECTORY
        descriptor = open_resolved(top, flags)
        try:
            for part in folder.relative_to(top).parts:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=descriptor)
                below = os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)


def put_away_leftovers(folder: int, keep: Callable[[bytes], object]) -> None:
    """Keep and remove what a killed process left in a folder; only the lock's holder may."""
    for name in os.listdir(folder):
        if _LEFTOVER.fullmatch(name):
            with contextlib.suppress(OSError):
                if os.stat(name, dir_fd=folder, follow_symlinks=False).st_size <= MOST_READ:
                    keep(_content(folder, name) or b"")
                    os.unlink(name, dir_fd=folder)


class _Write:
    """One write in an open folder: the new text lies beside the document until `commit`."""

    def __init__(self, folder: int, name: str, data: bytes | None, expected: str | None) -> None:
        self._folder = folder
        self._name = name
        self._data = data
        self._expected = expected
        self._temporary = ""
        self._stamp: Stamp | None = None
        if data is None:
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        mode, owner = 0o600, None
        if expected is not None:
            old = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if old.st_nlink > 1:
                return  # a new file would part its names
            mode, owner = stat.S_IMODE(old.st_mode), (old.st_uid, old.st_gid)
        self._temporary, self._stamp = _write_beside(folder, data, mode, owner)

    def commit(self) -> Stamp | None:
        """Let the new text take the document's place. Raises `Moved` and `OSError`."""
        if self._data is None:
            _take_away(self._folder, self._name, self._expected)
        elif self._expected is None:
            self._put_new()
        else:
            self._put_over(self._data, self._expected)
        return self._stamp

    def close(self) -> None:
        """Remove what lies beside the document now."""
        if self._temporary:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._temporary, dir_fd=self._folder)
        with contextlib.suppress(OSError):  # some file systems cannot sync a folder
            os.fsync(self._folder)

    def _put_new(self) -> None:
        folder, name, temporary = self._folder, self._name, self._temporary
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError as error:
            raise Moved(_content(folder, name)) from error
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
                raise
            # No hard links here: an empty file of our own holds the name meanwhile.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            os.close(os.open(name, flags, 0o600, dir_fd=folder))
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

    def _put_over(self, data: bytes, expected: str) -> None:
        folder, name, temporary = self._folder, self._name, self._temporary
        current = _content(folder, name)
        if digest_of(current) != expected:
            raise Moved(current)
        if not temporary:
            self._stamp = _write_in_place(folder, name, data)
            return
        wanted, displaced = data, None
        while exchange(folder, temporary, name):
            displaced = _content(folder, temporary)
            if digest_of(displaced) == expected:
                break
            # Another program wrote in between: its text goes back to its place, and what that
            # takes out must be what was put in before, else there is a newer one still.
            expected, wanted = str(digest_of(wanted)), displaced or b""
        else:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        if wanted is not data:
            raise Moved(wanted)


@contextlib.contextmanager
def _told(name: str) -> Generator[None, None, None]:
    """Tell what the system refuses in a sentence; what is missing is for the caller."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageError(
            f"{cut(plain_line(name), 80)} cannot be written: {error.strerror or error}.",
            kept="Nothing was changed.",
            todo="Check the memory folder, its permissions and free space.",
        ) from error


def _take_away(folder: int, name: str, expected: str | None) -> None:
    temporary = _TEMPORARY + secrets.token_hex(8)
    current = _content(folder, name)
    if digest_of(current) != expected:
        raise Moved(current)
    os.rename(name, temporary, src_dir_fd=folder, dst_dir_fd=folder)
    taken = _content(folder, temporary)
    if digest_of(taken) != expected:
        with contextlib.suppress(FileExistsError):  # a still newer one is there already
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.unlink(temporary, dir_fd=folder)
        raise Moved(taken)
    os.unlink(temporary, dir_fd=folder)


def _write_beside(
    folder: int, data: bytes, mode: int, owner: tuple[int, int] | None = None
) -> tuple[str, Stamp]:
    temporary = _TEMPORARY + secrets.token_hex(8)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if owner is not None and owner != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, *owner)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
            stamp = _stamp_of(descriptor)
    except BaseException:  # also a cancellation: no temporary file may stay; raised again below
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return temporary, stamp


def _stamp_of(descriptor: int) -> Stamp:
    state = os.fstat(descriptor)
    return state.st_mtime_ns, state.st_size


def _write_in_place(folder: int, name: str, data: bytes) -> Stamp:
    """For a file with several names (hard links), which a new file would part."""
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(descriptor)
        return _stamp_of(descriptor)


def _content(folder: int, name: str) -> bytes | None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _refused(name: str, why: str) -> NameRefused:
    return NameRefused(f"{cut(plain_line(name), 80)} {why}.", kept=_STAYED)


def _unreadable(name: str, why: str) -> StorageError:
    return StorageError(
        f"{cut(plain_line(name), 80)} cannot be read: {why}.", kept="It was left as it is."
    )
