"""The checks of `reverie doctor`. They look and never change; secrets are never shown."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import socket
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from app.agent.tools.base import ToolFailure
from app.agent.tools.ripgrep import ripgrep_path
from app.assembly import rule_problems
from app.config import Loaded
from app.git import git_branch, git_root
from app.installation import Installation, Options
from app.models.client import DEFAULT_BASE_URL, WAYS_IN
from app.models.errors import LocalModelMissing
from app.models.local import find_weights
from app.sessions.envelope import VERSION
from app.trust import is_trusted, wants_trust

CONNECT_WAIT = 3.0
"""Seconds for a connection to the server."""
LOW_DISK = 200_000_000
"""Free bytes below which a warning is due."""
SMALLEST_SCREEN = (80, 24)


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `todo` says how to mend it and is empty where nothing is wrong."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    todo: str = ""


def checks(here: Installation) -> list[Check]:
    """All findings about this installation. Waits some seconds for a server that is not there."""
    loaded = here.settings(Options())
    return [
        _program(),
        *(
            _writable(name, folder)
            for name, folder in (
                ("config", here.places.config),
                ("data", here.places.data),
                ("logs", here.places.logs),
            )
        ),
        _disk(here.places.data),
        *_settings(loaded),
        *_access(here, loaded),
        _ripgrep(),
        _built_in_model(),
        _terminal(here),
        _git(here.folder),
        _trust(here),
    ]


def _program() -> Check:
    python = platform.python_version()
    return Check("version", "ok", f"Reverie {VERSION}, Python {python} ({sys.executable})")


def _writable(name: str, folder: Path) -> Check:
    existing = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    if not existing.is_dir():
        return Check(name, "fail", f"{existing} is not a folder.", "Move that file away.")
    if not os.access(existing, os.W_OK | os.X_OK):
        variable = "REVERIE_CONFIG_DIR" if name == "config" else "REVERIE_DATA_DIR"
        return Check(
            name,
            "fail",
            f"{existing} is not writable.",
            f"Mend its permissions, or set {variable} to another folder.",
        )
    return Check(name, "ok", str(folder) if existing == folder else f"{folder} (not made yet)")


def _disk(folder: Path) -> Check:
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(existing).free
    shown = f"{free / 1e9:.1f} GB free"
    if free < LOW_DISK:
        return Check("disk", "warn", f"{shown}.", "Free some space: transcripts need it.")
    return Check("disk", "ok", shown)


def _settings(loaded: Loaded) -> list[Check]:
    sentences = [*map(str, loaded.problems), *rule_problems(loaded.settings)]
    if not sentences:
        return [Check("settings", "ok", "every setting counts")]
    return [Check("settings", "warn", text, "The rest counts.") for text in sentences]


def _access(here: Installation, loaded: Loaded) -> list[Check]:
    credentials = here.credentials(loaded.settings)
    url = here.base_url(loaded.settings) or DEFAULT_BASE_URL
    if credentials is None:
        return [Check("credentials", "warn", f"There is no key for {_host(url)}.", WAYS_IN)]
    shown = (
        "none needed on this machine"
        if credentials.source == "placeholder"
        else (f"from {credentials.source}")
    )
    return [Check("credentials", "ok", shown), _server(url)]


def _server(url: str) -> Check:
    """Whether a connection can be made; nothing is sent over it."""
    parts = urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        via = f" (by the proxy {_host(proxy)})"
        parts = urlsplit(proxy)
    else:
        via = ""
    try:
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        socket.create_connection((parts.hostname or "", port), CONNECT_WAIT).close()
    except (OSError, ValueError, KeyError) as error:
        return Check(
            "server",
            "fail",
            f"{_host(url)}{via} cannot be reached: {error}.",
            "Check the network and the address (ANTHROPIC_BASE_URL, base_url).",
        )
    return Check("server", "ok", f"{_host(url)}{via} answers")


def _host(url: str) -> str:
    """The address without a user name or password that may stand in it."""
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _ripgrep() -> Check:
    try:
        return Check("search", "ok", ripgrep_path())
    except ToolFailure as failure:
        return Check("search", "warn", str(failure))


def _built_in_model() -> Check:
    try:
        find_weights()
    except LocalModelMissing as error:
        return Check("built-in", "warn", error.happened, error.todo)
    return Check("built-in", "ok", "the small offline model is installed")


def _terminal(here: Installation) -> Check:
    columns, lines = shutil.get_terminal_size()
    environment = here.environment
    named = [
        f"{name}={environment[name]}"
        for name in ("TERM", "COLORTERM", "NO_COLOR", "TMUX", "LANG", "LC_ALL")
        if environment.get(name)
    ]
    detail = f"{columns}×{lines}, {' '.join(named) or 'no TERM'}"
    if environment.get("TERM", "dumb") == "dumb":
        return Check("terminal", "warn", f"{detail}.", "The app needs a terminal with a TERM.")
    if columns < SMALLEST_SCREEN[0] or lines < SMALLEST_SCREEN[1]:
        return Check("terminal", "warn", f"{detail}.", "80×24 is the smallest that shows all.")
    if "utf" not in locale.getpreferredencoding(False).lower():
        return Check("terminal", "warn", f"{detail}.", 'Not UTF-8: set glyphs = "ascii".')
    return Check("terminal", "ok", detail)


def _git(folder: Path) -> Check:
    root = git_root(folder)
    if root is None:
        return Check("git", "ok", "this folder is in no repository")
    return Check("git", "ok", f"{root}, on {git_branch(folder)}")


def _trust(here: Installation) -> Check:
    if is_trusted(here.places, here.root):
        return Check("trust", "ok", f"{here.folder} is trusted")
    if wants_trust(here.root):
        return Check(
            "trust",
            "warn",
            f"{here.folder} is not trusted: its own settings do not count.",
            "Open the app in it and answer the question.",
        )
    return Check("trust", "ok", f"{here.folder} has nothing that needs trust")
