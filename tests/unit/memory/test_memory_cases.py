"""cases/B23, B24, B25: races, paths and links."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.clock import SystemClock
from app.errors import ReverieError, StorageError
from app.memory.documents import Documents
from app.memory.merge import merge
from app.memory_look import versions_of
from app.storage.documents import Author
from app.storage.local_documents import LocalDocuments
from app.storage.names import checked_name
from tests.fakes.documents import on_disk

CASES = Path(__file__).parents[2] / "data" / "cases"
MODEL = Author("assistant")


def documents_in(folder: Path) -> Documents:
    """On the machine's own clock, as another program's files are."""
    return Documents(LocalDocuments(folder, folder.with_name("history"), SystemClock()))


def test_b23_no_line_is_lost_to_a_program_that_takes_no_lock(tmp_path: Path) -> None:
    case = CASES / "B23-memory-index-race"
    folder = tmp_path / "memory"
    folder.mkdir()
    for file in (case / "memory").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    documents = documents_in(folder)
    race = subprocess.Popen([sys.executable, case / "race.py", folder, "40"])
    for number in range(50):
        line = f"- [M{number}](build.md) - ours {number}\n"
        documents.update("MEMORY.md", lambda text, line=line: (text or "") + line, MODEL)
        if race.poll() is None:  # our writes are spread over the time of theirs
            subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    assert race.wait() == 0
    documents.settle()
    lines = (folder / "MEMORY.md").read_text().splitlines()
    assert sorted(lines[4:]) == sorted(
        [f"- [M{n}](build.md) - ours {n}" for n in range(50)]
        + [f"- [F{n}](build.md) - foreign {n}" for n in range(40)]
    )
    assert sorted(path.name for path in folder.iterdir()) == ["MEMORY.md", "build.md", "style.md"]


def test_what_a_person_takes_out_does_not_come_back(tmp_path: Path) -> None:
    documents = documents_in(tmp_path)
    documents.update("MEMORY.md", lambda _text: "one\n", MODEL)
    documents.update("MEMORY.md", lambda text: f"{text}wrong\n", MODEL)
    file = tmp_path / "MEMORY.md"
    file.write_text("one\nby hand\n")
    later = file.stat().st_mtime + 60
    os.utime(file, (later, later))
    assert documents.settle() == []
    file.write_text("one\n")
    assert documents.settle() == []
    assert file.read_text() == "one\n"


def test_a_write_that_was_overwritten_unseen_comes_back(tmp_path: Path) -> None:
    documents = documents_in(tmp_path)
    file = tmp_path / "MEMORY.md"
    documents.update("MEMORY.md", lambda _text: "one\n", MODEL)
    stale = file.read_text()
    documents.update("MEMORY.md", lambda text: f"{text}ours\n", MODEL)
    file.write_text(f"{stale}theirs\n")
    assert documents.settle() == ["MEMORY.md"]
    assert file.read_text() == "one\ntheirs\nours\n"
    (last, seen, *_rest) = documents.history("MEMORY.md")
    assert (last.author.who, last.author.what, seen.author.who) == ("assistant", "merged", "other")


PATHS = [
    json.loads(line)
    for line in (CASES / "B24-memory-path-traversal" / "paths.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize(
    "case", PATHS, ids=lambda case: case["path"][:20].encode("ascii", "replace").decode()
)
def test_b24_no_spelling_leaves_the_folder(tmp_path: Path, case: dict[str, str]) -> None:
    setup = CASES / "B24-memory-path-traversal" / "setup.sh"
    subprocess.run(["bash", setup, tmp_path], check=True)
    folder = tmp_path / "mem"
    documents = Documents(on_disk(folder))
    path, verdict = case["path"], case["verdict"]
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.md") if p.is_file()}
    if verdict.startswith("refuse") and not verdict.startswith("refuse or plain"):
        for act in (
            lambda: documents.read(path),
            lambda: documents.update(path, lambda _text: "x", MODEL),
            lambda: documents.rename(path, "new.md", MODEL),
            lambda: documents.rename("sub/a.md", path, MODEL),
            lambda: documents.update(path, lambda _text: None, MODEL),
        ):
            with pytest.raises(ReverieError):
                act()
        after = {p: p.read_bytes() for p in tmp_path.rglob("*.md") if p.is_file()}
        assert after == before
    elif verdict.startswith("refuse or plain"):
        with pytest.raises(ReverieError):
            documents.read(path)
    else:
        documents.update(path, lambda text: f"{text or ''}more\n", MODEL)
        assert documents.read(path).text.endswith("more\n")
    assert (tmp_path / "outside" / "o.md").read_text() == "OUT\n"
    assert not (folder / "memory.md").exists()


@given(st.text(st.characters(codec=None) | st.sampled_from("./\\~\0\n"), max_size=60))
def test_whatever_is_a_name_lies_below_the_folder(text: str) -> None:
    try:
        name = checked_name(text)
    except StorageError:
        return
    parts = name.split("/")
    assert os.path.normpath(name) == name
    assert not name.startswith("/")
    assert name.endswith(".md")
    assert not {"", ".", "..", ".git", "agents"} & {part.casefold() for part in parts}
    assert name.encode().decode() == name
    assert not any(ord(letter) < 32 or letter == "\\" for letter in name)
    assert checked_name(name) == name


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    setup = CASES / "B25-memory-symlink-replaced" / "setup.sh"
    subprocess.run(["bash", setup, tmp_path], check=True)
    return tmp_path / "mem"


def test_b25_a_link_that_leads_out_is_refused_by_its_target(linked: Path) -> None:
    documents = Documents(on_disk(linked))
    target = linked.parent / "dotfiles" / "shared.md"
    with pytest.raises(StorageError, match=str(target)):
        documents.update("shared.md", lambda _text: "x", MODEL)
    assert target.read_text() == "shared v1\n"
    assert (linked / "shared.md").is_symlink()


@pytest.mark.parametrize(
    ("name", "words"), [("dangling.md", "does not exist"), ("loop.md", "itself")]
)
def test_b25_links_to_nothing_are_named(linked: Path, name: str, words: str) -> None:
    documents = Documents(on_disk(linked))
    with pytest.raises(StorageError, match=words):
        documents.read(name)
    with pytest.raises(StorageError, match=words):
        documents.update(name, lambda _text: "x", MODEL)
    assert (linked / name).is_symlink()
    assert name in {each.name for each in documents.store.listing().skipped}


def test_b25_a_link_inside_the_folder_stays_one(linked: Path) -> None:
    (linked / "real.md").write_text("v1\n")
    (linked / "real.md").chmod(0o640)
    (linked / "alias.md").symlink_to("real.md")
    documents = Documents(on_disk(linked))
    documents.update("alias.md", lambda text: f"{text}v2\n", MODEL)
    assert (linked / "alias.md").is_symlink()
    assert (linked / "real.md").read_text() == "v1\nv2\n"
    assert (linked / "real.md").stat().st_mode & 0o777 == 0o640


def test_b25_both_names_of_one_file_get_the_text(linked: Path) -> None:
    documents = Documents(on_disk(linked))
    documents.update("t1.md", lambda text: f"{text}more\n", MODEL)
    assert (linked / "t2.md").read_text() == "twin\nmore\n"
    assert (linked / "t1.md").stat().st_nlink == 2


def test_b25_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "mem").symlink_to("dotfiles")
    Documents(on_disk(tmp_path / "mem")).update("a.md", lambda _text: "x", MODEL)
    assert (tmp_path / "dotfiles" / "a.md").read_text() == "x"


def test_pipes_and_giants_hold_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with (tmp_path / "giant.md").open("wb") as file:
        file.truncate(1 << 30)
    documents = Documents(on_disk(tmp_path))
    for name in ("pipe.md", "giant.md"):
        with pytest.raises(StorageError):
            documents.read(name)
        with pytest.raises(StorageError):
            documents.update(name, lambda _text: "x", MODEL)
    assert (tmp_path / "giant.md").stat().st_size == 1 << 30


def test_a_folder_in_the_place_of_a_document_stops_nothing_else(tmp_path: Path) -> None:
    documents = Documents(on_disk(tmp_path / "mem"))
    documents.update("known.md", lambda _text: "x", MODEL)
    (tmp_path / "mem" / "known.md").unlink()
    (tmp_path / "mem" / "known.md").mkdir()
    documents = Documents(on_disk(tmp_path / "mem"))
    documents.update("other.md", lambda _text: "y", MODEL)
    for act in (
        lambda: documents.read("known.md"),
        lambda: documents.update("known.md", lambda _text: "z", MODEL),
        lambda: documents.remove("known.md", MODEL),
    ):
        with pytest.raises(StorageError, match="not a regular file"):
            act()


def test_a_damaged_history_stops_no_write(tmp_path: Path) -> None:
    documents = documents_in(tmp_path / "mem")
    documents.update("a.md", lambda _text: "one\n", MODEL)
    documents.update("a.md", lambda text: f"{text}two\n", MODEL)
    (tmp_path / "mem" / "a.md").write_text("one\ntheirs\n")
    documents.store.notice()
    shutil.rmtree(tmp_path / "history" / "texts")
    documents_in(tmp_path / "mem").update("b.md", lambda _text: "x", MODEL)


def test_what_is_no_text_or_too_long_goes_to_the_trash_and_comes_back(tmp_path: Path) -> None:
    documents = Documents(on_disk(tmp_path))
    held = {"latin.md": b"caf\xe9", "long.md": b"x" * 200_000}
    for name, data in held.items():
        (tmp_path / name).write_bytes(data)
        change = documents.remove(name, Author("you"))
        assert not (tmp_path / name).exists()
        documents.restore(name, change.id, Author("you"))
        assert (tmp_path / name).read_bytes() == data
    with pytest.raises(ReverieError, match="no document"):
        documents.remove("none.md", MODEL)


def test_a_merge_that_would_be_too_long_is_left_to_the_person(tmp_path: Path) -> None:
    documents = documents_in(tmp_path / "mem")
    file = tmp_path / "mem" / "a.md"
    documents.update("a.md", lambda _text: "base\n", MODEL)
    documents.update("a.md", lambda _text: "base\n" + "ours\n" * 15_000, MODEL)
    theirs = "base\n" + "theirs\n" * 10_000
    file.write_text(theirs)
    assert documents.settle() == []
    assert file.read_text() == theirs


def test_what_was_deleted_meanwhile_does_not_come_back(tmp_path: Path) -> None:
    documents = documents_in(tmp_path / "mem")
    file = tmp_path / "mem" / "a.md"
    documents.update("a.md", lambda _text: "old\n", MODEL)
    documents.update("a.md", lambda text: f"{text}more\n", MODEL)
    file.unlink()
    documents.settle()
    file.write_text("new\n")
    assert documents.settle() == []
    assert file.read_text() == "new\n"


def test_what_a_killed_process_left_is_kept_before_it_is_removed(tmp_path: Path) -> None:
    documents = Documents(on_disk(tmp_path / "mem"))
    documents.update("a.md", lambda _text: "x", MODEL)
    (tmp_path / "mem" / ".reverie-0123456789abcdef").write_bytes(b"the only copy")
    documents.update("a.md", lambda _text: "y", MODEL)
    assert [path.name for path in (tmp_path / "mem").iterdir()] == ["a.md"]
    digest = hashlib.sha256(b"the only copy").hexdigest()
    assert documents.store.text_of(digest) == b"the only copy"


def test_a_persons_own_hidden_file_is_no_leftover(tmp_path: Path) -> None:
    documents = Documents(on_disk(tmp_path / "mem"))
    documents.update("a.md", lambda _text: "x", MODEL)
    own = tmp_path / "mem" / ".reverie-mine.md"
    own.write_bytes(b"mine")
    documents.update("a.md", lambda _text: "y", MODEL)
    assert own.read_bytes() == b"mine"


def test_a_write_in_the_very_moment_after_ours_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = documents_in(tmp_path / "mem")
    file = tmp_path / "mem" / "a.md"
    documents.update("a.md", lambda _text: "one\n", MODEL)
    with monkeypatch.context() as patch:

        def also_written(descriptor: int) -> None:
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                file.write_text("one\ntheirs\n")

        patch.setattr(os, "fsync", also_written)
        documents.update("a.md", lambda text: f"{text}ours\n", MODEL)
    documents.settle()
    assert file.read_text() == "one\ntheirs\nours\n"
    assert "other" in {change.author.who for change in documents.history("a.md")}


def test_a_copy_from_before_stays_as_it_was_put_there(tmp_path: Path) -> None:
    documents = documents_in(tmp_path / "mem")
    file = tmp_path / "mem" / "a.md"
    documents.update("a.md", lambda _text: "one\n", MODEL)
    documents.update("a.md", lambda text: f"{text}two\nsecret\n", MODEL)
    file.write_text("one\nfrom the copy\n")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    assert documents.settle() == []
    assert file.read_text() == "one\nfrom the copy\n"


def test_a_time_after_the_last_year_stops_nothing(tmp_path: Path) -> None:
    documents = documents_in(tmp_path / "mem")
    file = tmp_path / "mem" / "a.md"
    documents.update("a.md", lambda _text: "one\n", MODEL)
    file.write_text("two\n")
    try:
        os.utime(file, (400_000_000_000, 400_000_000_000))
    except OSError:
        pytest.skip("this file system has no such times")
    documents.settle()
    assert [change.author.who for change in documents.history("a.md")] == ["other", "assistant"]


def test_a_damaged_version_hides_no_other_one(tmp_path: Path) -> None:
    documents = documents_in(tmp_path / "mem")
    for text in ("one\n", "one\ntwo\n", "one\ntwo\nthree\n"):
        documents.update("a.md", lambda _text, text=text: text, MODEL)
    digest = hashlib.sha256(b"one\n").hexdigest()
    (tmp_path / "history" / "texts" / digest[:2] / digest).write_bytes(b"?")
    shown = [(each.added, each.why) for each in versions_of(documents, "a.md")]
    assert shown == [(1, ""), (0, "its kept text is damaged"), (0, "its kept text is damaged")]


def test_thousands_of_blank_lines_are_merged_in_no_time() -> None:
    base = "\n".join(f"item {n}\n" for n in range(5_000))
    mine, theirs = f"mine\n{base}\nmine too", f"theirs\n{base}\ntheirs too"
    merged = merge(base, mine, theirs)
    assert merged.conflicts == 2
    assert merged.text.count("item ") == 5_000
