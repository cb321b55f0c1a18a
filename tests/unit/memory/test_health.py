from __future__ import annotations

import os
from pathlib import Path

from app.memory.entry import ENTRY, load_entry
from app.memory.health import (
    Conflict,
    DeadLink,
    Duplicate,
    Health,
    Loaded,
    Near,
    Place,
    check,
    near,
)
from app.memory.index import Index
from app.memory.instructions import Instructions, Source
from app.storage.documents import Skipped
from tests.fakes.documents import on_disk

RULE = "Run the slow tests only after the quick ones have passed on both machines."
NONE = Instructions()
SAME = "run the slow tests only after the quick ones have passed on all machines"


def write(folder: Path, name: str, text: str | bytes) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def health(folder: Path, instructions: Instructions = NONE) -> Health:
    store = on_disk(folder)
    return check(store, Index(store).contents(), load_entry(store), instructions)


def nearest(folder: Path, text: str, of: str = "") -> list[Near]:
    store = on_disk(folder)
    return near(text, store, Index(store).contents(), of)


def test_an_empty_folder_is_healthy(tmp_path: Path) -> None:
    assert health(tmp_path) == Health()
    assert health(tmp_path / "none") == Health()
    assert nearest(tmp_path, RULE) == []


def test_what_is_loaded_is_told_with_its_size_and_where_it_was_cut(tmp_path: Path) -> None:
    write(tmp_path, ENTRY, "x\n" * 250)
    source = Source(Path("/p/CLAUDE.md"), "project", "a\nb🙂", 0.0, is_cut=True)
    whole = Source(Path("/p/a\x1b.md"), "import", "a\n", 0.0)
    instructions = Instructions((source, whole), (Skipped("/p/b.md", "why"),))
    found = health(tmp_path, instructions)
    assert found.loaded == (
        Loaded("/p/CLAUDE.md", 2, 5, 2),
        Loaded("/p/a␛.md", 1, 2, 0),
        Loaded(ENTRY, 200, 400, 201),
    )
    assert found.skipped == (Skipped("/p/b.md", "why"),)


def test_a_document_that_no_way_of_links_leads_to_is_an_orphan(tmp_path: Path) -> None:
    write(tmp_path, ENTRY, "- [a](a.md)\nDetails stand in sub/said.md.\n")
    write(tmp_path, "a.md", "[b](sub/b.md)")
    write(tmp_path, "sub/b.md", "[c](../c.md) [back](b.md)")
    write(tmp_path, "c.md", "[a](a.md)")
    write(tmp_path, "sub/said.md", "")
    write(tmp_path, "alone.md", "[me](alone.md) [other](other.md)")
    write(tmp_path, "other.md", "[alone](alone.md)")
    assert health(tmp_path).orphans == ("alone.md", "other.md")


def test_without_an_entry_every_document_is_an_orphan(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x")
    assert health(tmp_path).orphans == ("a.md",)


def test_dead_links_are_told_with_their_place(tmp_path: Path) -> None:
    write(tmp_path, ENTRY, "# M\n\n- [gone](gone.md)\n- [here](sub/a.md)\n`[code](no.md)`\n")
    write(tmp_path, "sub/a.md", "[up](../MEMORY.md)\n[out](../../x.md) [bad](%00.md)\n")
    write(tmp_path, "bytes.md", b"\xff")
    write(tmp_path, "b.md", "[still there](bytes.md)")
    assert health(tmp_path).dead_links == (
        DeadLink(ENTRY, 3, "gone.md"),
        DeadLink("sub/a.md", 2, "../x.md"),
        DeadLink("sub/a.md", 2, "sub/␀.md"),
    )


def test_near_equal_paragraphs_are_found_across_documents_and_within_one(tmp_path: Path) -> None:
    write(
        tmp_path, "a.md", f"# A\n\n{RULE}\n\nSomething else that has enough words to be compared.\n"
    )
    write(tmp_path, "b.md", f"- short\n- {SAME}\n\n{RULE.upper()}\n")
    first, second = health(tmp_path).duplicates
    assert (first.first, first.second) == (Place("a.md", 3), Place("b.md", 2))
    assert 0.7 < first.similarity < 1
    assert first.text == f"- {SAME}"
    assert second == Duplicate(Place("a.md", 3), Place("b.md", 4), 1.0, RULE.upper())


def test_less_than_eight_words_other_words_and_front_matter_are_no_duplicates(
    tmp_path: Path,
) -> None:
    seven = "These are seven words in a row."
    eight = f"{seven} Eight"
    other = "Run the quick tests first, since slow machines pass only what both have ones."
    head = f"---\ndescription: {RULE}\n---\n"
    write(tmp_path, "a.md", f"{head}{seven}\n\n{other}\n")
    write(tmp_path, "b.md", f"{head}{seven}\n\n{RULE}\n")
    assert health(tmp_path).duplicates == ()
    write(tmp_path, "c.md", f"{eight}\n\n{eight}\n")
    assert len(health(tmp_path).duplicates) == 1


def test_the_same_text_in_many_documents_is_told_once_for_each(tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path, f"{number:02}.md", f"{RULE}\n\nNumber {number} of them. {SAME}\n")
    found = health(tmp_path).duplicates
    assert len([each for each in found if each.similarity == 1.0]) == 39
    assert {each.first.name for each in found if each.similarity == 1.0} == {"00.md"}
    assert max(len([e for e in found if e.second == each.second]) for each in found) == 1


def test_words_of_scripts_without_blanks_are_compared_too(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "テストは二台の機械で速いものから順に走らせる。\n")
    write(tmp_path, "b.md", "テストは三台の機械で速いものから順に走らせる。\n")
    assert len(health(tmp_path).duplicates) == 1


def test_what_conflicts_leave_behind_is_told(tmp_path: Path) -> None:
    mark = "the mark of a conflict was left in it"
    copy = "it looks like a copy that a conflict left"
    write(tmp_path, "a.md", "x\n<<<<<<< mine\na\n=======\nb\n>>>>>>> theirs\n")
    write(tmp_path, "b.md", "x\n>>>>>>> theirs\r\n")
    write(tmp_path, "fine.md", "x <<<<<<< y\n<<<<<<<<< \nA heading\n=======\n")
    write(tmp_path, "fine.md.orig", "x")
    write(tmp_path, "sub/fine (conflict 2).md", "x")
    write(tmp_path, "Case.md", "x")
    write(tmp_path, "case.md", "y")
    assert set(health(tmp_path).conflicts) == {
        Conflict("a.md", 2, mark),
        Conflict("b.md", 2, mark),
        Conflict("fine.md.orig", 0, copy),
        Conflict("sub/fine (conflict 2).md", 0, copy),
        Conflict("case.md", 0, "it differs from Case.md only in case"),
    }


def test_sizes_are_told_the_largest_first(tmp_path: Path) -> None:
    for name, size in (("a.md", 3), ("b.md", 9), ("c.md", 3)):
        write(tmp_path, name, "x" * size)
    assert health(tmp_path).sizes == (("b.md", 9), ("a.md", 3), ("c.md", 3))


def test_what_cannot_be_used_is_named_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md", b"\xff")
    write(tmp_path, "b.md", b"\0")
    write(tmp_path, "~c.md", "x")
    write(tmp_path, "memory.md", "x")
    os.mkfifo(tmp_path / "pipe.md")
    found = {each.name: each.reason for each in health(tmp_path).skipped}
    assert set(found) == {"a.md", "b.md", "~c.md", "memory.md", "pipe.md"}
    assert len(health(tmp_path).skipped) == 5


def test_a_document_that_vanishes_after_the_index_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "a.md", RULE)
    store = on_disk(tmp_path)
    index = Index(store).contents()
    (tmp_path / "a.md").unlink()
    assert check(store, index, load_entry(store), Instructions()).skipped == ()
    assert near(RULE, store, index) == []


def test_what_is_said_already_is_found_the_nearest_first(tmp_path: Path) -> None:
    write(tmp_path, "a.md", f"---\nname: a\n---\n- {SAME}\n")
    write(tmp_path, "b.md", f"\n{RULE}\n\nNothing of the kind is said in these words here.\n")
    found = nearest(tmp_path, f"# New\n\n{RULE}\n")
    assert [(each.name, each.line) for each in found] == [("b.md", 2), ("a.md", 4)]
    assert found[0] == Near("b.md", 2, RULE, 1.0)
    assert nearest(tmp_path, "Too short.") == []


def test_the_document_that_holds_the_text_by_now_does_not_count_as_a_repeat(tmp_path: Path) -> None:
    write(tmp_path, "a.md", f"{RULE}\n")
    assert nearest(tmp_path, RULE, of="a.md") == []
    write(tmp_path, "a.md", f"{RULE}\n\n{RULE}\n")
    assert [each.line for each in nearest(tmp_path, RULE, of="a.md")] == [3]
