# ruff: noqa: ASYNC240 -- a test has its loop for itself
from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from app.agent.tools.base import ToolFailure
from app.agent.tools.edit import EditTool
from app.agent.tools.read import ReadTool
from app.agent.tools.write import WriteTool
from tests.unit.agent.tool_kit import call, details_of, make_context, text_of


async def test_new_file_with_its_folders(tmp_path: Path) -> None:
    result = await call(
        WriteTool(), make_context(tmp_path), file_path="a/b/c.txt", content="x\ny\n"
    )
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"x\ny\n"
    assert text_of(result) == "Created a/b/c.txt (2 lines)."
    assert details_of(result) == {
        "type": "create",
        "filePath": str(tmp_path / "a/b/c.txt"),
        "content": "x\ny\n",
        "structuredPatch": [],
        "originalFile": None,
    }


async def test_existing_file_keeps_its_mode_and_must_be_known(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("old\n")
    path.chmod(0o750)
    context = make_context(tmp_path)
    with pytest.raises(ToolFailure, match="Read it first"):
        await call(WriteTool(), context, file_path="run.sh", content="new\n")
    await call(ReadTool(), context, file_path="run.sh")
    result = await call(WriteTool(), context, file_path="run.sh", content="new\n")
    assert path.stat().st_mode & 0o777 == 0o750
    assert details_of(result)["type"] == "update"
    assert details_of(result)["structuredPatch"][0]["lines"] == ["-old", "+new"]
    await call(WriteTool(), context, file_path="run.sh", content="newer\n")
    path.write_text("by somebody else\n")
    with pytest.raises(ToolFailure, match="changed since"):
        await call(WriteTool(), context, file_path="run.sh", content="lost\n")
    assert path.read_text() == "by somebody else\n"


async def test_touched_but_unchanged_file_is_still_known(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("same")
    context = make_context(tmp_path)
    await call(ReadTool(), context, file_path="f")
    os.utime(path, (1, 1))
    await call(WriteTool(), context, file_path="f", content="new")
    assert path.read_text() == "new"


async def test_link_inside_stays_and_link_outside_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "p"
    (root / "real").mkdir(parents=True)
    (root / "real" / "f").write_text("old")
    (root / "link").symlink_to("real/f")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("theirs")
    (root / "away").symlink_to("../outside/f")
    (root / "folder").symlink_to("../outside")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    context = make_context(root)
    await call(ReadTool(), context, file_path="link")
    await call(WriteTool(), context, file_path="link", content="new")
    assert (root / "link").is_symlink()
    assert (root / "real" / "f").read_text() == "new"
    for name, reason in (
        ("away", str(tmp_path / "outside/f")),
        ("folder/new", str(tmp_path / "outside/new")),
        ("dangling", "does not exist"),
        ("loop", "back to itself"),
    ):
        with pytest.raises(ToolFailure, match=reason):
            await call(WriteTool(), context, file_path=name, content="x")
    assert (tmp_path / "outside" / "f").read_text() == "theirs"
    context.added_roots = (tmp_path / "outside",)
    await call(WriteTool(), context, file_path="folder/new", content="x")
    assert (tmp_path / "outside" / "new").read_text() == "x"


async def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (
        ("folder", "a folder"),
        ("file/below", "not a directory|a file, not a folder"),
        ("pipe", "named pipe"),
        ("a" * 300, "too long"),
    ):
        with pytest.raises(ToolFailure, match=reason):
            await call(WriteTool(), make_context(tmp_path), file_path=name, content="y")


async def test_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("old")
    context = make_context(tmp_path)
    await call(ReadTool(), context, file_path="f")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolFailure, match=r"no space left on device. Nothing was changed"):
        await call(WriteTool(), context, file_path="f", content="new")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_text() == "old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_read_only_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ToolFailure, match="permission denied"):
        await call(WriteTool(), make_context(tmp_path), file_path="f", content="x")


async def test_half_a_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="content"):
        await call(WriteTool(), make_context(tmp_path), file_path="f", content="\ud83d")
    assert list(tmp_path.iterdir()) == []


async def test_hard_links_that_are_left_behind_are_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    (tmp_path / "other").hardlink_to(tmp_path / "f")
    context = make_context(tmp_path)
    await call(ReadTool(), context, file_path="f")
    text = text_of(await call(WriteTool(), context, file_path="f", content="new"))
    assert text.endswith("It had another name (hard links), under which the old text stays.")
    assert (tmp_path / "other").read_text() == "old"
    (tmp_path / "other").unlink()
    (tmp_path / "third").hardlink_to(tmp_path / "f")
    (tmp_path / "fourth").hardlink_to(tmp_path / "f")
    edited = await call(EditTool(), context, file_path="f", old_string="new", new_string="x")
    assert "2 other names (hard links)" in text_of(edited)
    again = await call(EditTool(), context, file_path="f", old_string="x", new_string="y")
    assert text_of(again) == "Edited f: 1 place changed."


async def test_owner_that_cannot_be_kept_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("")
    real = os.stat

    def of_another(*arguments: Any, **options: Any) -> os.stat_result:
        state = real(*arguments, **options)
        if arguments[0] != "f":
            return state
        return os.stat_result((*state[:4], state.st_uid + 1, *state[5:]))

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not allowed")

    monkeypatch.setattr(os, "stat", of_another)
    monkeypatch.setattr(os, "fchown", refuse)
    text = text_of(await call(WriteTool(), make_context(tmp_path), file_path="f", content="new"))
    assert text.endswith("It belonged to another user or group, which could not be kept.")
