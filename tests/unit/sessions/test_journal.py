from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.errors import StorageError
from app.sessions.journal import Journal
from app.sessions.records import Record, new_record


class FlakyLog:
    """A log that can be told to fail."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.fails = False
        self.syncs = 0
        self.closed = False

    def append(self, lines: Sequence[bytes]) -> None:
        if self.fails:
            raise StorageError("full")
        self.lines += lines

    def read(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def sync(self) -> None:
        if self.fails:
            raise StorageError("full")
        self.syncs += 1

    def close(self) -> None:
        self.closed = True


def record(number: int, session: str = "s") -> Record:
    return new_record({"type": "mode", "mode": str(number), "sessionId": session})


def test_records_that_could_not_be_saved_go_out_first_and_in_order() -> None:
    log = FlakyLog()
    journal = Journal("s", log)
    records = [record(number) for number in range(5)]
    assert journal.append(records[0]) is None
    log.fails = True
    assert isinstance(journal.append(records[1], records[2]), StorageError)
    assert isinstance(journal.append(records[3]), StorageError)
    assert isinstance(journal.sync(), StorageError)
    assert journal.unsaved == 3
    log.fails = False
    assert journal.append(records[4]) is None
    assert log.lines == [each.raw for each in records]
    assert journal.unsaved == 0


def test_closing_saves_what_waits() -> None:
    log = FlakyLog()
    journal = Journal("s", log)
    log.fails = True
    journal.append(record(1))
    log.fails = False
    assert journal.close() is None
    assert log.lines == [record(1).raw]
    assert log.closed


def test_closing_says_what_is_lost() -> None:
    log = FlakyLog()
    journal = Journal("s", log)
    log.fails = True
    journal.append(record(1))
    assert isinstance(journal.close(), StorageError)
    assert log.closed


def test_a_record_of_another_session_is_refused() -> None:
    with pytest.raises(ValueError, match="other"):
        Journal("s", FlakyLog()).append(record(1, "other"))


def test_without_a_log_nothing_is_kept() -> None:
    journal = Journal("s", None)
    assert journal.append(record(1)) is None
    assert journal.close() is None
    assert journal.unsaved == 0


def test_what_must_be_on_disk_at_once_leaves_no_trace_when_it_cannot() -> None:
    log = FlakyLog()
    journal = Journal("s", log, [record(0)])
    log.fails = True
    assert isinstance(journal.append_now(record(1)), StorageError)
    assert journal.unsaved == 1, "the beginning still waits"
    log.fails = False
    assert journal.append_now(record(2), record(3)) is None
    assert log.lines == [record(number).raw for number in (0, 2, 3)]


def test_what_waits_goes_out_before_what_must_be_on_disk_at_once() -> None:
    log = FlakyLog()
    journal = Journal("s", log)
    log.fails = True
    journal.append(record(1))
    assert isinstance(journal.append_now(record(2)), StorageError)
    assert journal.unsaved == 1
    log.fails = False
    assert journal.append_now(record(3)) is None
    assert log.lines == [record(1).raw, record(3).raw]
