"""Where a project's memory lies and what its sessions load, by the settings in force."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from app.agent.briefing import Briefing, Surface
from app.agent.path_policy import is_secret
from app.agent.session_memory import SessionMemory
from app.config import Settings
from app.errors import StorageError
from app.installation import Installation
from app.memory.documents import Documents
from app.memory.index import Index
from app.storage.local_documents import LocalDocuments


def documents_of(here: Installation, settings: Settings) -> Documents:
    """The documents of the project's memory."""
    return Documents(LocalDocuments(*here.memory_folders(settings), here.clock))


def session_memory(here: Installation, settings: Settings, session_id: str) -> SessionMemory | None:
    """The project's memory for one session; None where `auto_memory` is off."""
    if not settings.auto_memory:
        return None
    documents = documents_of(here, settings)
    return SessionMemory(documents, Index(documents.store), session_id)


def briefing_of(here: Installation, memory: SessionMemory | None) -> Briefing:
    """What the requests of a session carry besides the conversation; nothing is read yet."""
    surface = Surface(here.folder, here.root, here.home, here.places.config, _refuses)
    return Briefing(surface, memory, here.clock)


def _refuses(path: Path) -> str:
    return "it may hold secrets" if is_secret(path) else ""


async def leave(memory: SessionMemory | None) -> None:
    """Give the memory of a session up; what another program has overwritten comes back."""
    if memory is not None:
        with contextlib.suppress(StorageError):  # the person is leaving; the history has it all
            await asyncio.to_thread(memory.documents.settle)
        memory.documents.store.close()
