"""Bytes of files by their SHA-256: what a session needs to put files back (spec/checkpoints.md).

One folder a session. A fork gets hard links to what it needs, so that the bytes are on disk once
and go with the last session that needs them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from app.errors import StorageError
from app.paths import make_private_folder

NOTE = "rewind.json"
_OWN = re.compile(r"[0-9a-f]{64}")
_FOREIGN = re.compile(r"[0-9a-f]{16}@v[0-9]{1,9}")
_ENDING = ".zst"
_PIECE = 1 << 20
_LEVEL = 1  # measured: 4 ms for 5 MB of noise, 0.3 ms for a source file


def store_of(transcript: Path) -> BlobStore:
    """The blobs of the session with this transcript."""
    return BlobStore(transcript.with_suffix("") / "file-history")


def note_of(transcript: Path) -> Path:
    """Where a rewind of this session is written down while it is under way."""
    return transcript.with_suffix("") / NOTE


class BlobMissing(StorageError):
    """Bytes that are asked for are not there any more, or are not what they were."""


def is_blob_name(name: object) -> bool:
    """Whether a record may name a blob so: a digest of ours, or a backup of Claude Code's."""
    return isinstance(name, str) and bool(_OWN.fullmatch(name) or _FOREIGN.fullmatch(name))


class BlobStore:
    """The blobs of one session. Names are digests; other tools' backups keep their own names.

    One that is not `durable` does not wait for the disk: a power cut may take its newest blobs.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self.folder = folder
        self._durable = durable

    def put(self, data: bytes) -> str:
        """Keep these bytes; returns their digest. Raises `StorageError`."""
        digest = hashlib.sha256(data).hexdigest()
        if not self._file(digest).is_file():
            self.put_from(BytesIO(data))
        return digest

    def put_from(self, source: BinaryIO) -> str:
        """Keep all that `source` has, read once; returns the digest.

        Its bytes are safe on disk then, its name once `sync` was called. Raises `StorageError` when
        they cannot be written or read; nothing is left of them then.
        """
        import zstandard  # 12 ms that only a session with changes needs

        if not self.folder.is_dir():
            make_private_folder(self.folder)
        temporary = self.folder / f".{secrets.token_hex(8)}.tmp"
        digest = hashlib.sha256()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                writer = zstandard.ZstdCompressor(level=_LEVEL).stream_writer(file, closefd=False)
                while piece := source.read(_PIECE):
                    digest.update(piece)
                    writer.write(piece)
                writer.flush(zstandard.FLUSH_FRAME)
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.replace(self._file(digest.hexdigest()))
        except OSError as error:
            raise StorageError(
                f"A file's bytes could not be kept in {self.folder}: {error.strerror or error}.",
                kept="The file itself is unchanged.",
                todo="Check permissions and free space of the data folder.",
            ) from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        return digest.hexdigest()

    def sync(self) -> None:
        """Make the names of what was put survive a power cut."""
        with contextlib.suppress(OSError):  # some file systems cannot sync a folder
            _sync(self.folder, os.O_RDONLY | os.O_DIRECTORY)

    def has(self, name: str) -> bool:
        """Whether these bytes are still there."""
        return is_blob_name(name) and self._file(name).is_file()

    def copy_to(self, name: str, target: BinaryIO) -> str:
        """Write a blob's bytes to `target`; returns their digest.

        Raises `BlobMissing` when they are gone or damaged, `OSError` when `target` is full.
        """
        import zstandard

        if not is_blob_name(name):
            raise BlobMissing(f"{name!r} names no saved bytes.")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        digest = hashlib.sha256()
        try:
            source = os.fdopen(os.open(self._file(name), flags), "rb")
        except OSError as error:
            raise BlobMissing(f"The saved bytes {name} are gone.") from error
        with source:
            own = _OWN.fullmatch(name) is not None
            reader = zstandard.ZstdDecompressor().stream_reader(source) if own else source
            while True:
                try:
                    piece = reader.read(_PIECE)
                except (zstandard.ZstdError, OSError) as error:
                    raise BlobMissing(f"The saved bytes {name} are damaged.") from error
                if not piece:
                    break
                digest.update(piece)
                target.write(piece)
        if own and digest.hexdigest() != name:
            raise BlobMissing(f"The saved bytes {name} are damaged.")
        return digest.hexdigest()

    def measure(self, name: str) -> tuple[str, int]:
        """Digest and number of a blob's bytes, all of which are read. Raises `BlobMissing`."""
        data = self.read(name)
        return hashlib.sha256(data).hexdigest(), len(data)

    def read(self, name: str) -> bytes:
        """A blob's bytes, whole. Raises `BlobMissing`."""
        target = BytesIO()
        self.copy_to(name, target)
        return target.getvalue()

    def share(self, other: BlobStore, names: Iterable[str]) -> None:
        """Give `other` these blobs too: hard links, or copies where there are none.

        What is missing here is left out; what `other` gets is safe on disk if it is durable.
        Raises `StorageError`.
        """
        make_private_folder(other.folder)
        unsafe = other._durable and not self._durable
        for name in names:
            source, target = self._file(name), other._file(name)
            if not is_blob_name(name) or target.is_file() or not source.is_file():
                continue
            try:
                _link_or_copy(source, target)
                if unsafe:
                    _sync(target, os.O_RDONLY)
            except FileExistsError:
                continue
            except OSError as error:
                raise StorageError(
                    f"Saved bytes could not be shared with {other.folder}: "
                    f"{error.strerror or error}."
                ) from error
        if unsafe:
            other.sync()

    def keep_only(self, names: Collection[str]) -> int:
        """Remove every other blob; returns how many went."""
        wanted = {self._file(name).name for name in names}
        removed = 0
        with contextlib.suppress(OSError):
            for file in self.folder.iterdir():
                known = file.name.endswith(_ENDING) or is_blob_name(file.name)
                if known and file.name not in wanted:
                    file.unlink(missing_ok=True)
                    removed += 1
        return removed

    def _file(self, name: str) -> Path:
        return self.folder / (f"{name}{_ENDING}" if _OWN.fullmatch(name) else name)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # no hard links here, or across two disks
        temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            shutil.copyfile(source, temporary, follow_symlinks=False)
            temporary.chmod(0o600)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
