"""Where a path that the model wrote leads, and how a path is shown to it."""

from __future__ import annotations

import os
from pathlib import Path

from app.agent.tools.arguments import clean
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput


def locate(text: str, context: ToolContext) -> Path:
    """The absolute path meant by `text`: `~` expanded, relative ones from the session's folder.

    `..` is folded away by name and links are left as they are. Raises `ToolFailure` for a name
    that no file can have.
    """
    if not text.strip():
        raise ToolFailure("The path is empty.")
    if "\x00" in text or clean(text) != text:
        raise ToolFailure("The path holds a character that no file name can have.")
    expanded = os.path.expanduser(text)  # noqa: PTH111 -- Path.expanduser raises for ~unknown
    return Path(os.path.normpath(context.root / expanded))


def real(path: Path) -> Path:
    """`path` with every link resolved. Raises `ToolFailure` for a loop of links."""
    try:
        resolved = Path(os.path.realpath(path))
        if resolved.is_symlink():
            raise ToolFailure(f"{clean(str(path))} is a link that leads back to itself.")
    except (OSError, ValueError) as error:
        raise ToolFailure(f"{clean(str(path))} cannot be resolved: {error}.") from error
    return resolved


def settled(path: Path, arguments: ToolInput, context: ToolContext) -> Path:
    """`path` with every link resolved, which must be where the call led when it was judged.

    Raises `ToolFailure` where a link was turned elsewhere since, or for a loop of links.
    """
    now = real(path)
    judged = context.sightings.of(arguments)
    if judged is not None and judged != now:
        raise ToolFailure(
            f"{clean(str(path))} led to {clean(str(judged))} when this call was allowed, and leads "
            f"to {clean(str(now))} now. Nothing was done."
        )
    return now


def shown(path: Path, context: ToolContext) -> str:
    """The path as the model gets it: relative inside the session's folder, else absolute."""
    for root in (context.root, Path(os.path.realpath(context.root))):
        if path.is_relative_to(root):
            return clean(str(path.relative_to(root)))
    return clean(str(path))


def within_roots(path: Path, context: ToolContext) -> bool:
    """Whether `path`, taken by name, lies in the session's folder or an added one."""
    return any(
        path.is_relative_to(root) or path.is_relative_to(os.path.realpath(root))
        for root in (context.root, *context.added_roots)
    )


def reason_of(error: OSError) -> str:
    """The system's own words for a failure, without number and path."""
    return clean(error.strerror or str(error)).lower()
