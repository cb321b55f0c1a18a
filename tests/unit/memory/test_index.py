from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.memory.index import MOST_LISTED, Contents, Index
from app.storage.documents import DocumentInfo
from tests.fakes.documents import on_disk

OLD = 1_700_000_000
NOW = (OLD + 1_000_000) * 10**9
"""Long after all files of these tests: what they hold is settled."""


def write(folder: Path, name: str, text: str | bytes, age: int = 0) -> Path:
    """A file that is `age` seconds older than `OLD`, in folders as old as that."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(file, (OLD - age, OLD - age))
    settle(folder)
    return file


def settle(folder: Path) -> None:
    for place, _, _ in os.walk(folder):
        os.utime(place, (OLD, OLD))


def contents(folder: Path) -> Contents:
    return Index(on_disk(folder)).contents()


def reasons(found: Contents) -> dict[str, str]:
    return {each.name: each.reason for each in found.skipped}


def test_front_matter_says_what_a_document_is_about(tmp_path: Path) -> None:
    text = "---\nname: 'Clock rules'\ndescription: Use the fake # one\ntype: project\n---\n# No\n"
    write(tmp_path, "sub/clock.md", text)
    item = contents(tmp_path).items[0]
    assert (item.name, item.title) == ("sub/clock.md", "Clock rules")
    assert (item.description, item.kind) == ("Use the fake", "project")
    assert (item.size, item.modified) == (len(text), OLD * 10**9)


def test_a_mark_and_crlf_do_not_hide_front_matter(tmp_path: Path) -> None:
    write(tmp_path, "a.md", b'\xef\xbb\xbf---\r\nname: "A: b"\r\nother\r\n---\r\n')
    assert contents(tmp_path).items[0].title == "A: b"


def test_without_a_name_the_first_heading_outside_of_code_is_the_title(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "---\ntype: user\n---\n```\n# not this\n```\n## This one ##\n")
    assert (contents(tmp_path).items[0].title, contents(tmp_path).items[0].kind) == (
        "This one",
        "user",
    )


def test_only_the_first_30_lines_and_65_536_bytes_are_looked_at(tmp_path: Path) -> None:
    write(tmp_path, "30.md", "\n" * 29 + "# here")
    write(tmp_path, "31.md", "\n" * 30 + "# here")
    write(tmp_path, "bytes.md", "x" * 65_536 + "\n# here")
    write(tmp_path, "end.md", "x" * 65_535 + "é")
    titles = {item.name: item.title for item in contents(tmp_path).items}
    assert titles == {"30.md": "here", "31.md": "", "bytes.md": "", "end.md": ""}


def test_the_200_newest_are_listed_newest_first_without_the_entry(tmp_path: Path) -> None:
    for number in range(MOST_LISTED + 5):
        write(tmp_path, f"n{number}.md", "x", age=number)
    write(tmp_path, "MEMORY.md", "# Entry")
    found = contents(tmp_path)
    assert [item.name for item in found.items] == [f"n{n}.md" for n in range(MOST_LISTED)]
    assert found.is_cut
    assert len(found.documents) == MOST_LISTED + 6
    assert not found.is_scan_cut


def test_the_text_is_one_line_a_document_and_within_25_000_units(tmp_path: Path) -> None:
    for number in range(150):
        about = "🙂" * 200
        text = f"---\nname: {number}\ndescription: {about}\n---\n"
        write(tmp_path, f"{number}.md", text, age=number)
    found = contents(tmp_path)
    units = len(found.text.encode("utf-16-le")) // 2
    assert found.is_cut
    assert 24_500 < units <= 25_000
    first = f"- 0.md (2023-11-14) 0: {'🙂' * 200}"
    assert found.text.splitlines()[0] == first
    assert found.text.endswith("\n")


def test_words_of_a_file_are_one_line_without_control_characters(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "# a\x1b[31mred\x1b[0m\u202e\tb\x07\n")
    item = contents(tmp_path).items[0]
    assert item.title == "ared<202e> b␇"


def test_only_markdown_of_at_most_a_megabyte_counts(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "no")
    write(tmp_path, ".hidden.md", "no")
    write(tmp_path, "just.md", b"x" * (1 << 20))
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(1 << 30)
    found = contents(tmp_path)
    assert [item.name for item in found.items] == ["just.md"]
    assert "1073741824 bytes" in reasons(found)["huge.md"]


def test_eight_levels_are_looked_into(tmp_path: Path) -> None:
    folders = [f"f{number}" for number in range(8)]
    write(tmp_path, "/".join([*folders[:7], "in.md"]), "x")
    write(tmp_path, "/".join([*folders, "out.md"]), "x")
    found = contents(tmp_path)
    assert [item.name.rpartition("/")[2] for item in found.items] == ["in.md"]
    assert "levels deep" in reasons(found)["/".join(folders)]


def test_no_more_than_5_000_entries_are_looked_at(tmp_path: Path) -> None:
    for number in range(5_010):
        (tmp_path / f"{number}.md").touch()
    found = contents(tmp_path)
    assert (len(found.documents), found.is_scan_cut, found.is_cut) == (5_000, True, True)
    assert "10 more entries" in reasons(found)["."]


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    folder, outside = tmp_path / "memory", tmp_path / "outside.md"
    outside.write_text("# Outside")
    for name in (
        ".git/a.md",
        "agents/a.md",
        "two\nlines.md",
        "bad\x1b/in.md",
        "Case.md",
        "case.md",
    ):
        write(folder, name, "x")
    write(folder, "latin.md", b"caf\xe9")
    write(folder, "nul.md", b"a\0")
    write(folder, "good.md", "# Good")
    os.mkfifo(folder / "pipe.md")
    (folder / "out.md").symlink_to(outside)
    (folder / "out").symlink_to(tmp_path)
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "gone.md").symlink_to("nothing.md")
    (folder / "within.md").symlink_to("good.md")
    (folder / os.fsdecode(b"\xff.md")).symlink_to("good.md")
    found = contents(folder)
    assert {item.name for item in found.items} == {"Case.md", "good.md", "within.md"}
    named = reasons(found)
    assert set(named) == {
        ".git",
        "agents",
        "two lines.md",
        "bad␛",
        "case.md",
        "latin.md",
        "nul.md",
        "pipe.md",
        "out.md",
        "out",
        "loop.md",
        "gone.md",
        "\ufffd.md",
    }
    assert "UTF-8" in named["latin.md"]
    assert "link" in named["out.md"]
    assert "not a regular file" in named["pipe.md"]
    assert "only in case" in named["case.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x").chmod(0)
    assert reasons(contents(tmp_path)) == {"a.md": "it may not be read"}


def test_no_folder_is_an_empty_index(tmp_path: Path) -> None:
    assert contents(tmp_path / "none") == Contents()
    write(tmp_path, "file", "x")
    assert contents(tmp_path / "file").items == ()


def test_a_folder_that_vanishes_and_comes_back_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    index = Index(on_disk(folder, lambda: NOW), lambda: NOW)
    write(folder, "a.md", "# One")
    assert len(index.contents().items) == 1
    shutil.rmtree(folder)
    assert index.contents() == Contents()
    write(folder, "b.md", "# Two")
    assert [item.title for item in index.contents().items] == ["Two"]


def test_a_folder_that_vanishes_between_the_look_and_the_reading_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.storage import document_scan as module

    write(tmp_path / "memory", "a.md", "# One")
    real = module.look

    def look_and_lose(folder: Path) -> object:
        found = real(folder)
        shutil.rmtree(folder)
        return found

    monkeypatch.setattr(module, "look", look_and_lose)
    found = contents(tmp_path / "memory")
    assert (found.items, found.skipped, found.text) == ((), (), "")


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: write(folder, "new.md", "# New", age=-5),
    lambda folder: write(folder, "sub/new.md", "# New", age=-5),
    lambda folder: (folder / "a.md").unlink(),
    lambda folder: (folder / "a.md").rename(folder / "sub" / "c.md"),
    lambda folder: write(folder, "a.md", "# Other", age=-5),
    lambda folder: write(folder, "sub/b.md", "# Longer than before"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen_by_the_next_call(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    index = Index(on_disk(tmp_path, lambda: NOW), lambda: NOW)
    write(tmp_path, "a.md", "# One")
    write(tmp_path, "sub/b.md", "# Two")
    before = index.contents()
    assert index.contents() is before
    change(tmp_path)
    for place in (tmp_path, tmp_path / "sub"):
        os.utime(place, (OLD + 1, OLD + 1))
    assert index.contents() == Index(on_disk(tmp_path)).contents() != before


def test_what_is_settled_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = on_disk(tmp_path, lambda: NOW)
    index = Index(store, lambda: NOW)
    write(tmp_path, "a.md", "# One")
    index.contents()
    asked: list[str] = []
    read = store.head
    monkeypatch.setattr(store, "head", lambda name, most: asked.append(name) or read(name, most))
    write(tmp_path, "b.md", "# Two")
    os.utime(tmp_path, (OLD + 1, OLD + 1))
    assert len(index.contents().items) == 2
    assert asked == ["b.md"]


def test_a_second_change_within_one_tick_of_the_disk_is_seen(tmp_path: Path) -> None:
    index = Index(on_disk(tmp_path, lambda: OLD * 10**9 + 1_000), lambda: OLD * 10**9 + 1_000)
    write(tmp_path, "a.md", "# One")
    assert index.contents().items[0].title == "One"
    write(tmp_path, "a.md", "# Two")
    assert index.contents().items[0].title == "Two"


def test_of_many_unlisted_ones_a_write_in_place_is_seen_after_three_calls(tmp_path: Path) -> None:
    for number in range(4_900):
        (tmp_path / f"{number:04}.md").touch()
        os.utime(tmp_path / f"{number:04}.md", (OLD - 100, OLD - 100 - number))
    settle(tmp_path)
    store = on_disk(tmp_path, lambda: NOW)
    index = Index(store, lambda: NOW)
    index.contents()
    write(tmp_path, "4800.md", "# Newest", age=0)
    titles = [index.contents().items[0].title for _ in range(3)]
    assert titles[-1] == "Newest"
    write(tmp_path, "4801.md", "# Newer still", age=-1)
    store.listing(anew=True)
    assert index.contents().items[0].title == "Newer still"


def test_documents_name_all_that_were_found(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "bb")
    write(tmp_path, "MEMORY.md", "x")
    assert contents(tmp_path).documents == (
        DocumentInfo("MEMORY.md", 1, OLD * 10**9),
        DocumentInfo("b.md", 2, OLD * 10**9),
    )


@pytest.mark.parametrize("name", ["memory.md", "Memory.md", "~backup.md", " blank.md"])
def test_names_that_no_document_can_have_are_named_and_nothing_fails(
    tmp_path: Path, name: str
) -> None:
    write(tmp_path, name, "# One")
    write(tmp_path, "good.md", "# Good")
    found = contents(tmp_path)
    assert [item.name for item in found.items] == ["good.md"]
    assert list(reasons(found)) == [name]
