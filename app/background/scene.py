"""What background mechanisms may look at and do: the session on screen, and nothing of widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.agent.loop import AgentLoop
from app.clock import Clock
from app.config import Settings
from app.installation import Installation
from app.state.facts import Fact
from app.state.model import State


@dataclass(frozen=True, slots=True)
class Scene:
    """One app, whichever session is on screen."""

    here: Installation
    settings: Callable[[], Settings]
    state: Callable[[], State]
    emit: Callable[[Fact], None]
    loop: Callable[[], AgentLoop]
    """The agent loop of the session on screen."""
    small_model: Callable[[], str | None]

    @property
    def clock(self) -> Clock:
        """The time."""
        return self.here.clock

    @property
    def version(self) -> tuple[object, str | None]:
        """Which conversation this is and how far it has come; what was made for another is late."""
        conversation = self.loop().conversation
        return conversation, conversation.view.leaf_uuid
