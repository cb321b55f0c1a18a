"""Keeps what requests carry of instruction files and memory up to date, and the cache alive.

What every request carries stands in front of the conversation: a change of it costs the cache of
the whole session once. So it is made anew when something was changed by somebody else, not when
the model itself has noted something, which it knows anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from app.agent.session_memory import SessionMemory
from app.clock import Clock
from app.errors import StorageError
from app.memory.documents import version_of
from app.memory.entry import MOST_PROBED, Entry, load_entry
from app.memory.instructions import load_instructions, signature
from app.memory.loaded import Loaded, compose
from app.models.provider import Block
from app.storage.names import ENTRY


@dataclass(frozen=True, slots=True)
class Surface:
    """Where instruction files are looked for."""

    folder: Path
    root: Path
    home: Path
    config: Path
    refuses: Callable[[Path], str]
    """Why a file may not be imported, empty where it may."""


class Briefs(Protocol):
    """What requests carry besides the conversation."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The system blocks; none where there is nothing to say."""
        ...

    async def refresh(self, *, anew: bool = False) -> bool:
        """Look whether anything has changed; returns whether `blocks` has."""
        ...


class NothingToSay:
    """Requests that carry the conversation alone."""

    blocks: tuple[Block, ...] = ()

    async def refresh(self, *, anew: bool = False) -> bool:
        """Nothing ever changes."""
        return False


@dataclass(slots=True)
class Briefing:
    """What one session's requests carry besides the conversation."""

    surface: Surface
    memory: SessionMemory | None
    clock: Clock
    loaded: Loaded | None = None
    _entry: str = field(init=False, default="")

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The system blocks; none where there is nothing to say."""
        if self.loaded is None or not self.loaded.text:
            return ()
        text: dict[str, Any] = {"type": "text", "text": self.loaded.text}
        return ({**text, "cache_control": {"type": "ephemeral"}},)

    async def refresh(self, *, anew: bool = False) -> bool:
        """Look whether anything has changed; returns whether `blocks` has.

        With `anew` also what the model itself has written is taken in.
        """
        return await asyncio.to_thread(self.look, anew=anew)

    def look(self, *, anew: bool = False) -> bool:
        """`refresh`, blocking."""
        version = self._entry_version()
        own = self.memory.written.get(ENTRY) if self.memory is not None else None
        is_same = version == self._entry or (version == own and not anew)
        loaded = self.loaded
        if loaded is not None and is_same:
            instructions = loaded.instructions
            if signature(instructions.watched) == instructions.signature:
                return False
        before = self.blocks
        self._entry = version
        self.loaded = self.load()
        return self.blocks != before

    def load(self) -> Loaded:
        """What a request that began now would carry. Blocking."""
        entry = Entry() if self.memory is None else load_entry(self.memory.documents.store)
        surface = self.surface
        instructions = load_instructions(
            surface.folder, surface.root, surface.home, surface.config, surface.refuses
        )
        return compose(instructions, entry, self.clock.now().date())

    def _entry_version(self) -> str:
        if self.memory is None:
            return ""
        with contextlib.suppress(StorageError):  # what is wrong with it is told when it is loaded
            self.memory.documents.settle()
            return version_of(self.memory.documents.store.head(ENTRY, MOST_PROBED).data)
        return ""
