"""Folders whose names become one when every odd character is replaced (cases/B11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.paths import Places
from app.sessions.listing import list_sessions
from app.sessions.trash import trash
from tests.fakes.sessions import Made

PAIRS = (
    ("data-api/x", "data/api-x"),
    ("my_app", "my-app"),
    ("my-app", "my.app"),
    ("项目甲", "测试乙"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_colliding_folders_share_nothing(tmp_path: Path, pair: tuple[str, str]) -> None:
    places = Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")
    folders = [tmp_path / name for name in pair]
    files = []
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True)
        made = Made(number, cwd=str(folder)).talk(f"Prompt in {folder.name}")
        files.append(made.keep(places, folder, 1_800_000_000.0))

    def prompts(folder: Path) -> list[str]:
        return [each.first_prompt for each in list_sessions(places, folder, "project")]

    assert [prompts(folder) for folder in folders] == [[f"Prompt in {f.name}"] for f in folders]
    trash(files[0], places.projects, 1_800_000_000.0)
    assert [prompts(folder) for folder in folders] == [[], [f"Prompt in {folders[1].name}"]]
