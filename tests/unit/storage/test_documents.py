"""What every backend of documents must do; and what the local one does besides."""

from __future__ import annotations

import errno
import hashlib
import itertools
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from app.errors import StorageError
from app.storage import document_folder
from app.storage.document_log import DocumentLog
from app.storage.documents import Author, DocumentStore, Moved, NameRefused, Replacement
from app.storage.local_documents import LocalDocuments
from tests.fakes.clock import FakeClock
from tests.fakes.documents import MemoryDocuments

YOU = Author("you", "s1", "m1", "because")


def local(tmp_path: Path) -> LocalDocuments:
    return LocalDocuments(tmp_path / "memory", tmp_path / "history", FakeClock())


@pytest.fixture(params=["local", "in memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DocumentStore]:
    made: DocumentStore = local(tmp_path) if request.param == "local" else MemoryDocuments()
    yield made
    made.close()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_an_empty_store_holds_nothing(store: DocumentStore) -> None:
    assert store.listing().documents == ()
    assert store.read("a.md") is None
    assert store.head("a.md", 10).is_missing
    assert list(store.changes()) == []
    store.notice()


def test_a_document_is_made_changed_and_deleted(store: DocumentStore) -> None:
    store.replace("a.md", b"one", YOU, expected=None)
    store.replace("sub/b.md", b"two", YOU, expected=None)
    assert [each.name for each in store.listing().documents] == ["a.md", "sub/b.md"]
    store.replace("a.md", b"uno", YOU, expected=sha(b"one"))
    assert (store.read("a.md"), store.read("./sub//b.md")) == (b"uno", b"two")
    head = store.head("a.md", 2)
    assert (head.data, head.size, head.is_whole) == (b"un", 3, False)
    store.replace("a.md", None, YOU, expected=sha(b"uno"))
    assert store.read("a.md") is None


@pytest.mark.parametrize("expected", [None, sha(b"other")])
def test_a_document_that_is_not_as_expected_stays(
    store: DocumentStore, expected: str | None
) -> None:
    store.replace("a.md", b"one", YOU, expected=None)
    for data in (b"two", None):
        with pytest.raises(Moved) as moved:
            store.replace("a.md", data, YOU, expected=expected)
        assert moved.value.current == b"one"
    assert store.read("a.md") == b"one"
    assert len(store.changes()) == 1


def test_a_missing_document_cannot_be_expected(store: DocumentStore) -> None:
    with pytest.raises(Moved) as moved:
        store.replace("a.md", b"two", YOU, expected=sha(b"one"))
    assert moved.value.current is None
    assert store.read("a.md") is None


def test_the_history_has_every_change_and_every_text(store: DocumentStore) -> None:
    store.replace("a.md", b"one", YOU, expected=None)
    store.replace("a.md", b"two", Author("assistant"), expected=sha(b"one"))
    store.replace("a.md", None, YOU, expected=sha(b"two"))
    store.set_aside("a.md", b"draft", YOU)
    store.replace("b.md", b"other", YOU, expected=None)
    changes = store.changes("a.md")
    assert [(c.before, c.after) for c in changes] == [
        (None, sha(b"one")),
        (sha(b"one"), sha(b"two")),
        (sha(b"two"), None),
        (None, sha(b"draft")),
    ]
    assert changes[0].author == YOU
    assert changes[1].author.who == "assistant"
    assert store.text_of(sha(b"one")) == b"one"
    assert store.text_of(sha(b"draft")) == b"draft"
    assert store.read("a.md") is None
    assert len({change.id for change in store.changes()}) == 5


@pytest.mark.parametrize("name", ["../a.md", "/a.md", "a.txt", ".git/a.md", "agents/a.md", ""])
def test_names_that_no_document_can_have_are_refused(store: DocumentStore, name: str) -> None:
    for act in (
        lambda: store.read(name),
        lambda: store.head(name, 1),
        lambda: store.replace(name, b"x", YOU, expected=None),
        lambda: store.set_aside(name, b"x", YOU),
    ):
        with pytest.raises(NameRefused):
            act()


def test_files_are_private_and_no_other_file_appears(tmp_path: Path) -> None:
    store = local(tmp_path)
    store.replace("sub/a.md", b"one", YOU, expected=None)
    store.replace("sub/a.md", b"two", YOU, expected=sha(b"one"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {p.stat().st_mode & 0o777 for p in tmp_path.rglob("*") if p.is_dir()} == {0o700}
    assert [p.name for p in (tmp_path / "memory").rglob("*")] == ["sub", "a.md"]


def test_what_another_program_wrote_is_in_the_history_before_it_is_replaced(
    tmp_path: Path,
) -> None:
    store = local(tmp_path)
    store.replace("a.md", b"one", YOU, expected=None)
    (tmp_path / "memory" / "a.md").write_bytes(b"by hand")
    with pytest.raises(Moved):
        store.replace("a.md", b"two", YOU, expected=sha(b"one"))
    with pytest.raises(Moved):
        local(tmp_path).replace("a.md", None, YOU, expected=sha(b"one"))
    store.replace("a.md", b"two", YOU, expected=sha(b"by hand"))
    who = [(change.author.who, change.after) for change in store.changes("a.md")]
    assert who == [("you", sha(b"one")), ("other", sha(b"by hand")), ("you", sha(b"two"))]
    assert store.text_of(sha(b"by hand")) == b"by hand"


def test_a_first_write_over_an_unknown_document_keeps_its_text(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"old")
    store = local(tmp_path)
    store.replace("a.md", b"new", YOU, expected=sha(b"old"))
    assert store.text_of(sha(b"old")) == b"old"


def test_deletions_by_other_programs_are_noticed(tmp_path: Path) -> None:
    store = local(tmp_path)
    store.replace("a.md", b"one", YOU, expected=None)
    (tmp_path / "memory" / "a.md").unlink()
    store.notice()
    store.notice()
    (_first, gone) = store.changes("a.md")
    assert (gone.author.who, gone.before, gone.after) == ("other", sha(b"one"), None)


def test_a_torn_line_of_the_history_hides_no_other(tmp_path: Path) -> None:
    store = local(tmp_path)
    store.replace("a.md", b"one", YOU, expected=None)
    with (tmp_path / "history" / "log.jsonl").open("ab") as file:
        file.write(b'{"change": {"id"')
    again = local(tmp_path)
    again.replace("a.md", b"two", YOU, expected=sha(b"one"))
    assert [c.after for c in again.changes()] == [sha(b"one"), sha(b"two")]
    assert [c.after for c in local(tmp_path).changes()] == [sha(b"one"), sha(b"two")]


def test_a_damaged_text_is_not_passed_for_the_real_one(tmp_path: Path) -> None:
    from app.errors import StorageError

    store = local(tmp_path)
    store.replace("a.md", b"one", YOU, expected=None)
    store.replace("a.md", b"two", YOU, expected=sha(b"one"))
    (kept,) = (tmp_path / "history" / "texts").rglob(sha(b"one"))
    (other,) = (tmp_path / "history" / "texts").rglob(sha(b"two"))
    kept.write_bytes(other.read_bytes())
    with pytest.raises(StorageError, match="damaged"):
        store.text_of(sha(b"one"))
    for digest in ("../../etc/passwd", "0" * 64):
        with pytest.raises(StorageError):
            store.text_of(digest)


def test_a_history_that_was_put_back_is_read_from_its_beginning(tmp_path: Path) -> None:
    store = local(tmp_path)
    store.replace("a.md", b"one", YOU, expected=None)
    copy = (tmp_path / "history" / "log.jsonl").read_bytes()
    store.replace("a.md", b"two", YOU, expected=sha(b"one"))
    store.close()
    (tmp_path / "history" / "log.jsonl").write_bytes(copy)
    assert [change.after for change in store.changes()] == [sha(b"one")]


def test_a_history_that_is_full_does_not_make_a_write_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageError("The disk is full.")

    store = local(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(DocumentLog, "append", full)
        store.replace("a.md", b"one", YOU, expected=None)
    assert store.read("a.md") == b"one"
    store.notice()
    store.replace("a.md", b"two", YOU, expected=sha(b"one"))
    first = store.changes()[0]
    assert (first.author, first.after) == (YOU, sha(b"one"))


def three(store: DocumentStore) -> list[Replacement]:
    """A document that is changed, one that is deleted, one that is made."""
    for name in ("a.md", "b.md"):
        store.replace(name, b"old", YOU, expected=None)
    return [
        Replacement("a.md", b"new", sha(b"old")),
        Replacement("b.md", None, sha(b"old")),
        Replacement("sub/c.md", b"made", None),
    ]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def held(store: DocumentStore) -> list[bytes | None]:
    return [store.read(name) for name in ("a.md", "b.md", "sub/c.md")]


def test_several_changes_come_to_pass_together(store: DocumentStore) -> None:
    done = store.replace_all(three(store), YOU)
    assert held(store) == [b"new", None, b"made"]
    assert sorted(done) == ["a.md", "b.md", "sub/c.md"]
    assert [change.author.what for change in store.changes()[2:]] == [
        "written", "written", "deleted"
    ]  # fmt: skip


def test_where_one_is_not_as_expected_nothing_is_changed(store: DocumentStore) -> None:
    wanted = three(store)
    store.replace("a.md", b"by hand", YOU, expected=sha(b"old"))
    with pytest.raises(Moved):
        store.replace_all(wanted, YOU)
    assert held(store) == [b"by hand", b"old", None]


def committing(
    monkeypatch: pytest.MonkeyPatch, before: Callable[[int], object]
) -> Callable[[], AbstractContextManager[None]]:
    """Do something before the n-th document takes its place."""
    commit, count = document_folder._Write.commit, itertools.count()

    def committed(self: document_folder._Write) -> object:
        before(next(count))
        return commit(self)

    @contextmanager
    def patched() -> Generator[None, None, None]:
        with monkeypatch.context() as patch:
            patch.setattr(document_folder._Write, "commit", committed)
            yield

    return patched


def test_nothing_is_deleted_where_another_was_changed_in_that_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = local(tmp_path)
    wanted = three(store)

    def by_hand(number: int) -> None:
        if number == 1:
            (store.folder / "sub").mkdir(exist_ok=True)
            (store.folder / "sub" / "c.md").write_bytes(b"by hand")

    with committing(monkeypatch, by_hand)():
        done = store.replace_all(wanted, YOU)
    assert list(done) == ["a.md"]
    assert held(store) == [b"new", b"old", b"by hand"]


def dying_after_one(number: int) -> None:
    if number:
        raise KeyboardInterrupt


def half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalDocuments:
    """A store whose process was killed after the first of three changes."""
    store = local(tmp_path)
    wanted = three(store)
    with committing(monkeypatch, dying_after_one)(), pytest.raises(KeyboardInterrupt):
        store.replace_all(wanted, YOU)
    return local(tmp_path)


def test_nothing_is_deleted_afterwards_where_the_others_place_was_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = half_done(tmp_path, monkeypatch)
    (other.folder / "sub" / "c.md").write_bytes(b"by hand")
    other.notice()
    assert held(other) == [b"new", b"old", b"by hand"]


def test_what_was_changed_by_hand_after_a_kill_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = half_done(tmp_path, monkeypatch)
    (other.folder / "a.md").write_bytes(b"by hand")
    other.notice()
    assert held(other)[0] == b"by hand" and held(other)[2] == b"made"


def test_a_short_refusal_of_the_system_is_waited_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = half_done(tmp_path, monkeypatch)

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("app.storage.document_folder.open_resolved", refused)
        with pytest.raises(StorageError):
            other.notice()
    other.notice()
    assert held(other) == [b"new", None, b"made"]


def test_a_folder_that_cannot_be_written_is_found_before_anything_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = local(tmp_path)
    wanted = three(store)
    monkeypatch.setattr("app.storage.document_folder.os.access", lambda *_, **__: False)
    with pytest.raises(StorageError, match="Permission denied"):
        store.replace_all(wanted, YOU)
    assert held(store) == [b"old", b"old", None]
    assert not (tmp_path / "history" / "pending").exists()


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_a_process_that_dies_among_them_leaves_all_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    store = local(tmp_path)
    wanted = three(store)
    commit = document_folder._Write.commit
    left = steps

    def dies(self: document_folder._Write) -> object:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        return commit(self)

    with monkeypatch.context() as patch:
        patch.setattr(document_folder._Write, "commit", dies)
        if steps == 3:
            patch.setattr(DocumentLog, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.replace_all(wanted, YOU)
    other = local(tmp_path)
    other.notice()
    assert held(other) == ([b"new", None, b"made"] if steps else [b"old", b"old", None])
    changes = [change.name for change in other.changes()[2:]]
    assert sorted(changes) == (["a.md", "b.md", "sub/c.md"] if steps else [])
    assert not (tmp_path / "history" / "pending").exists()
