from __future__ import annotations

import json
import os
import socket
import stat
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.background.feedback.drafts import DraftNotFound, DraftTooLarge, new_draft, wait_left
from app.background.feedback.outbox import Outbox
from app.clock import SystemClock, timestamp
from app.errors import StorageError
from tests.fakes.clock import START, FakeClock
from tests.unit.background.feedback.feedback_kit import draft, file_of, outbox

NO_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def age(box: Outbox, draft_id: str, days: float) -> None:
    then = (START - timedelta(days=days)).timestamp()
    os.utime(file_of(box, draft_id), (then, then))


def test_a_draft_is_a_private_file_in_a_private_folder(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    made = new_draft(FakeClock(), "Title", "Body 😀", category="bug", evidence="line 3")
    assert box.add(made) == ()
    assert box.get(made.id) == made
    assert (mode(box.folder), mode(file_of(box, made.id))) == (0o700, 0o600)


def test_32768_bytes_are_a_draft_and_one_more_is_none(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft(title="", body="é" * 16_384))
    with pytest.raises(DraftTooLarge, match="32769 bytes; the limit is 32768"):
        box.add(draft("fb-2", title="x", body="é" * 16_384))
    with pytest.raises(DraftTooLarge):
        box.change("fb-1", lambda d: replace(d, evidence="x"))
    assert [d.id for d in box.listing().drafts] == ["fb-1"]
    assert box.get("fb-1").evidence == ""


def test_half_a_surrogate_pair_becomes_a_mark_and_can_be_stored(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft(body="cut \ud83d here"))
    assert box.get("fb-1").body == "cut \ufffd here"


def test_an_eleventh_draft_sends_the_oldest_away_and_tells_it(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    for number in range(10):
        made = draft(f"fb-{number}", created=timestamp(START + timedelta(minutes=number)))
        assert box.add(made) == ()
    last = draft("fb-new", created=timestamp(START - timedelta(days=9)))
    assert [d.id for d in box.add(last)] == ["fb-0"]
    assert len(box.listing().drafts) == 10
    assert box.get("fb-new") == last


def test_a_draft_that_cannot_be_evicted_does_not_lose_the_new_one(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    for number in range(10):
        box.add(draft(f"fb-{number}", created=timestamp(START + timedelta(minutes=number))))
    (box.folder / "removed").touch()
    assert box.add(draft("fb-new")) == ()
    assert len(box.listing().drafts) == 11
    (box.folder / "removed").unlink()
    assert box.add(draft("fb-newer")) != ()
    assert len(box.listing().drafts) == 10


def test_what_had_to_leave_lies_where_it_can_be_found_for_another_thirty_days(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    box = outbox(tmp_path, clock)
    box.add(draft(body="words"))
    clock.advance(timedelta(days=3_650).total_seconds())
    assert [d.id for d in box.listing().expired] == ["fb-1"]
    removed = box.folder / "removed"
    assert b"words" in (removed / "fb-1.json").read_bytes()
    assert (mode(removed), mode(removed / "fb-1.json")) == (0o700, 0o600)
    clock.advance(timedelta(days=29).total_seconds())
    box.add(draft("fb-2", created="2020-01-01T00:00:00Z"))
    age(box, "fb-2", 99)
    box.listing()
    assert sorted(file.name for file in removed.iterdir()) == ["fb-1.json", "fb-2.json"]
    clock.advance(timedelta(days=2).total_seconds())
    box.add(draft("fb-3", created="2020-01-01T00:00:00Z"))
    age(box, "fb-3", 99)
    box.listing()
    assert sorted(file.name for file in removed.iterdir()) == ["fb-2.json", "fb-3.json"]


def test_what_is_no_file_is_named_and_keeps_nothing_open(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    before = open_files()
    (box.folder / "x.json").mkdir()
    os.mkfifo(box.folder / "y.json")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(box.folder / "z.json"))
    box.listing()
    found = box.listing()
    assert found.damaged == ("x.json.damaged", "y.json.damaged", "z.json.damaged")
    assert open_files() == before


def test_half_a_write_of_a_dead_process_is_tidied_and_the_folder_is_private(
    tmp_path: Path,
) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    (box.folder / ".tmp-half").write_text("half a word")
    (box.folder / "bad.json").write_text("{")
    (box.folder / "bad.json").chmod(0o644)
    box.folder.chmod(0o777)
    assert box.listing().damaged == ("bad.json.damaged",)
    assert not (box.folder / ".tmp-half").exists()
    assert (mode(box.folder), mode(box.folder / "bad.json.damaged")) == (0o700, 0o600)


def test_a_log_that_is_a_pipe_holds_nothing_up(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    os.mkfifo(box.folder / "sent.jsonl")
    assert box.sent_reports() == ()


def test_a_full_disk_does_not_keep_the_lock_from_being_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    box = outbox(tmp_path)
    monkeypatch.setattr(os, "pwrite", full)
    box.add(draft())
    assert box.get("fb-1") == draft()


def test_a_draft_goes_after_thirty_days_by_its_own_time_and_the_files(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    for name, days in (("old", 31), ("young", 29), ("touched", 31), ("copied", 1)):
        box.add(draft(name, created=timestamp(START - timedelta(days=days))))
    for name, days in (("old", 31), ("young", 31), ("touched", 1), ("copied", 31)):
        age(box, name, days)
    listing = box.listing()
    assert [d.id for d in listing.expired] == ["old"]
    assert {d.id for d in listing.drafts} == {"young", "touched", "copied"}


def test_a_clock_that_was_set_back_deletes_nothing(tmp_path: Path) -> None:
    clock = FakeClock(START - timedelta(days=900))
    box = outbox(tmp_path, clock)
    box.add(draft(created=timestamp(START)))
    assert box.listing().expired == ()
    assert box.get("fb-1")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"id": "x"}', b"\xff\xfe", b'{"id":"fb-x","body":"\xff"}', b"\0" * 99],
)
def test_a_damaged_file_is_kept_aside_and_named(tmp_path: Path, content: bytes) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    file_of(box, "fb-2").write_bytes(content)
    listing = box.listing()
    assert listing.damaged == ("fb-2.json.damaged",)
    assert (box.folder / "fb-2.json.damaged").read_bytes() == content
    assert [d.id for d in listing.drafts] == ["fb-1"]
    file_of(box, "fb-2").write_bytes(content)
    assert box.listing().damaged == ("fb-2.json.2.damaged", "fb-2.json.damaged")


def test_a_file_that_claims_to_be_another_draft_or_is_a_link_is_none(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    file_of(box, "fb-2").write_bytes(file_of(box, "fb-1").read_bytes())
    file_of(box, "fb-3").symlink_to(file_of(box, "fb-1"))
    assert box.listing().damaged == ("fb-2.json.damaged", "fb-3.json.damaged")
    assert box.get("fb-1")


@pytest.mark.parametrize("draft_id", ["", "../fb-1", "a/b", ".lock", "fb-9", "x" * 99])
def test_an_id_that_names_no_draft_is_refused(tmp_path: Path, draft_id: str) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    with pytest.raises(DraftNotFound):
        box.get(draft_id)
    with pytest.raises(DraftNotFound):
        box.discard(draft_id)


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    assert box.listing().drafts == ()
    assert box.sent_reports() == ()
    assert not box.folder.exists()


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "feedback").write_text("in the way")
    with pytest.raises(StorageError, match=r"The folder .* cannot be made"):
        outbox(tmp_path).add(draft())


def test_a_lock_that_cannot_be_made_leaves_the_drafts_readable(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    (box.folder / ".lock").unlink()
    (box.folder / ".lock").mkdir()
    listing = box.listing()
    assert [d.id for d in listing.drafts] == ["fb-1"]
    assert "cannot be written" in listing.trouble
    with pytest.raises(StorageError, match="cannot be written"):
        box.add(draft("fb-2"))


@NO_ROOT
def test_a_folder_that_is_read_only_is_told_in_a_sentence(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft())
    box.folder.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="could not be written"):
            box.add(draft("fb-2"))
    finally:
        box.folder.chmod(0o700)


def test_a_draft_that_is_being_sent_is_neither_changed_nor_discarded_nor_evicted(
    tmp_path: Path,
) -> None:
    box, other = outbox(tmp_path), outbox(tmp_path)
    box.add(draft("first", created=timestamp(START - timedelta(days=1))))
    with box.sending("first", lambda d: replace(d, status="sending")) as held:
        assert held.status == other.get("first").status == "sending"
        with pytest.raises(StorageError, match="being sent by another process"):
            other.discard("first")
        with pytest.raises(StorageError, match="being sent by another process"):
            other.change("first", lambda d: d)
        gone = [d.id for number in range(10) for d in other.add(draft(f"fb-{number}"))]
        assert gone == ["fb-0"]
        assert other.listing().drafts[0].status == "sending"
        box.finish(replace(held, status="failed", reason="No."))
    other.discard("first")


def test_a_send_that_died_is_settled_by_what_its_sink_can_do(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(draft("keyed", status="sending", sink="http", is_idempotent=True))
    box.add(draft("bare", status="sending", sink="github"))
    found = {d.id: d for d in box.listing().drafts}
    assert (found["keyed"].status, found["bare"].status) == ("failed", "unclear")
    assert all(d.may_have_arrived and "may have arrived" in d.reason for d in found.values())


def test_a_yes_that_was_logged_before_a_crash_deletes_the_draft(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    sending = draft(status="sending", sink="http", is_idempotent=True)
    box.add(sending)
    box.sent(sending, "FB-1")
    box.add(sending)
    assert box.listing().drafts == ()
    log = box.folder / "sent.jsonl"
    assert [(r.id, r.remote_id, r.sink) for r in box.sent_reports()] == [("fb-1", "FB-1", "http")]
    assert mode(log) == 0o600
    assert "failed" not in log.read_text()
    assert set(json.loads(log.read_text().splitlines()[0])) == {"id", "remote_id", "at", "sink"}


def test_a_clock_set_back_holds_no_retry_up(tmp_path: Path) -> None:
    waiting = draft(at=timestamp(START), retry_after=timestamp(START + timedelta(seconds=60)))
    assert wait_left(waiting, START + timedelta(seconds=20)) == 40
    assert wait_left(waiting, START + timedelta(seconds=61)) == 0
    assert wait_left(waiting, START - timedelta(days=9)) == 0


def add_many(folder: Path, name: str) -> None:
    box = Outbox(folder, SystemClock())
    for number in range(5):
        box.add(draft(f"{name}-{number}"))


def test_many_processes_leave_ten_whole_drafts(tmp_path: Path) -> None:
    context = get_context("spawn")
    others = [context.Process(target=add_many, args=(tmp_path, f"p{n}")) for n in range(3)]
    for process in others:
        process.start()
    for process in others:
        process.join()
    listing = Outbox(tmp_path, FakeClock()).listing()
    assert (len(listing.drafts), listing.damaged) == (10, ())
    assert {process.exitcode for process in others} == {0}
