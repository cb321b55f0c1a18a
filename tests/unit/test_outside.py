"""A text in the person's own editor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.errors import ReverieError
from app.outside import Editing


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    program = tmp_path / "editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return {"EDITOR": str(program), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}


@pytest.mark.parametrize(
    ("text", "left"), [("one", "one+"), ("one\n", "one\n+\n"), ("\n", "\n+\n"), ("", "+")]
)
def test_the_last_line_end_is_the_texts_own(tmp_path: Path, text: str, left: str) -> None:
    assert Editing(text, editor(tmp_path, "echo + >> $1")).run() == left


def test_what_a_failing_editor_has_written_is_kept_and_named(tmp_path: Path) -> None:
    with pytest.raises(ReverieError, match="status 3") as raised:
        Editing("one", editor(tmp_path, "echo two > $1; exit 3")).run()
    kept = re.search(r"is in (\S+)\.$", raised.value.kept)
    assert kept
    assert Path(kept[1]).read_text() == "two\n"
    Path(kept[1]).unlink()


def test_an_editor_that_gives_up_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ReverieError, match="status 1") as raised:
        Editing("one", editor(tmp_path, "exit 1")).run()
    assert raised.value.kept == "The text is unchanged."
