from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.memory.entry import ENTRY, MOST_LINES, MOST_PROBED, MOST_UNITS, Entry, load_entry
from app.memory.links import links, mentions, with_renamed_link, without_link
from tests.fakes.documents import on_disk


def entry_of(folder: Path, data: bytes) -> Entry:
    (folder / ENTRY).write_bytes(data)
    return load_entry(on_disk(folder))


def test_no_file_is_an_empty_entry_without_trouble(tmp_path: Path) -> None:
    assert load_entry(on_disk(tmp_path)) == Entry()
    assert load_entry(on_disk(tmp_path / "gone")) == Entry()


def test_exactly_200_lines_are_loaded_whole(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, b"a line\n" * MOST_LINES)
    assert (entry.is_cut, entry.lines, entry.code_units) == (False, 200, 1_400)
    assert (entry.lines_left_out, entry.bytes_left_out, entry.first_line_cut) == (0, 0, 0)


def test_the_201st_line_is_left_out_and_told(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, b"a line\n" * MOST_LINES + b"one more\nand one")
    assert (entry.is_cut, entry.lines, entry.first_line_cut) == (True, 200, 201)
    assert (entry.lines_left_out, entry.bytes_left_out) == (2, 16)
    assert (entry.whole_lines, entry.whole_units) == (202, 1_416)
    assert (tmp_path / ENTRY).read_bytes().endswith(b"and one")


def test_exactly_25_000_units_are_loaded_whole(tmp_path: Path) -> None:
    assert not entry_of(tmp_path, b"x" * MOST_UNITS).is_cut
    entry = entry_of(tmp_path, b"x" * (MOST_UNITS + 1))
    assert (entry.code_units, entry.bytes_left_out, entry.first_line_cut) == (25_000, 1, 1)


def test_units_are_counted_and_not_bytes_or_characters(tmp_path: Path) -> None:
    # 12 500 characters of two units and four bytes each.
    whole = entry_of(tmp_path, "🙂".encode() * (MOST_UNITS // 2))
    assert (whole.is_cut, whole.code_units, len(whole.text)) == (False, 25_000, 12_500)
    assert not entry_of(tmp_path, "é".encode() * MOST_UNITS).is_cut


def test_a_surrogate_pair_at_the_edge_is_left_out_as_a_whole(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, b"x" * (MOST_UNITS - 1) + "🙂".encode())
    assert (entry.code_units, entry.text[-1], entry.bytes_left_out) == (24_999, "x", 4)


def test_what_is_larger_than_the_probe_does_not_claim_to_know_the_lines(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, b"abc\n" * 30_000)
    assert (entry.lines, entry.lines_left_out) == (200, None)
    assert entry.bytes_left_out == 120_000 - 800
    assert entry.whole_units == MOST_PROBED


def test_a_character_that_the_probe_cuts_in_two_is_no_damage(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, b"x" + "é".encode() * MOST_PROBED)
    assert (entry.trouble, entry.code_units) == ("", MOST_UNITS)


def test_a_gigabyte_is_told_at_once_and_read_to_the_probe_only(tmp_path: Path) -> None:
    with (tmp_path / ENTRY).open("wb") as file:
        file.write(b"x\n" * MOST_PROBED)
        file.truncate(1 << 30)
    entry = load_entry(on_disk(tmp_path))
    assert (entry.lines, entry.bytes_left_out) == (200, (1 << 30) - 400)


def test_a_byte_order_mark_is_no_text_and_crlf_stays(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert (entry.text, entry.lines, entry.code_units) == ("one\r\ntwo\r\n", 2, 10)


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"caf\xe9\n", "UTF-8"), (b"a\0b", "NUL"), ("no".encode("utf-16"), "NUL")],
)
def test_what_is_no_text_has_trouble_and_no_text(tmp_path: Path, data: bytes, words: str) -> None:
    entry = entry_of(tmp_path, data)
    assert words in entry.trouble
    assert entry.text == ""
    assert entry.modified > 0


def test_a_pipe_a_folder_and_links_are_told_and_never_wait(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside\n")
    for name in ("pipe", "folder", "out", "loop", "within"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe" / ENTRY)
    (tmp_path / "folder" / ENTRY).mkdir()
    (tmp_path / "out" / ENTRY).symlink_to("../secret")
    (tmp_path / "loop" / ENTRY).symlink_to(ENTRY)
    (tmp_path / "within" / "real.md").write_text("inside\n")
    (tmp_path / "within" / ENTRY).symlink_to("real.md")
    assert load_entry(on_disk(tmp_path / "pipe")).trouble == "it is not a regular file"
    assert load_entry(on_disk(tmp_path / "folder")).trouble == "it is not a regular file"
    assert load_entry(on_disk(tmp_path / "out")).trouble == "it leads out of the folder"
    assert "link" in load_entry(on_disk(tmp_path / "loop")).trouble
    assert load_entry(on_disk(tmp_path / "within")).text == "inside\n"


def test_a_file_of_a_year_without_a_name_has_the_last_one(tmp_path: Path) -> None:
    (tmp_path / ENTRY).write_text("x")
    try:
        os.utime(tmp_path / ENTRY, (1e12, 1e12))
    except OSError:
        pytest.skip("the file system knows no such year")
    assert load_entry(on_disk(tmp_path)).modified <= 253_402_300_799


# Links

TEXT = """\ufeff# Notes\r
- [Tests](tests.md): when they run\r
- [Two](two%20words.md) and [tests](./tests.md#clock "why")\r
```\r
- [Tests](tests.md)\r
```\r
See [a name](<two words.md>) or `[tests](tests.md)`, ![p](tests.md), [w](https://x.test/tests.md).\r
"""


def test_links_are_found_in_every_spelling_and_not_in_code() -> None:
    assert links(TEXT) == [
        (2, "tests.md"),
        (3, "two words.md"),
        (3, "tests.md"),
        (7, "two words.md"),
    ]


def test_a_link_counts_from_the_folder_of_its_document() -> None:
    text = "[a](b.md) [c](../d.md) [e](../../f.md)"
    assert [name for _, name in links(text, "sub/x.md")] == ["sub/b.md", "d.md", "../f.md"]


def test_a_list_item_goes_with_its_only_link_and_other_lines_keep_their_words() -> None:
    expected = TEXT.replace("- [Tests](tests.md): when they run\r\n", "", 1)
    expected = expected.replace('[tests](./tests.md#clock "why")', "tests")
    assert without_link(TEXT, "tests.md") == expected


def test_a_renamed_link_keeps_its_words_its_fragment_and_all_else() -> None:
    expected = TEXT.replace("[Tests](tests.md): w", "[Tests](sub/a%20%28b%29.md): w", 1)
    expected = expected.replace("./tests.md#clock", "sub/a%20%28b%29.md#clock")
    assert with_renamed_link(TEXT, "tests.md", "sub/a (b).md") == expected


def test_a_name_in_plain_words_is_a_mention() -> None:
    assert "deploy.md" in mentions("Details are in `deploy.md`.")
    assert "sub/deploy.md" in mentions("see deploy.md, please", "sub/x.md")
    assert mentions("nothing here") == set()
