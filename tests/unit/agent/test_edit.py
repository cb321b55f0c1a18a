from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agent.tools.base import ToolContext, ToolFailure
from app.agent.tools.edit import EditTool, replaced
from app.agent.tools.read import ReadTool
from app.patch import structured_patch
from tests.unit.agent.tool_kit import call, details_of, make_context, text_of


async def _edit(root: Path, data: bytes, **arguments: Any) -> bytes:
    (root / "f").write_bytes(data)
    context = make_context(root)
    await call(ReadTool(), context, file_path="f")
    await call(EditTool(), context, file_path="f", **arguments)
    return (root / "f").read_bytes()


@pytest.mark.parametrize(
    ("data", "old", "new", "wanted"),
    [
        (b"one\ntwo\n", "two", "2", b"one\n2\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\n", b"x\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\r\nb\nc\r\nd", "b\nc", "b\nX", b"a\r\nb\nX\r\nd"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("\ufeffä\r\nb".encode("utf-16-le"), "ä", "ö", "\ufeffö\r\nb".encode("utf-16-le")),
        (b"caf\xe9 \xff\n", "caf\xe9", "th\xe9", b"th\xe9 \xff\n"),
        (b"no end", "end", "", b"no "),
        (b"a.b\nacb\n", "a.b", "X", b"X\nacb\n"),
        (b"x\n", "x", r"\1\g<0>", b"\\1\\g<0>\n"),
    ],
)
async def test_only_the_edit_changes(
    data: bytes, old: str, new: str, wanted: bytes, tmp_path: Path
) -> None:
    assert await _edit(tmp_path, data, old_string=old, new_string=new) == wanted


async def test_replace_all_and_details(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\na\n")
    context = make_context(tmp_path)
    await call(ReadTool(), context, file_path="f")
    result = await call(
        EditTool(), context, file_path="f", old_string="a", new_string="z", replace_all=True
    )
    assert text_of(result) == "Edited f: 2 places changed."
    details = details_of(result)
    assert details["originalFile"] == "a\nb\na\n"
    assert details["structuredPatch"] == [
        {
            "oldStart": 1,
            "oldLines": 3,
            "newStart": 1,
            "newLines": 3,
            "lines": ["-a", "+z", " b", "-a", "+z"],
        }
    ]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("a", "z", r"occurs 2 times \(lines 1, 3\)"),
        ("q", "z", "does not occur"),
        ("b", "b", "the same"),
        ("", "z", "empty"),
    ],
)
async def test_refusals(old: str, new: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match=reason):
        await _edit(tmp_path, b"a\nb\na\n", old_string=old, new_string=new)
    assert (tmp_path / "f").read_bytes() == b"a\nb\na\n"


async def test_letter_that_the_encoding_lacks(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match=r"U\+1F680"):
        await _edit(tmp_path, b"caf\xe9\n", old_string="caf", new_string="\U0001f680")


async def test_file_must_be_read_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a")
    context = make_context(tmp_path)

    async def edit(context: ToolContext) -> None:
        await call(EditTool(), context, file_path="f", old_string="a", new_string="b")

    with pytest.raises(ToolFailure, match="Read it first"):
        await edit(context)
    await call(ReadTool(), context, file_path="f")
    (tmp_path / "f").write_text("a!")
    with pytest.raises(ToolFailure, match="changed since"):
        await edit(context)
    await call(ReadTool(), context, file_path="f")
    await edit(context)
    assert (tmp_path / "f").read_text() == "b!"


@given(st.text("ab\n", max_size=30), st.text("ab\n", min_size=1, max_size=4), st.text("ab\nc"))
def test_replacing_in_plain_text_is_str_replace(text: str, old: str, new: str) -> None:
    if old not in text or text.replace(old, new) == text:
        return
    assert replaced(text, old, new, True) == (text.replace(old, new), text.count(old))


@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
def test_patch_turns_the_old_text_into_the_new(old: list[str], new: list[str]) -> None:
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    result = list(old)
    for hunk in reversed(structured_patch(before, after)):
        start = hunk["oldStart"] - (1 if hunk["oldLines"] else 0)
        kept = [line[1:] for line in hunk["lines"] if line[0] != "+"]
        assert result[start : start + hunk["oldLines"]] == kept
        result[start : start + hunk["oldLines"]] = [
            line[1:] for line in hunk["lines"] if line[0] != "-"
        ]
    assert result == new


def test_patch_of_a_large_change_is_quick_and_has_its_context() -> None:
    old = [f"{n}" for n in range(9000)]
    new = [*old[:10], *(f"x{n}" for n in range(8000)), *old[8990:]]
    (hunk,) = structured_patch("\n".join(old), "\n".join(new))
    assert hunk["lines"][:4] == [" 7", " 8", " 9", "-10"]
    assert hunk["lines"][-3:] == [" 8990", " 8991", " 8992"]
