"""What was typed in a project: earlier prompts for the arrow keys, and unsent drafts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from app.errors import StorageError
from app.paths import write_private
from app.storage.local import FileLog

MOST_PROMPTS = 1_000
"""Prompts offered by the arrow keys."""

_FRESH = "new"


class PromptMemory:
    """The history and drafts of one project. Damage in its files costs what was damaged only."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the project's data folder."""
        self._history = folder / "prompts.jsonl"
        self._drafts = folder / "drafts.json"
        self._log = FileLog(self._history)

    def prompts(self) -> list[str]:
        """Earlier prompts, oldest first, repeats in a row once."""
        found: list[str] = []
        try:
            lines = self._history.read_bytes().split(b"\n")
        except OSError:
            return []
        for line in lines[-MOST_PROMPTS - 1 :]:
            try:
                text: object = json.loads(line)
            except ValueError:
                continue
            if isinstance(text, str) and text and (not found or found[-1] != text):
                found.append(text)
        return found

    def add(self, text: str) -> StorageError | None:
        """Remember a prompt; returns why it could not be kept."""
        try:
            self._log.append([json.dumps(text).encode()])
        except StorageError as error:
            return error
        return None

    def draft(self, session_id: str, *, is_new: bool) -> str:
        """The unsent text of a session; a new one takes over what the last one left behind."""
        drafts = self._read_drafts()
        if session_id in drafts:
            return drafts[session_id]
        return drafts.get(_FRESH, "") if is_new else ""

    def save_draft(self, session_id: str, text: str) -> StorageError | None:
        """Keep the unsent text, empty to forget it; returns why it could not be kept."""
        drafts = {key: value for key, value in self._read_drafts().items() if key != session_id}
        drafts.pop(_FRESH, None)
        if text:
            drafts[session_id] = drafts[_FRESH] = text
        newest = dict(list(drafts.items())[-50:])
        try:
            write_private(self._drafts, json.dumps(newest).encode())
        except StorageError as error:
            return error
        return None

    def _read_drafts(self) -> dict[str, str]:
        try:
            found: object = json.loads(self._drafts.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        items = cast("dict[str, object]", found).items()
        return {key: value for key, value in items if isinstance(value, str)}

    def close(self) -> None:
        """Release the history file."""
        self._log.close()
