from __future__ import annotations

from pathlib import Path

from app.memory.pages import Found
from app.memory.search import search
from tests.fakes.documents import on_disk


def write(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return [f"{name}.md" for name in texts]


def test_names_come_before_lines_and_every_word_must_be_there(tmp_path: Path) -> None:
    names = write(tmp_path, one="The clock stands\nthe clock of the test stands", clock="none")
    assert search(on_disk(tmp_path), names, "CLOCK") == [
        Found("clock.md", 0, "clock.md"),
        Found("one.md", 1, "The clock stands"),
        Found("one.md", 2, "the clock of the test stands"),
    ]
    assert [each.line for each in search(on_disk(tmp_path), names, "test clock")] == [2]
    assert search(on_disk(tmp_path), names, "clock elsewhere") == []
    assert search(on_disk(tmp_path), names, "  ") == []


def test_letters_that_fold_to_several_are_found_in_their_place(tmp_path: Path) -> None:
    names = write(tmp_path, a="ß" * 300 + " STRASSE " + "x" * 300)
    found = search(on_disk(tmp_path), names, "straße")
    assert len(found) == 1
    assert "STRASSE" in found[0].text


def test_a_long_line_is_cut_around_the_hit(tmp_path: Path) -> None:
    names = write(tmp_path, a="a" * 500 + " needle " + "b" * 500, b="needle " + "c" * 500)
    first, second = search(on_disk(tmp_path), names, "needle")
    assert first.text.startswith("…a")
    assert first.text.endswith("b…")
    assert "needle" in first.text
    assert second.text.startswith("needle c")
    assert max(len(first.text), len(second.text)) <= 200


def test_no_control_character_comes_through(tmp_path: Path) -> None:
    names = write(tmp_path, a="x \x1b]0;y\x07 needle\r\nz")
    assert search(on_disk(tmp_path), names, "needle")[0].text == "x ␛]0;y␇ needle"


def test_most_ends_the_search(tmp_path: Path) -> None:
    names = write(tmp_path, a="word\n" * 10, b="word\n" * 10)
    assert len(search(on_disk(tmp_path), names, "word", most=12)) == 12


def test_what_cannot_be_read_is_found_by_its_name_only(tmp_path: Path) -> None:
    (tmp_path / "bytes.md").write_bytes(b"word \xff")
    (tmp_path / "out.md").symlink_to("/etc/hostname")
    names = ["bytes.md", "out.md", "gone.md"]
    assert search(on_disk(tmp_path), names, "word") == []
    assert search(on_disk(tmp_path), names, "gone") == [Found("gone.md", 0, "gone.md")]
