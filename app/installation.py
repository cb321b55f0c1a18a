"""What a session needs to know before it can be put together: where it runs and what was asked.

Apart from `app.assembly`, so that the screen can be up before the agent has been imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.clock import Clock, SystemClock
from app.config import Loaded, Settings, load_settings
from app.credentials import Credentials, find_credentials, system_keyring
from app.git import git_root, main_work_tree
from app.models.usage import DEFAULT_MODEL, DEFAULT_SMALL_MODEL, LOCAL_MODEL, REHEARSAL_MODEL
from app.paths import Places, project_slug
from app.trust import is_trusted

BUILT_IN = {"local": LOCAL_MODEL, "rehearsal": REHEARSAL_MODEL}
"""What `--model` calls the built-in models, and their ids."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for (spec/cli.md)."""

    prompt: str | None = None
    model: str | None = None
    small_model: str | None = None
    mode: str | None = None
    tools: tuple[str, ...] | None = None
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    added_folders: tuple[Path, ...] = ()
    appended_prompt: str = ""
    settings_file: Path | None = None
    persist: bool = True
    session_id: str | None = None
    resume: Path | None = None
    """A transcript to go on with."""
    pick: bool = False
    """Whether the list of sessions is shown first."""
    fork: bool = False
    """Go on in a new session that branches off `resume`."""
    fork_at: str | None = None
    """The uuid of the record at which it branches off; None for the end of the branch in use."""
    max_turns: int | None = None

    def flags(self) -> dict[str, Any]:
        """The settings among the options, by dotted key."""
        given: dict[str, Any] = {
            "model": self.model,
            "small_model": self.small_model,
            "permissions.mode": self.mode,
            "permissions.allow": self.allowed,
            "permissions.deny": self.denied,
        }
        return {key: value for key, value in given.items() if value not in (None, ())}


@dataclass(frozen=True, slots=True)
class Installation:
    """Where the app runs: folders, environment, time."""

    places: Places
    folder: Path
    environment: Mapping[str, str]
    clock: Clock = field(default_factory=SystemClock)

    @property
    def root(self) -> Path:
        """The top of the project: of its repository, or the folder itself outside of git."""
        return git_root(self.folder) or self.folder

    @property
    def home(self) -> Path:
        """The person's home folder."""
        return Path(self.environment.get("HOME") or Path.home())

    def memory_folders(self, settings: Settings) -> tuple[Path, Path]:
        """The folder of the project's memory, and that of its history.

        All work trees of a repository share one (spec/memory.md, Sources).
        """
        own = self.places.memory(main_work_tree(self.folder) or self.folder)
        chosen = settings.memory.folder
        if chosen is None:
            return own, own.with_name("memory-history")
        is_home = chosen[0] == "~"
        folder = self.home / chosen[1:].lstrip("/") if is_home else Path(chosen)
        folder = self.places.config / folder  # a relative one starts where the settings are
        return folder, self.places.data / "memory-history" / project_slug(folder)

    def settings(self, options: Options, *, trusted: bool | None = None) -> Loaded:
        """All layers; the project's only where the folder is trusted."""
        counts = is_trusted(self.places, self.root) if trusted is None else trusted
        return load_settings(
            self.places,
            project=self.root if counts else None,
            extra=options.settings_file,
            flags=options.flags(),
            managed=self.places.managed,
        )

    def base_url(self, settings: Settings) -> str | None:
        """The server's address, None for Anthropic's own."""
        return self.environment.get("ANTHROPIC_BASE_URL") or settings.base_url

    def credentials(self, settings: Settings) -> Credentials | None:
        """The key in force. Slow where a keyring answers: call it in a thread."""
        url = self.base_url(settings)
        quick = find_credentials(self.environment, self.places.credentials, url, None)
        if quick is not None and quick.source != "placeholder":
            return quick
        return find_credentials(self.environment, self.places.credentials, url, system_keyring())


def small_model_of(here: Installation, settings: Settings) -> str | None:
    """The model of small background calls; None where no such model is known to be served.

    The default one is Anthropic's: another server has it only when the person says so.
    """
    if settings.small_model is not None:
        return settings.small_model
    return DEFAULT_SMALL_MODEL if here.base_url(settings) is None else None


def model_name(settings: Settings) -> str:
    """The main model's id."""
    name = settings.model or DEFAULT_MODEL
    return BUILT_IN.get(name, name)
