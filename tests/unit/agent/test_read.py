from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from app.agent.tools.base import ToolFailure
from app.agent.tools.read import LINE_CHARACTERS, READ_CHARACTERS, ReadTool
from tests.unit.agent.tool_kit import call, details_of, make_context, text_of

_PIXEL = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40


async def _text(root: Path, data: bytes, **arguments: object) -> str:
    (root / "f").write_bytes(data)
    return text_of(await call(ReadTool(), make_context(root), file_path="f", **arguments))


async def test_lines_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"one\r\ntwo\n")
    result = await call(ReadTool(), make_context(tmp_path), file_path="f")
    assert text_of(result) == "     1\tone\n     2\ttwo"
    assert details_of(result) == {
        "type": "text",
        "file": {
            "filePath": str(tmp_path / "f"),
            "content": "one\r\ntwo",
            "numLines": 2,
            "startLine": 1,
            "totalLines": 2,
        },
    }


async def test_part_of_a_file_says_where_to_go_on(tmp_path: Path) -> None:
    text = await _text(tmp_path, b"".join(b"%d\n" % n for n in range(1, 11)), offset=3, limit=2)
    assert text == "     3\t3\n     4\t4\n\n(Lines 3 to 4 of 10. Continue with offset 5.)"


async def test_offset_behind_the_end_and_empty_file(tmp_path: Path) -> None:
    assert await _text(tmp_path, b"a\n", offset=9) == (
        "(The file has only 1 lines; there is no line 9.)"
    )
    assert await _text(tmp_path, b"") == "(The file is empty.)"


async def test_long_line_and_long_file_are_cut(tmp_path: Path) -> None:
    text = await _text(tmp_path, ("\U0001f680" * 3000).encode())
    assert "line cut at 2000 characters" in text
    assert text.count("\U0001f680") == LINE_CHARACTERS
    text = await _text(tmp_path, (b"x" * 1000 + b"\n") * 500)
    assert len(text) < READ_CHARACTERS + 200
    assert "of 500. Continue with offset" in text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("\ufeffä\n".encode(), "ä"),
        ("ä\n".encode("utf-16"), "ä"),
        (b"\xfe\xff" + "ä\n".encode("utf-16-be"), "ä"),
        ("ä\n".encode("utf-32"), "ä"),
        ("ä\n".encode("latin-1"), "ä"),
        ("a\u2028b\x0cc\n".encode(), "a\u2028b\x0cc"),
    ],
)
async def test_encodings(data: bytes, shown: str, tmp_path: Path) -> None:
    assert (await _text(tmp_path, data)).startswith(f"     1\t{shown}")


async def test_binary_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="binary file of 8 bytes"):
        await _text(tmp_path, b"\x7fELF\x00\x01\x02\x03")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (_PIXEL, "image/png"),
        (b"\xff\xd8\xff\xe0 jpeg", "image/jpeg"),
        (b"GIF89a gif", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
async def test_pictures(data: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(data)
    result = await call(ReadTool(), make_context(tmp_path), file_path="f.txt")
    assert isinstance(result.content, list)
    assert result.content[0]["source"]["media_type"] == kind
    assert details_of(result)["file"]["originalSize"] == len(data)


async def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        for name, reason in (
            (".", "folder"),
            ("pipe", "named pipe"),
            ("/dev/zero", "device"),
            ("sock", "socket"),
            ("loop", "back to itself"),
            ("dangling", "does not exist"),
            ("missing", "does not exist"),
            ("a\0b", "character"),
            ("\ud83d", "character"),
            (" ", "empty"),
        ):
            with pytest.raises(ToolFailure, match=reason):
                await call(ReadTool(), make_context(tmp_path), file_path=name)


async def test_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(b"first\n" * 3000)
        file.truncate(1_000_000_000)
    started = time.monotonic()
    result = await call(ReadTool(), make_context(tmp_path), file_path="huge", limit=2)
    assert time.monotonic() - started < 1
    assert "Lines 1 to 2; the file goes on" in text_of(result)


async def test_large_file_by_offset(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.writelines(b"%07d\n" % n for n in range(1, 1_500_001))
    context = make_context(tmp_path)
    text = text_of(await call(ReadTool(), context, file_path="large", offset=1_400_000, limit=1))
    assert text.startswith("1400000\t1400000\n")
    text = text_of(await call(ReadTool(), context, file_path="large", offset=1_500_000))
    assert text == "1500000\t1500000"
    text = text_of(await call(ReadTool(), context, file_path="large", offset=1_600_000))
    assert "only 1500000 lines" in text


async def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "f").write_text("at home")
    root = tmp_path / "p"
    root.mkdir()
    assert "at home" in text_of(await call(ReadTool(), make_context(root), file_path="~/f"))


def test_title_never_raises() -> None:
    for value in (None, 3, [], {}, "a\nb", "\ud83d"):
        ReadTool().title({"file_path": value})
