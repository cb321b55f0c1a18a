from __future__ import annotations

from pathlib import Path

from app.paths import Places
from app.trust import is_trusted, trust, wants_trust


def test_trust_covers_a_folder_and_what_is_in_it(tmp_path: Path) -> None:
    places = Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")
    folder = tmp_path / "project"
    (folder / "deep").mkdir(parents=True)
    assert not is_trusted(places, folder)
    trust(places, folder)
    trust(places, folder)
    assert is_trusted(places, folder)
    assert is_trusted(places, folder / "deep")
    assert not is_trusted(places, tmp_path)
    assert not is_trusted(places, tmp_path / "project-2")
    (tmp_path / "link").symlink_to(folder)
    assert is_trusted(places, tmp_path / "link")


def test_a_damaged_list_trusts_nothing(tmp_path: Path) -> None:
    places = Places(tmp_path, tmp_path / "data", tmp_path / "logs")
    for content in (b"{", b"{}", b'[1, {"a": 2}]'):
        (tmp_path / "trusted.json").write_bytes(content)
        assert not is_trusted(places, tmp_path)
    trust(places, tmp_path)
    assert is_trusted(places, tmp_path)


def test_only_what_trust_unlocks_wants_it(tmp_path: Path) -> None:
    assert not wants_trust(tmp_path)
    (tmp_path / ".reverie").mkdir()
    assert wants_trust(tmp_path)
