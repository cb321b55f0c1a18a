"""Where other tools keep their sessions, and which of them belong to a folder."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from app.paths import read_small
from app.sessions.catalogue import is_session_id
from app.sessions.foreign.detect import Origin
from app.sessions.foreign.read import read_any

_KEY_LENGTH = 200
_HEAD = 1 << 18
"""Bytes in which a session names its folder; Codex's first line holds all its instructions."""


def session_folders(origin: Origin, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders below which a tool keeps its sessions, as its variables say."""
    home = Path(environment.get("HOME") or Path.home())

    def chosen(name: str, default: str) -> Path:
        value = environment.get(name, "").strip()
        return home / value.removeprefix("~/") if value else home / default

    match origin:
        case "claude-code":
            return (chosen("CLAUDE_CONFIG_DIR", ".claude") / "projects",)
        case "codex":
            top = chosen("CODEX_HOME", ".codex")
            return (top / "sessions", top / "archived_sessions")
        case "pi":
            top = chosen("PI_CODING_AGENT_DIR", ".pi/agent") / "sessions"
            own = environment.get("PI_CODING_AGENT_SESSION_DIR", "").strip()
            return (chosen("PI_CODING_AGENT_SESSION_DIR", ""),) if own else (top,)


def all_sessions(origin: Origin, environment: Mapping[str, str]) -> list[Path]:
    """The files of all sessions of a tool, oldest first."""
    found = [
        file
        for folder in session_folders(origin, environment)
        for file in folder.glob("*/*.jsonl" if origin == "claude-code" else "**/*.jsonl")
        if _is_session(origin, file)
    ]
    return _oldest_first(found)


def sessions_by_id(origin: Origin, environment: Mapping[str, str], session_id: str) -> list[Path]:
    """The files whose name holds this id, oldest first; there may be copies of one session."""
    return [
        file
        for file in all_sessions(origin, environment)
        if file.stem == session_id or file.stem.endswith((f"-{session_id}", f"_{session_id}"))
    ]


def sessions_of_folder(origin: Origin, environment: Mapping[str, str], folder: Path) -> list[Path]:
    """The files of sessions that began in `folder`, oldest first."""
    real = os.path.realpath(folder)
    files = all_sessions(origin, environment)
    if origin == "claude-code":
        key = project_key(real)
        files = [file for file in files if _has_key(file.parent.name, key)]
    return [file for file in files if _same(recorded_folder(file), real)]


def recorded_folder(file: Path) -> str:
    """The working folder that a session's first records name; empty when none does."""
    try:
        head = read_small(file, _HEAD)
    except OSError:
        return ""
    if len(head) == _HEAD:
        head = head[: head.rfind(b"\n") + 1] or head
    for record in read_any(head).records:
        named = record.data.get("cwd") if record.in_chain else None
        if isinstance(named, str) and _is_path(named):
            return named
    return ""


def project_key(real: str) -> str:
    """Claude Code's folder name for a project (transcripts.md, a1), without the hash of long ones.

    A character outside of UTF-16's basic plane counts as two.
    """
    name = unicodedata.normalize("NFC", real)
    return "".join(
        letter if letter.isascii() and letter.isalnum() else "-" * (1 + (ord(letter) > 0xFFFF))
        for letter in name
    )


def _has_key(name: str, key: str) -> bool:
    if len(key) <= _KEY_LENGTH:
        return name == key
    return name.startswith(f"{key[:_KEY_LENGTH]}-")


def _is_path(text: str) -> bool:
    """Whether a file system can hold such a path at all."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _same(named: str, real: str) -> bool:
    return bool(named) and os.path.realpath(named) == real


def _is_session(origin: Origin, file: Path) -> bool:
    try:
        if not file.is_file():
            return False
    except OSError:
        return False
    match origin:
        case "claude-code":
            return is_session_id(file.stem)
        case "codex":
            return file.name.startswith("rollout-")
        case "pi":
            return True


def _oldest_first(files: Iterable[Path]) -> list[Path]:
    dated: list[tuple[float, Path]] = []
    for file in files:
        try:
            dated.append((file.stat().st_mtime, file))
        except OSError:
            continue
    return [file for _, file in sorted(dated)]
