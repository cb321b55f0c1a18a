"""What surrounds the prompt: earlier prompts, drafts, paths, the editor, the clipboard."""

from __future__ import annotations

from app.desk import DraftKeeper
from app.errors import ReverieError, StorageError
from app.installation import Installation
from app.outside import Editing, copy_to_system, project_paths
from app.sessions.prompt_memory import PromptMemory
from app.state.model import Session


class Writing:
    """The prompt's side of one project."""

    def __init__(self, here: Installation) -> None:
        self._here = here
        self._memory = PromptMemory(here.places.project(here.folder))
        self._drafts = DraftKeeper(self._memory, here.clock)

    def earlier(self) -> list[str]:
        """Earlier prompts, oldest first."""
        return self._memory.prompts()

    def remember(self, text: str) -> StorageError | None:
        """Keep a prompt for the arrow keys; returns why it could not be kept."""
        return self._memory.add(text)

    def draft(self, session: Session, *, at_start: bool) -> str:
        """The unsent text of a session; at the start of the app whatever was left behind."""
        self._drafts.flush()
        is_new = at_start and session.view.leaf is None
        return self._memory.draft(session.session_id, is_new=is_new)

    def keep_draft(self, session: Session, text: str) -> None:
        """Keep the unsent text, so that it survives whatever happens."""
        if session.session_id:
            self._drafts.keep(session.session_id, text)

    async def paths(self) -> list[str]:
        """Paths to complete after `@`. Raises `ReverieError` when they cannot be listed."""
        from app.agent.tools.base import ToolFailure

        try:
            return await project_paths(self._here.folder)
        except (ToolFailure, OSError) as error:
            raise ReverieError(f"Paths cannot be completed: {error}") from error

    def editing(self, text: str) -> Editing:
        """A text to be opened in the person's editor."""
        return Editing(text, self._here.environment)

    async def copy(self, text: str) -> None:
        """Put a text on the desktop's clipboard, where there is one."""
        await copy_to_system(text, self._here.environment)

    def close(self) -> None:
        """Write the draft in hand and release the files."""
        self._drafts.close()
        self._memory.close()
