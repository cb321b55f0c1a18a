"""One copy of a project's files, from which a shell command's changes can be undone.

The bytes that a command will overwrite must be kept before it runs, whichever they are; so all of
them are, once a project and by content, in a `BlobStore` with an index beside the blobs. What the
index says of a file is trusted while size, times, inode and mode are the same, so that only what
is new is read.

Sessions of a project share it. Each holds the lock, shared, from before a command until after it;
only who gets the lock alone removes blobs. The index is replaced as a whole: of two writers the
last wins, and what the other one knew is read again. A blob that is gone is put again. So nothing
here needs to be safe from a power cut.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, TypeAlias

import msgspec
from msgspec import Struct

from app.checkpoints.blobs import BlobStore
from app.checkpoints.states import FileState, open_file
from app.errors import StorageError
from app.paths import make_private_folder, write_private

Stamp: TypeAlias = tuple[int, int, int, int, int]
"""Size, mtime and ctime in ns, inode, mode: while they stay, so do the bytes."""
NO_STAMP: Stamp = (0, 0, 0, 0, 0)
"""Unlike that of any file."""
GRANULE = 2_000_000_000
"""ns in which a file system may not tell two writes apart: FAT's, the coarsest there is."""

_IN_MEMORY = 1 << 20
"""Larger files are read in pieces, twice."""
_TRIES = 3
_INDEX, _LOCK = "index", "lock"


class Entry(Struct, frozen=True, array_like=True):
    """What was at a path. The ctime is -1 where the next look must read it again."""

    stamp: Stamp
    state: FileState


_decoder = msgspec.msgpack.Decoder(dict[bytes, Entry])
_encoder = msgspec.msgpack.Encoder()


def stamp_of(status: os.stat_result) -> Stamp:
    """What tells whether a file was written since."""
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_mode,
    )


class Baseline:
    """The copy in `folder`; `now` gives the wall time in ns."""

    def __init__(self, folder: Path, now: Callable[[], int]) -> None:
        self.folder = folder
        self._blobs = BlobStore(folder, durable=False)
        self._now = now
        self._held: BinaryIO | None = None
        self._entries: dict[bytes, Entry] = {}
        self._version: tuple[int, ...] | None = None

    def hold(self) -> None:
        """Keep other sessions from removing blobs, until `release`. Raises `StorageError`."""
        self.release()
        make_private_folder(self.folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._held = os.fdopen(os.open(self.folder / _LOCK, flags, 0o600), "r+b")
        except OSError as error:
            raise StorageError(
                f"{self.folder / _LOCK} cannot be opened: {error.strerror or error}."
            ) from error
        with contextlib.suppress(OSError):  # no locks on this file system; `sweep` gets none either
            fcntl.flock(self._held, fcntl.LOCK_SH)

    def release(self) -> None:
        """Give up the lock, if it is held."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def load(self) -> dict[bytes, Entry]:
        """By name, what the index says whose bytes are here; read again when others wrote it."""
        version = self._found_version()
        if version is None or version != self._version:
            self._entries = self._read_index()
            self._version = version
        return self._entries

    def save(self, entries: dict[bytes, Entry]) -> None:
        """Replace the index, unless it says that already. Raises `StorageError`."""
        if entries != self._entries:
            self._version = None
            write_private(self.folder / _INDEX, _encoder.encode(entries))
            self._entries = entries
        self._version = self._found_version()

    def room_for(self, size: int) -> bool:
        """Whether the disk has so many bytes left."""
        try:
            return shutil.disk_usage(self.folder).free > size
        except OSError:
            return True

    def capture(self, path: str) -> Entry:
        """What is at the absolute `path`; the bytes of a file are kept. Raises `StorageError`.

        A file that is written meanwhile is read again; if that does not end, what was read last
        counts, and is not trusted again.
        """
        for _ in range(_TRIES - 1):
            entry, settled = self._read(path)
            if settled:
                return entry
        return self._read(path)[0]

    def share(self, store: BlobStore, digests: Iterable[str]) -> None:
        """Give a session these bytes. Raises `StorageError`."""
        self._blobs.share(store, digests)

    def sweep(self) -> None:
        """Remove what the index on disk does not need, if no other session is at work."""
        if self._held is None:
            return
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            with contextlib.suppress(OSError):
                fcntl.flock(self._held, fcntl.LOCK_SH)
            return
        wanted = {f"{entry.state.sha256}.zst" for entry in self.load().values()}
        with contextlib.suppress(OSError), os.scandir(self.folder) as found:
            for file in found:
                ours = file.name.endswith((".zst", ".tmp")) or file.name.startswith(".tmp-")
                if ours and file.name not in wanted:
                    Path(file.path).unlink(missing_ok=True)
        self._version = self._found_version()
        with contextlib.suppress(OSError):
            fcntl.flock(self._held, fcntl.LOCK_SH)

    def _read(self, path: str) -> tuple[Entry, bool]:
        """What is there, and whether it stayed the same while it was read."""
        now = self._now()
        descriptor, state = open_file(path)
        if descriptor is None:
            return Entry(NO_STAMP, state), True
        with os.fdopen(descriptor, "rb") as file:
            first = stamp_of(os.fstat(descriptor))
            try:
                digest = self._keep(file)
            except OSError:
                return Entry(NO_STAMP, FileState("other")), True
            state = FileState("file", digest, file.tell(), state.mode, state.names)
            last = stamp_of(os.fstat(descriptor))
        # A write that the clock of the file system cannot tell from this one may still come.
        if first != last or last[2] > now - GRANULE:
            return Entry((*last[:2], -1, *last[3:]), state), first == last
        return Entry(last, state), True

    def _keep(self, file: BufferedReader) -> str:
        data = file.read(_IN_MEMORY + 1)
        if len(data) <= _IN_MEMORY:
            return self._blobs.put(data)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        if not self._blobs.has(digest):
            file.seek(0)
            digest = self._blobs.put_from(file)
        return digest

    def _read_index(self) -> dict[bytes, Entry]:
        try:
            entries = _decoder.decode((self.folder / _INDEX).read_bytes())
        except (OSError, msgspec.DecodeError):
            return {}
        return self._with_bytes(entries)

    def _with_bytes(self, entries: Mapping[bytes, Entry]) -> dict[bytes, Entry]:
        """The entries whose blobs are here; an empty one is what a power cut may leave."""
        here: set[str] = set()
        with contextlib.suppress(OSError), os.scandir(self.folder) as found:
            for file in found:
                if not file.name.endswith(".zst"):
                    continue
                if file.stat(follow_symlinks=False).st_size:
                    here.add(file.name.removesuffix(".zst"))
                else:
                    Path(file.path).unlink(missing_ok=True)
        return {
            name: entry
            for name, entry in entries.items()
            if entry.state.kind != "file" or entry.state.sha256 in here
        }

    def _found_version(self) -> tuple[int, ...] | None:
        """Changes with each index written and each blob put or removed, by whomever."""
        try:
            folder = self.folder.stat()
            index = (self.folder / _INDEX).stat()
        except OSError:
            return None
        return (folder.st_mtime_ns, index.st_ino, index.st_mtime_ns, index.st_size)
