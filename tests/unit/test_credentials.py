from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.credentials import (
    PLACEHOLDER,
    Credentials,
    find_credentials,
    forget_key,
    is_loopback,
    save_key,
)
from app.errors import StorageError, UsageError

KEY = "sk-ant-api03-abc"


class MemoryKeyring:
    def __init__(self, *, broken: bool = False) -> None:
        self.entries: dict[tuple[str, str], str] = {}
        self.broken = broken

    def get_password(self, service: str, username: str, /) -> str | None:
        self._check()
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str, /) -> None:
        self._check()
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str, /) -> None:
        self._check()
        del self.entries[service, username]

    def _check(self) -> None:
        if self.broken:
            raise RuntimeError("locked")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "credentials"


def test_the_order_of_places(file: Path) -> None:
    keyring = MemoryKeyring()
    both = {"ANTHROPIC_API_KEY": " k ", "ANTHROPIC_AUTH_TOKEN": "t"}
    assert find_credentials({}, file, keyring=keyring) is None
    save_key("in-file", file)
    assert find_credentials({}, file, keyring=keyring) == Credentials("api_key", "in-file", "file")
    keyring.set_password("reverie", "api.anthropic.com", "in-ring")
    found = find_credentials({}, file, keyring=keyring)
    assert found == Credentials("api_key", "in-ring", "keyring")
    found = find_credentials({"ANTHROPIC_AUTH_TOKEN": "t"}, file, keyring=keyring)
    assert found == Credentials("auth_token", "t", "ANTHROPIC_AUTH_TOKEN")
    found = find_credentials(both, file, keyring=keyring)
    assert found == Credentials("api_key", "k", "ANTHROPIC_API_KEY")
    assert find_credentials({"ANTHROPIC_API_KEY": "  "}, file, keyring=keyring) is not None


def test_a_saved_key_is_private(file: Path) -> None:
    assert save_key(f" {KEY}\n", file) == Credentials("api_key", KEY, "file")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_a_key_goes_to_its_own_host_only(file: Path) -> None:
    save_key("gate", file, "https://gate.example:8443/v1")
    save_key(KEY, file)
    here = "http://127.0.0.1:8080"
    assert find_credentials({}, file, here) is PLACEHOLDER
    assert find_credentials({}, file, "https://other.example") is None
    found = find_credentials({}, file, "https://gate.example:8443")
    assert found is not None
    assert found.secret == "gate"


def test_the_keyring_is_preferred_and_replaces_the_file(file: Path) -> None:
    keyring = MemoryKeyring()
    save_key("old", file)
    assert save_key(KEY, file, keyring=keyring).source == "keyring"
    assert "old" not in file.read_text()
    forget_key(file, keyring=keyring)
    forget_key(file, keyring=keyring)
    assert find_credentials({}, file, keyring=keyring) is None


def test_a_broken_keyring_counts_as_none(file: Path) -> None:
    keyring = MemoryKeyring(broken=True)
    assert save_key(KEY, file, keyring=keyring).source == "file"
    found = find_credentials({}, file, keyring=keyring)
    assert found is not None
    assert found.source == "file"
    forget_key(file, keyring=keyring)
    assert find_credentials({}, file, keyring=keyring) is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"api.anthropic.com": 3}', b"\xff\xfe"])
def test_a_damaged_file_counts_as_none(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    assert find_credentials({}, file) is None


@pytest.mark.parametrize("secret", ["", "  ", "a b", "schlüssel", "a\nb", "a\x1bb"])
def test_what_cannot_be_a_key_is_refused(file: Path, secret: str) -> None:
    with pytest.raises(UsageError):
        save_key(secret, file)
    assert not file.exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError) as caught:
        save_key(KEY, tmp_path / "taken" / "credentials")
    assert KEY not in str(caught.value)


def test_the_secret_is_not_in_the_repr() -> None:
    assert KEY not in repr(Credentials("api_key", KEY, "file"))


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:1", True),
        ("http://127.8.0.1", True),
        ("http://[::1]:9/v1", True),
        ("https://api.anthropic.com", False),
        ("http://127.0.0.1.evil.example", False),
        ("http://localhost@evil.example", False),
        ("nonsense", False),
    ],
)
def test_what_is_on_this_machine(url: str, here: bool) -> None:
    assert is_loopback(url) is here


def test_the_keyring_is_not_imported_at_start() -> None:
    told = "import sys, app.credentials; print('keyring' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
