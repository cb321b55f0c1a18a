"""How the models are reached: the provider in use, its credentials, servers on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from app.config import Settings
from app.credentials import Credentials, save_key, system_keyring
from app.errors import ReverieError
from app.installation import Installation, model_name
from app.models.provider import ModelInfo, Provider
from app.state.facts import AccessChanged, Fact, ServersFound
from app.state.model import Server, Severity

ChooseProvider: TypeAlias = Callable[[str, Installation, Settings, Credentials | None], Provider]


class Reach:
    """Owns the provider of one app."""

    def __init__(
        self,
        here: Installation,
        emit: Callable[[Fact], None],
        notice: Callable[[str, Severity], None],
        choose: ChooseProvider | None = None,
    ) -> None:
        """`choose` picks the provider of a model; None for `app.assembly.choose_provider`."""
        self._choose = choose
        self._here = here
        self._emit = emit
        self._notice = notice
        self._credentials: Credentials | None = None
        self.provider: Provider | None = None

    def leave_environment(self) -> None:
        """Let a server chosen in the app count; no key of the environment goes to it."""
        kept = {k: v for k, v in self._here.environment.items() if not k.startswith("ANTHROPIC_")}
        self._here = replace(self._here, environment=kept)

    async def find_credentials(self, settings: Settings) -> None:
        """Look for a key, in a thread: a keyring may ask the desktop."""
        self._credentials = await asyncio.to_thread(self._here.credentials, settings)

    async def connect(self, settings: Settings) -> Provider:
        """The provider of the settings' model, in place of the one before."""
        # The clients are imported after the first frame: with the agent they cost 50 ms.
        from app.assembly import choose_provider

        choose = self._choose or choose_provider
        provider = choose(model_name(settings), self._here, settings, self._credentials)
        await self.close()
        self.provider = provider
        self._emit(AccessChanged(self.is_ready))
        return provider

    @property
    def is_ready(self) -> bool:
        """Whether a request could be sent."""
        if self.provider is None:
            return False
        return self.provider.name != "anthropic" or self._credentials is not None

    async def prepare(self) -> None:
        """Load what the first request needs, or look for servers when there is no model."""
        from app.models.client import AnthropicProvider
        from app.models.local import LocalProvider

        if not self.is_ready:
            await self.search()
            return
        try:
            if isinstance(self.provider, AnthropicProvider | LocalProvider):
                await self.provider.warm()
        except ReverieError as error:
            self._notice(str(error), "error")

    async def search(self) -> None:
        """Ask the usual ports of this machine, all at once, for 300 ms."""
        from app.models.detect import detect_servers

        found = await detect_servers()
        self._emit(ServersFound(tuple(Server(s.name, s.base_url, s.models) for s in found)))

    async def keep_key(self, secret: str, settings: Settings) -> bool:
        """Keep a typed key for later sessions; False when it cannot be one."""
        url = self._here.base_url(settings)
        try:
            self._credentials = await asyncio.to_thread(
                lambda: save_key(secret, self._here.places.credentials, url, system_keyring())
            )
        except ReverieError as error:
            self._notice(str(error), "error")
            return False
        return True

    async def models(self) -> tuple[ModelInfo, ...]:
        """What the server offers; empty when it cannot say."""
        if self.provider is None or not self.is_ready:
            return ()
        try:
            return await self.provider.models()
        except ReverieError as error:
            self._notice(str(error), "warning")
            return ()

    async def close(self) -> None:
        """Release connections and child processes."""
        if self.provider is not None:
            await self.provider.close()
            self.provider = None
