"""The slash commands in the command palette (`ctrl+p`)."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from app.commands import COMMANDS
from widgets.screens.chat_commands import ChatCommands


class CommandProvider(Provider):
    """Offers every command of the chat below it."""

    async def discover(self) -> Hits:
        for command in COMMANDS:
            yield DiscoveryHit(
                command.name, partial(self._run, command.name), help=command.description
            )

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in COMMANDS:
            score = matcher.match(f"{command.name} {command.description}")
            if score > 0:
                shown = Content(command.name)
                yield Hit(score, shown, partial(self._run, command.name), help=command.description)

    async def _run(self, name: str) -> None:
        for screen in self.app.screen_stack:
            if isinstance(screen, ChatCommands):
                await screen.run_command_named(name)
