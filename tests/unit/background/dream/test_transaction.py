"""A dream as a transaction: the copy, the guards, publishing, hunks, taking back."""

from __future__ import annotations

import errno
import itertools
import os
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.background.dream.guards import objections
from app.background.dream.publish import hunks_of, publish, revert, settled, shown, with_hunks
from app.background.dream.record import KEPT, Dream, DreamFile, DreamLog, DreamStatus
from app.background.dream.stage import make_stage
from app.errors import ReverieError, StorageError
from app.memory.documents import Documents
from app.storage.document_folder import _Write
from app.storage.documents import Author, Listing
from tests.fakes.documents import on_disk

YOU = Author("you")
ENTRY = "# Shop\n- [Clock](clock.md) rules\n- [Deploy](deploy.md)\n"
HELD = {
    "MEMORY.md": ENTRY,
    "clock.md": "# Clock\nThe clock is monotonic.\nThe clock is monotonic.\n",
    "deploy.md": "# Deploy\r\nBy hand.\r\n",
    "logs/2026-11-01.md": "\ufeffsaid: use tabs\n",
}


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    made = Documents(on_disk(tmp_path / "memory"))
    for name, text in HELD.items():
        made.update(name, lambda _text, text=text: text, YOU)
    return made


@pytest.fixture
def log(tmp_path: Path) -> DreamLog:
    return DreamLog(tmp_path / "dreams")


def texts(tmp_path: Path) -> dict[str, bytes]:
    root = tmp_path / "memory"
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def dreamt(documents: Documents, tmp_path: Path) -> Dream:
    """A document changed, one deleted, one made, the entry brought up to date."""
    stage = make_stage(tmp_path / "memory", tmp_path / "dreams" / "stage")
    (stage.folder / "clock.md").write_text("# Clock\nThe clock is monotonic.\n")
    (stage.folder / "logs" / "2026-11-01.md").unlink()
    (stage.folder / "style.md").write_text("# Style\nUse tabs.\n")
    (stage.folder / "MEMORY.md").write_text(f"{ENTRY}- [Style](style.md)\n")
    return Dream("d1", "2026-11-02T09:00:00.000Z", files=stage.changes())


def test_a_copy_is_whole_private_and_knows_what_changed(
    documents: Documents, tmp_path: Path
) -> None:
    stage = make_stage(tmp_path / "memory", tmp_path / "stage")
    assert stage.changes() == ()
    assert (stage.folder / "deploy.md").read_bytes() == HELD["deploy.md"].encode()
    assert (stage.folder / "deploy.md").stat().st_mode & 0o777 == 0o600
    dream = dreamt(documents, tmp_path)
    assert [(each.name, each.before is None, each.after is None) for each in dream.files] == [
        ("MEMORY.md", False, False),
        ("clock.md", False, False),
        ("logs/2026-11-01.md", False, True),
        ("style.md", True, False),
    ]
    assert texts(tmp_path)["clock.md"] == HELD["clock.md"].encode()


def test_links_and_other_files_in_the_copy_count_as_nothing(
    documents: Documents, tmp_path: Path
) -> None:
    stage = make_stage(tmp_path / "memory", tmp_path / "stage")
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    (stage.folder / "planted.md").symlink_to(secret)
    (stage.folder / "deploy.md").unlink()
    (stage.folder / "deploy.md").symlink_to(secret)
    (stage.folder / "run.sh").write_text("#!/bin/sh")
    (stage.folder / ".hidden.md").write_text("x")
    os.mkfifo(stage.folder / "pipe.md")
    changes = stage.changes()
    assert [(each.name, each.after) for each in changes] == [("deploy.md", None)]


def test_what_is_no_text_any_more_counts_as_nothing(documents: Documents, tmp_path: Path) -> None:
    stage = make_stage(tmp_path / "memory", tmp_path / "stage")
    (stage.folder / "clock.md").write_bytes(b"\xff\xfe")
    (stage.folder / "deploy.md").write_text("# Deploy\n")
    assert [each.name for each in stage.changes()] == ["deploy.md"]


def test_a_copy_is_not_made_through_a_link(documents: Documents, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "kept.md").write_text("kept")
    (tmp_path / "stage").symlink_to(away)
    with pytest.raises(StorageError, match="is a link"):
        make_stage(tmp_path / "memory", tmp_path / "stage")
    assert [each.name for each in away.iterdir()] == ["kept.md"]


def change(name: str, after: str | None) -> DreamFile:
    return DreamFile(name, HELD.get(name), after)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([change("clock.md", "# Clock\n")], ""),
        ([change("clock.md", None), change("deploy.md", None), change("MEMORY.md", "# S\n")],
         "More than half"),
        ([change("clock.md", None)], "do not exist: clock.md"),
        ([change("MEMORY.md", f"{ENTRY}- [X](x.md)\n")], "do not exist: x.md"),
        ([change("MEMORY.md", "- line\n" * 201)], "over its budget from line 201"),
        ([change("MEMORY.md", None)], "MEMORY.md would be deleted"),
        ([change("MEMORY.md", "\n")], "MEMORY.md would be emptied"),
        ([change(name, text and "lorem ipsum dolor " * 9) for name, text in HELD.items()],
         "what the memory says would vanish"),
        ([change("logs/2026-11-01.md", None), change("deploy.md", None),
          change("MEMORY.md", "- [C](clock.md)\n"),
          change("clock.md", None), change("all.md", "".join(HELD.values()))],
         "documents would be deleted: 3 of 4"),
        ([change("clock.md", None), change("MEMORY.md", "# Shop\n- [Deploy](deploy.md)\n"),
          change("deploy.md", HELD["deploy.md"] + "The clock is monotonic.")], ""),
        ([change("new.md", "---\nname: x\n# no end\n")], "front matter of new.md"),
        ([DreamFile("f.md", "---\na: b\n---\nx\n", "x\n")], "front matter of f.md"),
        ([DreamFile("f.md", "---\na: b\n---\nx\n", "---\na: c\n---\ny\n")], ""),
    ],
)  # fmt: skip
def test_guards_name_what_a_person_must_see(changes: list[DreamFile], words: str) -> None:
    base = {name: text.encode() for name, text in HELD.items()}
    found = " ".join(objections(base, changes))
    assert (words in found) if words else found == ""


def test_where_no_spaces_stand_a_changed_date_is_no_loss() -> None:
    text = "".join(f"会議は昨日行われました。議事録は第{n}版です。\n" for n in range(9))
    change = DreamFile("a.md", text, text.replace("昨日", "2026-10-31に"))
    assert objections({"a.md": text.encode()}, [change]) == []


def test_what_was_wrong_before_is_not_held_against_a_dream() -> None:
    base = {"MEMORY.md": b"- [Gone](gone.md)\n", "a.md": b"aaaa\n"}
    assert objections(base, [DreamFile("a.md", "aaaa\n", "bbbb\n")]) == []


def test_publishing_and_taking_back_restores_every_byte(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    before = texts(tmp_path)
    made = publish(dreamt(documents, tmp_path), documents, log)
    assert made.status == "completed" and len(made.touched) == 4
    assert texts(tmp_path)["style.md"] == b"# Style\nUse tabs.\n"
    assert "logs/2026-11-01.md" not in texts(tmp_path)
    assert {c.author.who for c in documents.store.changes()[4:]} == {"dream"}
    assert log.load("d1") == made
    for _ in range(2):  # the second time as after a kill before it was written down
        back, left = revert(made, documents, log)
        assert (back.status, left) == ("reverted", [])
        assert texts(tmp_path) == before


def test_a_hand_edit_meanwhile_stays_and_is_named(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    dream = dreamt(documents, tmp_path)
    (tmp_path / "memory" / "clock.md").write_text("by hand\n")
    made = publish(dream, documents, log)
    assert made.status == "completed" and "clock.md" in made.reason
    assert texts(tmp_path)["clock.md"] == b"by hand\n"
    assert "style.md" in texts(tmp_path)


def test_beside_a_conflict_nothing_is_deleted_and_the_entry_stays_whole(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    stage = make_stage(tmp_path / "memory", tmp_path / "dreams" / "stage")
    (stage.folder / "logs" / "2026-11-01.md").write_text("# Deploy\r\nBy hand.\r\nUse tabs\n")
    (stage.folder / "deploy.md").unlink()
    (stage.folder / "clock.md").write_text("# Clock\nThe clock is monotonic.\n")
    (stage.folder / "MEMORY.md").write_text("- [Clock](clock.md)\n- [Log](logs/2026-11-01.md)\n")
    dream = Dream("d1", "2026-11-02T09:00:00.000Z", files=stage.changes())
    documents.remove("logs/2026-11-01.md", YOU)
    made = publish(dream, documents, log)
    assert (made.status, made.touched) == ("completed", ("clock.md",))
    assert "MEMORY.md, deploy.md, logs/2026-11-01.md" in made.reason
    assert texts(tmp_path)["deploy.md"] == HELD["deploy.md"].encode()
    assert texts(tmp_path)["MEMORY.md"] == ENTRY.encode()


def test_beside_a_conflict_nothing_loses_a_line(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    stage = make_stage(tmp_path / "memory", tmp_path / "dreams" / "stage")
    (stage.folder / "clock.md").write_text("# Clock\nSee deploy.md.\n")
    (stage.folder / "deploy.md").write_text("# Deploy\nThe clock is monotonic.\n")
    dream = Dream("d1", "2026-11-02T09:00:00.000Z", files=stage.changes())
    documents.update("deploy.md", lambda _text: "by hand\n", YOU)
    assert publish(dream, documents, log).status == "failed"
    assert texts(tmp_path)["clock.md"] == HELD["clock.md"].encode()


@pytest.mark.parametrize("taken", ["folder", "case", "large"])
def test_a_document_whose_place_is_taken_is_a_conflict(
    documents: Documents, log: DreamLog, tmp_path: Path, taken: str
) -> None:
    dream, memory = dreamt(documents, tmp_path), tmp_path / "memory"
    if taken == "folder":
        (memory / "style.md").mkdir()
    elif taken == "case":
        (memory / "Style.md").write_text("mine")
    else:
        (memory / "style.md").write_bytes(b"x" * 2_000_000)
    made = publish(dream, documents, log)
    assert "style.md" not in made.touched
    assert "logs/2026-11-01.md" in texts(tmp_path)


def test_two_names_of_one_document_are_not_twice_in_the_copy(
    documents: Documents, tmp_path: Path
) -> None:
    (tmp_path / "memory" / "alias.md").symlink_to("clock.md")
    (tmp_path / "memory" / "odd.md").symlink_to("notes.txt")
    stage = make_stage(tmp_path / "memory", tmp_path / "stage")
    assert sorted(stage.base) == sorted(HELD) and stage.changes() == ()


def test_more_documents_than_are_looked_at_are_not_dreamt_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "app.background.dream.stage.FolderScan.listing", lambda *_, **__: Listing(is_cut=True)
    )
    with pytest.raises(StorageError, match="needs them all"):
        make_stage(tmp_path / "memory", tmp_path / "stage")


def test_a_dream_of_which_nothing_fits_any_more_has_failed(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    dream = dreamt(documents, tmp_path)
    for name in ("clock.md", "MEMORY.md", "style.md"):
        documents.update(name, lambda _text: "mine\n", YOU)
    assert publish(dream, documents, log).status == "failed"
    assert texts(tmp_path)["style.md"] == b"mine\n"


@pytest.mark.parametrize("failures", [1, 99])
def test_a_write_that_the_disk_refuses_is_made_up_for(
    documents: Documents,
    log: DreamLog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failures: int,
) -> None:
    dream, commit, calls = dreamt(documents, tmp_path), _Write.commit, itertools.count()

    def sometimes(write: _Write) -> object:
        if 0 < next(calls) <= failures:
            raise OSError(errno.ENOSPC, "No space left on device")
        return commit(write)

    with monkeypatch.context() as patched:
        patched.setattr(_Write, "commit", sometimes)
        with pytest.raises(StorageError, match="No space") if failures > 1 else nullcontext():
            publish(dream, documents, log)
    made = settled(log.load("d1"), documents)
    assert made.status == "completed" and len(made.touched) == 4
    assert texts(tmp_path)["style.md"] == b"# Style\nUse tabs.\n"


def test_the_record_that_cannot_be_written_changes_nothing_of_what_is_published(
    documents: Documents, log: DreamLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dream, save, calls = dreamt(documents, tmp_path), log.save, iter((True, False))

    def save_once(made: Dream) -> None:
        if not next(calls):
            raise StorageError("The disk is full.")
        save(made)

    monkeypatch.setattr(log, "save", save_once)
    assert publish(dream, documents, log).status == "completed"
    assert settled(log.load("d1"), documents).touched == tuple(each.name for each in dream.files)


@pytest.mark.parametrize("status", ["held", "failed", "aborted", "discarded", "publishing"])
def test_only_what_was_published_is_taken_back(
    documents: Documents, log: DreamLog, tmp_path: Path, status: DreamStatus
) -> None:
    dream = replace(dreamt(documents, tmp_path), status=status)
    with pytest.raises(ReverieError, match=status):
        revert(dream, documents, log)


def test_an_empty_document_and_one_of_a_megabyte_come_back_byte_for_byte(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    root = tmp_path / "memory"
    large = b"".join(b"line %d\r\n" % number for number in range(60_000))
    (root / "large.md").write_bytes(large)
    (root / "empty.md").write_bytes(b"")
    stage = make_stage(tmp_path / "memory", tmp_path / "dreams" / "stage")
    for name in ("large.md", "empty.md"):
        (stage.folder / name).write_text("short\n")
    dream = Dream("d1", "2026-11-02T09:00:00.000Z", files=stage.changes())
    back, left = revert(publish(dream, documents, log), documents, log)
    assert (back.status, left) == ("reverted", [])
    assert texts(tmp_path)["large.md"] == large and texts(tmp_path)["empty.md"] == b""


def test_one_document_is_taken_back_and_later_edits_stay(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    made = publish(dreamt(documents, tmp_path), documents, log)
    documents.update("clock.md", lambda text: f"Later.\n{text}", YOU)
    back, left = revert(made, documents, log, ["clock.md"])
    assert (back.status, left) == ("completed", [])
    assert texts(tmp_path)["clock.md"].decode() == "Later.\n" + HELD["clock.md"]
    documents.update("style.md", lambda _text: "# Style\nUse spaces.\n", YOU)
    back, left = revert(back, documents, log)
    assert len(left) == 1 and "style.md" in left[0]
    assert texts(tmp_path)["style.md"] == b"# Style\nUse spaces.\n"
    assert "logs/2026-11-01.md" in texts(tmp_path)
    with pytest.raises(ReverieError, match="did not change"):
        revert(back, documents, log, ["unheard-of.md"])


def test_single_hunks_are_accepted_or_refused() -> None:
    file = DreamFile("a.md", "one\ntwo\nthree\nfour\n", "ONE\ntwo\nthree\nfour\nfive\n")
    assert hunks_of(file) == [(["one\n"], ["ONE\n"], 1), ([], ["five\n"], 5)]
    assert with_hunks(file, {0}).after == "ONE\ntwo\nthree\nfour\n"
    assert with_hunks(file, {1}).after == "one\ntwo\nthree\nfour\nfive\n"
    assert with_hunks(file, {0, 1}) == file
    assert with_hunks(file, set()).state == with_hunks(file, {7}).state == "refused"


def test_a_dream_that_died_while_it_published_is_told_by_the_history(
    documents: Documents, log: DreamLog, tmp_path: Path
) -> None:
    dream = replace(dreamt(documents, tmp_path), status="publishing")
    cut = settled(dream, documents)
    assert (cut.status, cut.touched, cut.files) == ("held", (), dream.files)
    made = publish(dream, documents, log)
    assert settled(replace(dream, status="publishing"), documents).touched == made.touched


def test_what_cannot_be_found_out_is_shown_as_it_is_written(
    documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise StorageError("The disk is gone.")

    dream = replace(dreamt(documents, tmp_path), status="publishing")
    monkeypatch.setattr(documents, "settle", refuse)
    assert shown(dream, documents) == dream


def test_the_log_is_private_finds_by_a_beginning_and_forgets(log: DreamLog) -> None:
    for number in range(KEPT + 3):
        log.save(Dream(f"2026{number:04}", "t"))
    found = log.all()
    assert (len(found), found[0].id) == (KEPT, f"2026{KEPT + 2:04}")
    assert (log.folder / f"{found[0].id}.json").stat().st_mode & 0o777 == 0o600
    assert log.load(found[0].id[:-1] + found[0].id[-1]).id == found[0].id
    with pytest.raises(ReverieError, match="dreams 2026"):
        log.load("2026")
    with pytest.raises(ReverieError, match="no dream"):
        log.load("../x")
    (log.folder / f"{found[0].id}.json").write_text("{")
    assert len(log.all()) == KEPT - 1
