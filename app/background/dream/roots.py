"""What a dream's sub-agent may read: three folders, no secrets, plain files (spec/dream.md, The
sub-agent's tools ARE the security boundary). Nobody is asked; what is not allowed is refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.agent.path_policy import is_secret
from app.agent.tools.arguments import clean
from app.paths import open_resolved
from app.plain_text import cut, plain_line

MOST_PATH: Final = 4_096
"""Characters of a path."""
STAND_IN: Final = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)
"""Opens what is only pointed at; where there is no O_PATH, Inspect is refused."""
_SYSTEM: Final = ("/proc", "/sys", "/dev", "/run")


class NotAllowed(Exception):
    """The boundary does not let a call through; the sentence goes to the model."""


def nothing_hidden(_path: Path) -> bool:
    """No rule closes anything."""
    return False


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders of one dream."""

    project: Path
    """Relative paths of the reading tools start here."""
    stage: Path
    """The copy of the memory that the dream may change."""
    transcripts: Path
    hidden: Callable[[Path], bool] = nothing_hidden
    """What the person's rules close to reading (`permission.hidden_from_search`)."""

    folders: tuple[Path, ...] = field(init=False)
    """All of them, links resolved once: a root that is turned elsewhere does not take us along."""

    def __post_init__(self) -> None:
        places = (self.project, self.stage, self.transcripts)
        object.__setattr__(self, "folders", tuple(real(place) for place in places))


def quoted(text: str) -> str:
    """A piece of what the model wrote, short and fit for a sentence."""
    return f"`{cut(plain_line(clean(text)), 120)}`"


def real(path: Path) -> Path:
    """`path` with its links resolved. Raises `NotAllowed` for a path that cannot be."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise NotAllowed(f"{quoted(str(path))} cannot be resolved to a path.") from error


def readable(text: str, roots: Roots) -> Path:
    """The resolved path that `text` means, which a dream may read; it need not exist.

    `..` is folded away by name, as the reading tools do it. Raises `NotAllowed`.
    """
    if not text.strip():
        raise NotAllowed("The path is empty.")
    if len(text) > MOST_PATH or clean(text) != text or any(_is_control(c) for c in text):
        raise NotAllowed(f"{quoted(text)} is a path that no file can have.")
    if text.startswith("~"):
        raise NotAllowed(f"{quoted(text)}: write the path out, `~` is not expanded.")
    by_name = Path(os.path.normpath(roots.project / text))
    aim = real(by_name)
    if any(aim.is_relative_to(system) for system in _SYSTEM) and not _is_within_system(roots, aim):
        raise NotAllowed(f"{quoted(text)} lies in {aim.parts[1]}, which is not for files.")
    if not any(aim.is_relative_to(root) for root in roots.folders):
        how = "leads by a link" if aim != by_name else "lies"
        raise NotAllowed(
            f"{quoted(text)} {how} outside of what a dream may read: the project, the memory and "
            "the transcripts."
        )
    if is_closed(aim, roots) or is_closed(by_name, roots):
        raise NotAllowed(f"{quoted(text)} may hold secrets, or a rule closes it to reading.")
    kind = _kind(aim, text)
    if kind is not None and not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise NotAllowed(f"{quoted(text)} is neither a regular file nor a folder.")
    return aim


def _is_control(letter: str) -> bool:
    return letter < " " or "\x7f" <= letter < "\xa0"


def _is_within_system(roots: Roots, aim: Path) -> bool:
    """Whether a root itself lies there, as temporary folders in `/dev/shm` or `/run/user` do."""
    return any(
        aim.is_relative_to(root) and any(root.is_relative_to(system) for system in _SYSTEM[2:])
        for root in roots.folders
    )


def _kind(path: Path, text: str) -> int | None:
    """The mode of what is there, None for nothing."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise NotAllowed(f"{quoted(text)} cannot be looked at.") from error


def is_closed(path: Path, roots: Roots) -> bool:
    """Whether this path within a root holds secrets by its name, or a rule closes it."""
    inner = [path.relative_to(root) for root in _spellings(roots) if path.is_relative_to(root)]
    return any(is_secret(each) for each in inner) or roots.hidden(path)


def _spellings(roots: Roots) -> set[Path]:
    return {*roots.folders, roots.project, roots.stage, roots.transcripts}


def open_there(path: Path, text: str, *, folder: bool | None = None) -> int:
    """A descriptor that stands for the resolved `path`, reached through no link.

    It cannot be read itself, so that no device or pipe is ever opened; a program opens it again.
    `folder` says what it must be, None for either. Raises `NotAllowed`.
    """
    try:
        descriptor = open_resolved(path, STAND_IN)
    except FileNotFoundError as error:
        raise NotAllowed(f"{quoted(text)} does not exist. Patterns are not expanded.") from error
    except (OSError, ValueError) as error:
        raise NotAllowed(f"{quoted(text)} cannot be opened.") from error
    mode = os.fstat(descriptor).st_mode
    trouble = ""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        trouble = "is neither a regular file nor a folder"
    elif folder is False and stat.S_ISDIR(mode):
        trouble = "is a folder, not a file"
    if trouble:
        os.close(descriptor)
        raise NotAllowed(f"{quoted(text)} {trouble}.")
    return descriptor
