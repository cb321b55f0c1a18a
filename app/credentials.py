"""Where the key comes from and where it is kept (spec/cli.md, Credentials).

Order: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, the system keyring, a 0600 file. A key that was
typed in the app is kept for the host it was typed for and sent to no other.

The keyring is imported on first use and may ask the desktop over D-Bus: call these functions in
a thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal, Protocol, cast
from urllib.parse import urlsplit

from app.errors import StorageError, UsageError

DEFAULT_HOST: Final = "api.anthropic.com"

_SERVICE = "reverie"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A key or token; `source` names where it came from and is fit to be shown."""

    kind: Literal["api_key", "auth_token"]
    secret: str = field(repr=False)
    source: str


PLACEHOLDER: Final = Credentials("api_key", "local", "placeholder")
"""For a server on this machine, which asks for no key."""


class Keyring(Protocol):
    """The part of a keyring backend that is used."""

    def get_password(self, service: str, username: str, /) -> str | None: ...
    def set_password(self, service: str, username: str, password: str, /) -> None: ...
    def delete_password(self, service: str, username: str, /) -> None: ...


def is_loopback(base_url: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def system_keyring() -> Keyring | None:
    """The system's keyring; None where it is missing or cannot keep a secret."""
    try:
        import keyring

        backend = keyring.get_keyring()
        usable = backend.priority >= 1
    except Exception:  # noqa: BLE001 - backends are other people's plug-ins and raise what they like
        return None
    return backend if usable else None


def find_credentials(
    environ: Mapping[str, str],
    file: Path,
    base_url: str | None = None,
    keyring: Keyring | None = None,
) -> Credentials | None:
    """The key for `base_url` (None: Anthropic itself), or None when there is none.

    A server on this machine without a key of its own gets the placeholder.
    """
    secret = environ.get("ANTHROPIC_API_KEY", "").strip()
    if secret:
        return Credentials("api_key", secret, "ANTHROPIC_API_KEY")
    secret = environ.get("ANTHROPIC_AUTH_TOKEN", "").strip()
    if secret:
        return Credentials("auth_token", secret, "ANTHROPIC_AUTH_TOKEN")
    host = _host(base_url)
    secret = _from_keyring(keyring, host)
    if secret:
        return Credentials("api_key", secret, "keyring")
    secret = _read(file).get(host, "").strip()
    if secret:
        return Credentials("api_key", secret, "file")
    return PLACEHOLDER if base_url and is_loopback(base_url) else None


def save_key(
    secret: str, file: Path, base_url: str | None = None, keyring: Keyring | None = None
) -> Credentials:
    """Keep a typed key in the keyring, or in the file where that fails.

    Raises UsageError for what cannot be a key and StorageError when it can be kept nowhere.
    """
    secret = secret.strip()
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise UsageError("That is not a key: keys are printable ASCII without spaces.")
    host = _host(base_url)
    if keyring is not None:
        try:
            keyring.set_password(_SERVICE, host, secret)
        except Exception:  # noqa: BLE001 - any failure of a plug-in has the same remedy: the file
            keyring = None
    if keyring is not None:
        _forget_in_file(file, host)
        return Credentials("api_key", secret, "keyring")
    _write(file, {**_read(file), host: secret})
    return Credentials("api_key", secret, "file")


def forget_key(file: Path, base_url: str | None = None, keyring: Keyring | None = None) -> None:
    """Remove the kept key for this host from keyring and file; none there is fine.

    Raises StorageError when the file cannot be changed.
    """
    host = _host(base_url)
    if keyring is not None:
        # A backend reports a missing entry by an exception of its own choice.
        with contextlib.suppress(Exception):
            keyring.delete_password(_SERVICE, host)
    _forget_in_file(file, host)


def _host(base_url: str | None) -> str:
    return (urlsplit(base_url).netloc.rpartition("@")[2] if base_url else "") or DEFAULT_HOST


def _from_keyring(keyring: Keyring | None, host: str) -> str:
    if keyring is None:
        return ""
    try:
        return (keyring.get_password(_SERVICE, host) or "").strip()
    except Exception:  # noqa: BLE001 - a locked or broken keyring counts as an empty one
        return ""


def _read(file: Path) -> dict[str, str]:
    try:
        content: Any = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    entries = cast("dict[str, Any]", content)
    return {host: secret for host, secret in entries.items() if isinstance(secret, str)}


def _forget_in_file(file: Path, host: str) -> None:
    kept = _read(file)
    if host in kept:
        del kept[host]
        _write(file, kept)


def _write(file: Path, content: Mapping[str, str]) -> None:
    """Atomic; the file is 0600 from its first byte, because `mkstemp` makes it so."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except OSError as error:
        raise StorageError(
            f"The key could not be kept in {file}: {error.strerror}.",
            todo="It is used until Reverie is closed.",
        ) from error
