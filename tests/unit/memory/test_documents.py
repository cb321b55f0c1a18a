from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import ReverieError, StorageError
from app.memory.documents import MOST_BYTES, Documents, version_of
from app.storage.documents import Author, DocumentStore
from tests.fakes.documents import MemoryDocuments, on_disk

YOU = Author("you")
MODEL = Author("assistant", "s1", "m1")


@pytest.fixture(params=["disk", "memory"])
def documents(request: pytest.FixtureRequest, tmp_path: Path) -> Documents:
    store: DocumentStore = (
        on_disk(tmp_path / "mem") if request.param == "disk" else MemoryDocuments()
    )
    return Documents(store)


def write(documents: Documents, name: str, text: str, version: str = "new") -> str:
    done = documents.write(name, text, version, YOU)
    assert done.status == "written"
    return done.version or ""


def test_a_version_is_the_beginning_of_the_digest_of_the_text(documents: Documents) -> None:
    version = write(documents, "a.md", "héllo\r\n")
    assert version == version_of("héllo\r\n".encode())
    assert (len(version), documents.read("a.md").version) == (12, version)
    assert documents.read("a.md").text == "héllo\r\n"
    assert documents.read("b.md").version == "new"


def test_a_write_needs_the_version_that_was_read(documents: Documents) -> None:
    first = write(documents, "a.md", "one")
    second = write(documents, "a.md", "two", first)
    for stale in (first, "new", "", second.upper() + "x"):
        done = documents.write("a.md", "three", stale, YOU)
        assert (done.status, done.current_version, done.current_text) == ("conflict", second, "two")
        assert done.reason
    missing = documents.write("b.md", "x", first, YOU)
    assert (missing.status, missing.current_version, missing.current_text) == (
        "conflict",
        "new",
        None,
    )
    assert documents.delete("a.md", first, YOU).status == "conflict"
    assert documents.delete("b.md", "new", YOU).status == "conflict"
    assert documents.read("a.md").text == "two"
    done = documents.delete("a.md", second, YOU)
    assert (done.status, done.version) == ("deleted", None)
    assert documents.read("a.md").version == "new"


def test_what_no_document_can_hold_is_refused(documents: Documents) -> None:
    exact = "é" * (MOST_BYTES // 2)
    version = write(documents, "a.md", exact)
    for name, text in (
        ("a.md", exact + "x"),
        ("a.md", "nul\0"),
        ("a.md", "half \ud800"),
        ("../a.md", "x"),
        ("a.txt", "x"),
    ):
        done = documents.write(name, text, version, YOU)
        assert (done.status, bool(done.reason)) == ("refused", True)
    assert documents.delete("../a.md", version, YOU).status == "refused"
    assert documents.read("a.md").text == exact


def test_a_conflict_gives_the_text_where_it_fits_the_cap(tmp_path: Path) -> None:
    documents = Documents(on_disk(tmp_path))
    (tmp_path / "big.md").write_text("x" * (MOST_BYTES + 1))
    done = documents.write("big.md", "small", "new", YOU)
    assert (done.status, done.current_text) == ("conflict", None)
    assert done.current_version == version_of(b"x" * (MOST_BYTES + 1))


def test_a_refusal_without_a_change_is_tried_once_more() -> None:
    store = MemoryDocuments()
    documents = Documents(store)
    first = write(documents, "a.md", "one")
    store.refusals = 1
    second = write(documents, "a.md", "two", first)
    store.refusals = 2
    done = documents.write("a.md", "three", second, YOU)
    assert (done.status, done.current_version) == ("repeated_spurious_conflict", second)
    assert documents.read("a.md").text == "two"


def test_a_change_between_compare_and_write_is_a_conflict() -> None:
    store = MemoryDocuments()
    documents = Documents(store)
    first = write(documents, "a.md", "one")

    def other_writes() -> None:
        store.before_write = lambda: None
        other = Documents(store)
        write(other, "a.md", "theirs", first)

    store.before_write = other_writes
    done = documents.write("a.md", "mine", first, YOU)
    assert (done.status, done.current_text) == ("conflict", "theirs")


def test_an_update_sees_the_text_that_it_changes() -> None:
    store = MemoryDocuments()
    documents = Documents(store)
    write(documents, "a.md", "one\n")

    def other_writes() -> None:
        store.before_write = lambda: None
        Documents(store).update("a.md", lambda text: (text or "") + "theirs\n", YOU)

    store.before_write = other_writes
    documents.update("a.md", lambda text: (text or "") + "mine\n", MODEL)
    assert documents.read("a.md").text == "one\ntheirs\nmine\n"
    assert documents.history("a.md")[0].author == MODEL


def test_a_document_that_changes_all_the_time_is_given_up() -> None:
    store = MemoryDocuments()
    store.refusals = 10_000
    with pytest.raises(StorageError, match="all the time"):
        Documents(store).update("a.md", lambda _text: "x", YOU)


def test_any_version_comes_back_a_deleted_document_too(documents: Documents) -> None:
    first = write(documents, "a.md", "one")
    second = write(documents, "a.md", "two", first)
    documents.delete("a.md", second, YOU)
    deletion = documents.history("a.md")[0]
    assert documents.past_text("a.md", deletion.id) == "two"
    documents.restore("a.md", first, YOU)
    assert documents.read("a.md").text == "one"
    documents.restore("a.md", deletion.id, YOU)
    assert documents.read("a.md").text == "two"
    assert [c.author.what for c in documents.history("a.md")][:3] == [
        "restored",
        "restored",
        "deleted",
    ]
    with pytest.raises(ReverieError, match="no version"):
        documents.restore("a.md", "0" * 12, YOU)


def test_a_change_is_taken_back_and_later_ones_stay(documents: Documents) -> None:
    version = write(documents, "a.md", "one\ntwo\nthree\n")
    write(documents, "a.md", "one\ntwo\nfalse\nthree\n", version)
    wrong = documents.history("a.md")[0]
    documents.update("a.md", lambda text: f"zero\n{text}", MODEL)
    documents.revert("a.md", wrong.id, YOU)
    assert documents.read("a.md").text == "zero\none\ntwo\nthree\n"
    with pytest.raises(ReverieError, match="any more"):
        documents.revert("a.md", wrong.id, YOU)


def test_a_change_that_was_written_over_is_not_taken_back(documents: Documents) -> None:
    version = write(documents, "a.md", "one\n")
    write(documents, "a.md", "two\n", version)
    wrong = documents.history("a.md")[0]
    documents.update("a.md", lambda _text: "three\n", MODEL)
    with pytest.raises(ReverieError, match="same place"):
        documents.revert("a.md", wrong.id, YOU)
    assert documents.read("a.md").text == "three\n"


def test_taking_a_creation_back_deletes_the_document(documents: Documents) -> None:
    write(documents, "a.md", "wrong\n")
    documents.revert("a.md", documents.history("a.md")[0].id, YOU)
    assert documents.read("a.md").version == "new"


def test_history_follows_a_renamed_document(documents: Documents) -> None:
    write(documents, "a.md", "one")
    documents.rename("a.md", "sub/b.md", YOU)
    assert (documents.read("a.md").version, documents.read("sub/b.md").text) == ("new", "one")
    assert [c.name for c in documents.history("sub/b.md")] == ["sub/b.md", "a.md"]
    write(documents, "a.md", "another")
    with pytest.raises(ReverieError, match="already"):
        documents.rename("a.md", "sub/b.md", YOU)
    with pytest.raises(ReverieError, match="no document"):
        documents.rename("c.md", "d.md", YOU)


def test_links_of_the_entry_follow(documents: Documents) -> None:
    write(documents, "MEMORY.md", "# M\n- [A](a.md) first\n- [B](b.md)\n")
    documents.relink("a.md", "c.md", YOU)
    documents.unlink("b.md", YOU)
    assert documents.read("MEMORY.md").text == "# M\n- [A](c.md) first\n"
    assert documents.unlink("b.md", YOU) is None


def test_a_document_that_comes_back_is_in_the_entry_again(documents: Documents) -> None:
    entry = "# M\n- [A](a.md) first\n- [B](b.md)\n"
    write(documents, "MEMORY.md", entry)
    write(documents, "a.md", "one")
    deletion = documents.remove("a.md", YOU)
    documents.unlink("a.md", YOU)
    assert "a.md" not in documents.read("MEMORY.md").text
    documents.update("MEMORY.md", lambda text: f"{text}- more\n", MODEL)
    documents.restore("a.md", deletion.id, YOU)
    assert documents.read("MEMORY.md").text == f"{entry}- more\n"
    documents.restore("a.md", deletion.id, YOU)
    assert documents.read("MEMORY.md").text == f"{entry}- more\n"


def test_a_list_has_50_a_page(documents: Documents) -> None:
    for number in range(51):
        documents.store.replace(f"{number:02}.md", b"x", YOU, expected=None)
    assert [len(documents.page(number)[0]) for number in (1, 2, 3)] == [50, 1, 0]
    assert documents.page(1)[1] == 2


def test_what_is_no_text_is_named_and_left(tmp_path: Path) -> None:
    documents = Documents(on_disk(tmp_path))
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "nul.md").write_bytes(b"a\0b")
    for name in ("latin.md", "nul.md"):
        with pytest.raises(StorageError, match="cannot be used"):
            documents.read(name)
        with pytest.raises(StorageError):
            documents.update(name, lambda text: text, YOU)
    assert (tmp_path / "latin.md").read_bytes() == b"caf\xe9"


def test_history_follows_a_name_that_was_used_before(documents: Documents) -> None:
    version = write(documents, "b.md", "first b")
    documents.delete("b.md", version, YOU)
    write(documents, "a.md", "a one")
    documents.rename("a.md", "b.md", YOU)
    documents.rename("b.md", "a.md", YOU)
    texts = [c.after and documents.store.text_of(c.after) for c in documents.history("a.md")]
    assert texts[:3] == [b"a one"] * 3
    assert documents.history("a.md")[0].name == "a.md"
