"""Where things lie, and how files are written: private, atomic, without following links."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.errors import StorageError

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9]")
_SLUG_LENGTH = 100  # spec/sessions.md, Transcript


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one installation (spec/cli.md, "Where things are")."""

    config: Path
    data: Path
    logs: Path
    managed: Path | None = None
    """Settings that the machine's owner makes binding; they beat all others."""

    @property
    def settings(self) -> Path:
        """The user's settings file."""
        return self.config / "settings.toml"

    @property
    def credentials(self) -> Path:
        """The key file used where there is no system keyring."""
        return self.config / "credentials"

    @property
    def projects(self) -> Path:
        """All transcripts and memories, one folder a project."""
        return self.data / "projects"

    def project(self, folder: Path) -> Path:
        """The data folder of the project that lives in `folder`."""
        return self.projects / project_slug(folder)

    def memory(self, root: Path) -> Path:
        """The memory folder of the project with this top folder (spec/memory.md)."""
        return self.project(root) / "memory"

    def transcript(self, folder: Path, session_id: str) -> Path:
        """The transcript of a session that was opened in `folder`."""
        return self.project(folder) / f"{session_id}.jsonl"


def find_places(environment: Mapping[str, str]) -> Places:
    """The folders by `platformdirs`; `REVERIE_CONFIG_DIR` and `REVERIE_DATA_DIR` beat it."""
    import platformdirs

    config = environment.get("REVERIE_CONFIG_DIR") or platformdirs.user_config_dir("reverie")
    data = environment.get("REVERIE_DATA_DIR") or platformdirs.user_data_dir("reverie")
    logs = (
        str(Path(data) / "logs")
        if environment.get("REVERIE_DATA_DIR")
        else platformdirs.user_log_dir("reverie")
    )
    managed = Path(platformdirs.site_config_dir("reverie")) / "managed.toml"
    return Places(Path(config), Path(data), Path(logs), managed)


def project_slug(folder: Path) -> str:
    """A folder name for a project: readable, and unlike that of any other path.

    Every character but ASCII letters and digits becomes `-` (cut to 100), then `-` and the first
    8 hex digits of the path's SHA-256, because the readable part alone is not unique (cases/B11).
    """
    real = os.path.realpath(folder)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:8]
    return f"{_NOT_PLAIN.sub('-', real)[:_SLUG_LENGTH]}-{digest}"


def working_folder() -> Path | None:
    """The process's working folder, or None when it has been deleted (cases/B46)."""
    try:
        return Path.cwd()
    except OSError:
        return None


def read_small(path: Path, most: int = 1 << 20) -> bytes:
    """At most `most` bytes of a regular file; a pipe or device in its place never holds us up.

    Raises `OSError`.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return file.read(most)


def open_resolved(path: Path, flags: int) -> int:
    """A descriptor of the resolved `path`, opened folder by folder and through no link.

    So it is what `path` was resolved to, whatever links were put in its way since. Raises
    `OSError`; a link is one.
    """
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    # Where there is no O_PATH a folder must be readable to be gone through.
    through = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
    parts = path.parts[1:]
    if not parts:
        return os.open(path, flags)
    folder = os.open(path.anchor, through)
    for part in parts[:-1]:
        try:
            below = os.open(part, through, dir_fd=folder)
        finally:
            os.close(folder)
        folder = below
    try:
        return os.open(parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)


def make_private_folder(folder: Path) -> None:
    """Make `folder` and its missing parents with mode 0700. Raises `StorageError`."""
    try:
        for missing in [f for f in (folder, *folder.parents) if not f.exists()][::-1]:
            missing.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    except OSError as error:
        raise StorageError(
            f"The folder {folder} cannot be made: {error.strerror or error}.",
            todo="Check its permissions and free space, or set REVERIE_DATA_DIR to another place.",
        ) from error


def write_private(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Replace `path` by `content` as a whole: temporary file beside it, fsync, rename.

    Raises `StorageError`; the old content stays when it does.
    """
    make_private_folder(path.parent)
    try:
        with _written_beside(path, content, mode) as temporary:
            temporary.replace(path)
    except OSError as error:
        raise StorageError(
            f"{path} could not be written: {error.strerror or error}.",
            kept="The old content is unchanged.",
            todo="Check its permissions and free space.",
        ) from error


def create_private(path: Path, content: bytes) -> None:
    """Make the new file `path`, 0600, with all of `content` or not at all.

    Raises `FileExistsError` when something of that name is there, even a link to nothing, and
    `StorageError` when the file cannot be written.
    """
    try:
        with _written_beside(path, content, 0o600) as temporary:
            _move_to_free_name(temporary, path)
    except FileExistsError:
        raise
    except OSError as error:
        raise StorageError(
            f"{path} could not be written: {error.strerror or error}.",
            kept="Nothing was left of it.",
            todo="Check the folder, its permissions and free space.",
        ) from error


@contextlib.contextmanager
def _written_beside(path: Path, content: bytes, mode: int) -> Generator[Path, None, None]:
    """A temporary file in the same folder, safe on disk; it is gone afterwards."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        yield Path(name)
    finally:
        with contextlib.suppress(OSError):
            Path(name).unlink()


def _move_to_free_name(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # no hard links here: an empty file of our own holds the name meanwhile
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        try:
            temporary.replace(path)
        except OSError:
            path.unlink()
            raise
