from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.errors import ReverieError, SessionNotFound, StorageError
from app.sessions import ownership
from app.sessions.cleanup import remove_old_sessions
from app.sessions.naming import rename
from app.sessions.ownership import Holder, Ownership, own
from app.sessions.trash import empty_trash, restore, trash, trash_folder, trashed
from tests.fakes.sessions import Made, session_id

NOW = 1_800_000_000.0
DAY = 86_400


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    return tmp_path / "data" / "projects"


def session(projects: Path, number: int = 1) -> Path:
    file = Made(number).talk("hi").write(projects / "p")
    beside = file.with_suffix("") / "tool-results"
    beside.mkdir(parents=True)
    (beside / "a.txt").write_text("big")
    return file


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_a_session_goes_to_the_trash_and_comes_back_whole(projects: Path) -> None:
    file = session(projects)
    before = everything(projects)
    gone = trash(file, projects, NOW)
    assert everything(projects) == {}
    assert gone.folder == projects.parent / "trash" / f"20270115T080000Z-{file.stem}"
    assert gone.folder.stat().st_mode & 0o777 == 0o700
    assert trashed(projects) == [gone]
    assert restore(projects, file.stem, NOW) == file
    assert everything(projects) == before
    assert trashed(projects) == []


def test_what_is_open_stays(projects: Path) -> None:
    file = session(projects)
    owner = own(file)
    assert isinstance(owner, Ownership)
    for action in (lambda: trash(file, projects, NOW), lambda: rename(file, "New")):
        with pytest.raises(ReverieError, match="open in this window"):
            action()
    owner.release()
    assert Made(1).talk("hi").text() == file.read_text()
    assert not trash_folder(projects).exists()


def test_a_folder_that_cannot_hold_a_lock_is_left_alone(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(projects)
    before = everything(projects)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(ownership, "own", refuse)
    for action in (lambda: trash(file, projects, NOW), lambda: rename(file, "New")):
        with pytest.raises(StorageError, match="Permission denied"):
            action()
    assert everything(projects) == before


def test_only_sessions_of_ours_go(projects: Path, tmp_path: Path) -> None:
    outside = Made(1).talk("hi").write(tmp_path)
    notes = session(projects).with_name("notes.jsonl")
    notes.write_text("mine")
    for file in (outside, notes, projects / "p" / session_id(1), projects / "p" / "x" / "y.jsonl"):
        with pytest.raises(ReverieError, match="is not a session of Reverie"):
            trash(file, projects, NOW)
    with pytest.raises(SessionNotFound):
        trash(projects / "p" / f"{session_id(9)}.jsonl", projects, NOW)
    assert outside.exists() and notes.exists()


def test_a_session_that_cannot_be_moved_stays_whole(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(projects)
    before = everything(projects)
    move = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self == file:
            raise OSError(28, "No space left on device")
        return move(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(StorageError, match="No space left"):
        trash(file, projects, NOW)
    assert everything(projects) == before
    assert trashed(projects) == []


def test_nothing_is_overwritten_by_coming_back(projects: Path) -> None:
    file = session(projects)
    trash(file, projects, NOW)
    file.write_text("another")
    with pytest.raises(ReverieError, match="is there again"):
        restore(projects, file.stem, NOW)
    assert file.read_text() == "another"
    with pytest.raises(SessionNotFound):
        restore(projects, session_id(7), NOW)


def test_a_note_of_the_origin_that_leads_elsewhere_is_not_followed(
    projects: Path, tmp_path: Path
) -> None:
    gone = trash(session(projects), projects, NOW)
    (gone.folder / "origin").write_text(str(tmp_path / f"{gone.session_id}.jsonl"))
    with pytest.raises(StorageError):
        restore(projects, gone.session_id, NOW)
    assert not (tmp_path / f"{gone.session_id}.jsonl").exists()


def test_the_trash_is_emptied_after_a_while(projects: Path) -> None:
    for number, days in ((1, 31), (2, 29)):
        trash(session(projects, number), projects, NOW - days * DAY)
    (trash_folder(projects) / "mine").mkdir()
    remove_old_sessions(projects, 0, (), NOW)
    assert len(trashed(projects)) == 2
    remove_old_sessions(projects, 30, (), NOW)
    assert [each.session_id for each in trashed(projects)] == [session_id(2)]
    assert empty_trash(projects, 1, NOW) == 1
    assert [each.name for each in trash_folder(projects).iterdir()] == ["mine"]


def test_a_name_is_one_more_record(projects: Path) -> None:
    file = session(projects)
    before = file.read_bytes()
    rename(file, "  The\n clock ")
    added = f'{{"type":"custom-title","customTitle":"The clock","sessionId":"{file.stem}"}}\n'
    assert file.read_bytes() == before + added.encode()
    assert not file.with_suffix(".lock").exists()
    with pytest.raises(ReverieError, match="needs at least one letter"):
        rename(file, " \n")
    with pytest.raises(SessionNotFound):
        rename(file.with_name(f"{session_id(5)}.jsonl"), "x")


def twins(projects: Path) -> list[Path]:
    """One id in two projects, each with a folder beside it."""
    made: list[Path] = []
    for project in ("p", "q"):
        file = Made(1).talk(f"of {project}").write(projects / project)
        file.with_suffix("").mkdir()
        (file.with_suffix("") / "a.txt").write_text(project)
        made.append(file)
    return made


def test_one_id_of_two_projects_goes_and_comes_back_twice(projects: Path) -> None:
    files = twins(projects)
    before = everything(projects)
    entries = [trash(file, projects, NOW) for file in files]
    assert [each.folder.name[-2:] for each in entries] == ["00", "-2"]
    assert trashed(projects) == entries[::-1]
    assert [restore(projects, files[0].stem, NOW) for _ in files] == files[::-1]
    assert everything(projects) == before
    assert list(trash_folder(projects).iterdir()) == []


def test_the_same_session_twice_is_not_found_the_second_time(projects: Path) -> None:
    file = session(projects)
    gone = trash(file, projects, NOW)
    with pytest.raises(SessionNotFound):
        trash(file, projects, NOW)
    assert trashed(projects) == [gone]


def test_nothing_is_deleted_when_the_way_back_is_barred_too(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(projects)
    before = everything(projects)
    move = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self == file:
            return move(self, target)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(StorageError, match=r"Its transcript is in .*/trash/"):
        trash(file, projects, NOW)
    monkeypatch.setattr(Path, "rename", move)
    assert restore(projects, file.stem, NOW) == file
    assert everything(projects) == before


def test_a_folder_that_cannot_follow_takes_the_transcript_back(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(projects)
    before = everything(projects)
    move = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self == file.with_suffix(""):
            raise OSError(28, "No space left on device")
        return move(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(StorageError, match="It was left where it is"):
        trash(file, projects, NOW)
    assert everything(projects) == before
    assert list(trash_folder(projects).iterdir()) == []


@pytest.mark.parametrize("going", [True, False])
@pytest.mark.parametrize("when", [1, 2])
def test_a_kill_at_any_moment_loses_nothing(
    projects: Path, monkeypatch: pytest.MonkeyPatch, *, going: bool, when: int
) -> None:
    file = session(projects)
    before = everything(projects)
    if not going:
        trash(file, projects, NOW)
    move, moves = Path.rename, iter(range(1, 9))

    def die(self: Path, target: Path) -> Path:
        if next(moves) == when:
            raise KeyboardInterrupt
        return move(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", die)
        with pytest.raises(KeyboardInterrupt):
            if going:
                trash(file, projects, NOW)
            else:
                restore(projects, file.stem, NOW)
    if going and when == 1:
        assert trashed(projects) == []
    else:
        assert restore(projects, file.stem, NOW) == file
    assert everything(projects) == before


def test_what_is_left_of_a_session_is_not_taken_for_one(projects: Path) -> None:
    file = session(projects)
    gone = trash(file, projects, NOW)
    husk = gone.folder.with_name(f"20280115T080000Z-{file.stem}")
    husk.mkdir()
    (husk / "origin").write_text("p")
    assert trashed(projects) == [gone]
    assert restore(projects, file.stem, NOW) == file
    assert empty_trash(projects, 1, NOW + 900 * DAY) == 1 and not husk.exists()


def test_the_trash_moves_with_the_data_folder(projects: Path) -> None:
    file = session(projects)
    gone = trash(file, projects, NOW)
    assert (gone.folder / "origin").read_text() == "p"
    moved = projects.parent.rename(projects.parent.with_name("elsewhere")) / "projects"
    assert restore(moved, file.stem, NOW) == moved / "p" / file.name


def test_the_whole_path_that_was_once_noted_is_still_understood(projects: Path) -> None:
    file = session(projects)
    gone = trash(file, projects, NOW)
    (gone.folder / "origin").write_text(f"/old/data/projects/p/{file.name}")
    assert restore(projects, file.stem, NOW) == file


def test_a_session_that_came_back_is_not_old(projects: Path) -> None:
    file = session(projects)
    os.utime(file, (NOW - 90 * DAY, NOW - 90 * DAY))
    trash(file, projects, NOW)
    restore(projects, file.stem, NOW)
    assert remove_old_sessions(projects, 30, (), NOW + DAY) == 0
    assert file.exists()


def test_a_session_does_not_come_back_under_a_living_one(projects: Path) -> None:
    file = session(projects)
    gone = trash(file, projects, NOW)
    owner = own(file)
    assert isinstance(owner, Ownership)
    with pytest.raises(ReverieError, match="open in this window"):
        restore(projects, file.stem, NOW)
    owner.release()
    assert trashed(projects) == [gone]


def test_a_holder_without_a_number_is_just_another_process(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(projects)
    monkeypatch.setattr(ownership, "own", lambda _: Holder(0, 0.0))
    with pytest.raises(ReverieError, match=r"is open in another process\. It was left"):
        trash(file, projects, NOW)
