from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from app.background.dream import stage_files
from app.background.dream.stage_files import StageFiles
from tests.unit.background.dream.dream_kit import SECRET, Ground


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


async def _read(ground: Ground, name: str) -> None:
    await ground.call("Read", file_path=str(ground.stage / name))


async def test_documents_are_written_edited_and_deleted(ground: Ground) -> None:
    made = await ground.call("Write", file_path="topics/new.md", content="one two\n", evidence="e")
    assert made == "Created topics/new.md."
    file = ground.stage / "topics" / "new.md"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    edited = await ground.call("Edit", file_path=str(file), old_string="two", new_string="2")
    assert (edited, file.read_text()) == ("Edited topics/new.md: 1 place changed.", "one 2\n")
    assert await ground.call("Delete", file_path="topics/new.md") == "Deleted topics/new.md."
    assert not file.exists()
    assert [each.name for each in file.parent.iterdir()] == []


@pytest.mark.parametrize("tool", ["Write", "Edit", "Delete"])
async def test_document_must_have_been_read_as_it_is(tool: str, ground: Ground) -> None:
    arguments: dict[str, Any] = {
        "Write": {"content": "x"},
        "Edit": {"old_string": "fact", "new_string": "x"},
        "Delete": {},
    }[tool]
    file = ground.stage / "topic.md"
    said = await ground.call(tool, file_path="topic.md", **arguments)
    assert "has not been read" in said
    await _read(ground, "topic.md")
    file.write_text("another fact\n")
    said = await ground.call(tool, file_path="topic.md", **arguments)
    assert "has changed since" in said
    assert file.read_text() == "another fact\n"
    await _read(ground, "topic.md")
    assert not (await ground.call(tool, file_path="topic.md", **arguments)).startswith("REFUSED")


async def test_edit_keeps_line_ends_and_mark(ground: Ground) -> None:
    file = ground.stage / "topic.md"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    await _read(ground, "topic.md")
    await ground.call("Edit", file_path="topic.md", old_string="one\ntwo", new_string="1\n2")
    assert file.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n"


async def test_document_holds_no_nuls(ground: Ground) -> None:
    said = await ground.call("Write", file_path="new.md", content="a\0b")
    assert "NULs" in said and not (ground.stage / "new.md").exists()


async def test_document_may_have_so_many_bytes(ground: Ground) -> None:
    most = 102_400
    said = await ground.call("Write", file_path="large.md", content="x" * most)
    assert said.startswith("Created")
    said = await ground.call("Edit", file_path="large.md", old_string="x" * most, new_string="y")
    assert said.startswith("Edited")
    said = await ground.call("Edit", file_path="large.md", old_string="y", new_string="é" * 51_201)
    assert f"{most} are most" in said
    assert (ground.stage / "large.md").read_text() == "y"


async def test_file_that_is_a_hard_link_outside_is_replaced_not_written(ground: Ground) -> None:
    os.link(ground.outside / "o.txt", ground.stage / "twin.md")
    await _read(ground, "twin.md")
    await ground.call("Write", file_path="twin.md", content="x")
    assert (ground.outside / "o.txt").read_text() == SECRET


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", {"content": "x"}),
        ("Edit", {"old_string": "old", "new_string": "x"}),
        ("Delete", {}),
    ],
)
@pytest.mark.parametrize("hook", ["checked_name", "_refuse_special"])
async def test_folder_swapped_for_a_link_between_check_and_use(
    tool: str,
    arguments: dict[str, Any],
    hook: str,
    ground: Ground,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner, away = ground.stage / "topics", ground.outside / "topics"
    away.mkdir()
    for folder in (inner, away):
        (folder / "n.md").write_text("old")
    await _read(ground, "topics/n.md")
    arguments = {"file_path": "topics/n.md", **arguments}
    assert ground.boundary.verdict(tool, arguments) == ""
    before = getattr(stage_files, hook)
    swapped = False

    def swap(*words: Any) -> Any:
        nonlocal swapped
        found = before(*words)
        if not swapped:
            swapped = True
            inner.rename(ground.stage / "gone")
            inner.symlink_to(away)
        return found

    monkeypatch.setattr(stage_files, hook, swap)
    await ground.call(tool, **arguments)
    assert swapped
    assert {each.name: each.read_text() for each in away.iterdir()} == {"n.md": "old"}


async def test_stage_itself_swapped_for_a_link(ground: Ground) -> None:
    ground.stage.rename(ground.base / "gone")
    ground.stage.symlink_to(ground.outside)
    said = await ground.call("Write", file_path="x.md", content="x")
    assert said.startswith("REFUSED ")
    assert not (ground.outside / "x.md").exists()


async def test_file_swapped_for_a_link_is_not_written_through(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stage_files._refuse_special
    target = ground.stage / "topic.md"

    def swap(folder: int, name: str) -> None:
        before(folder, name)
        if not target.is_symlink():
            target.unlink()
            target.symlink_to(ground.outside / "o.txt")

    await _read(ground, "topic.md")
    files = StageFiles(ground.stage)
    monkeypatch.setattr(stage_files, "_refuse_special", swap)
    files.write("topic.md", b"x")
    assert (ground.outside / "o.txt").read_text() == SECRET
    target.unlink()
    target.write_text("y")
    files.remove("topic.md")
    assert (ground.outside / "o.txt").read_text() == SECRET


def test_failed_write_leaves_nothing_behind(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stage_files.os, "fsync", full)
    before = ground.everything()
    with pytest.raises(stage_files.NotAllowed, match="no space left"):
        StageFiles(ground.stage).write("topic.md", b"x")
    assert ground.everything() == before


def test_write_to_a_new_folder_of_another_case_is_refused(ground: Ground) -> None:
    with pytest.raises(stage_files.NotAllowed, match="letters' case"):
        StageFiles(ground.stage).write("Topics/x.md", b"x")
    assert not (ground.stage / "Topics").exists()
