from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from app.background.feedback.drafts import Draft
from app.background.feedback.payload import Choice
from app.background.feedback.redact import Finding
from app.background.feedback.transcript import Message
from app.state.feedback import DraftSeen, Feedback, Sending
from widgets.cells import Cell
from widgets.feedback.rows import (
    about_lines,
    bytes_in_words,
    draft_cells,
    finding_cells,
    found_in_words,
    head_words,
    message_cells,
    message_in_words,
    share_in_words,
    status_cell,
)
from widgets.glyphs import ASCII, UNICODE

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
SEEN = DraftSeen("fb-1", "It failed", "2026-11-02T08:12:00.000Z", 90)
DRAFT = Draft(id="fb-1", created=SEEN.created, title="It failed", body="b", session_id="1234567890")
MAIL = Finding("k", "e-mail address", "body", 0, 4, "me@example.com")
TOKEN = Finding("t", "token", "message 3", 0, 4, "ghp_x", is_restored=True)
SAID = Message(3, "assistant", "2026-11-02T08:12:00.000Z", [{"type": "text", "text": "Done.\n"}])


def text(cells: Any) -> str:
    return "".join(part for part, _ in cells)


def test_sizes_and_shares_in_words() -> None:
    sizes = (0, 1, 1_284, 1_048_576)
    assert [bytes_in_words(size) for size in sizes] == [
        "0 bytes", "1 byte", "1 284 bytes", "1 048 576 bytes",
    ]  # fmt: skip
    parts = ((0, 0), (45, 100), (199, 200), (7, 7))
    shares = [share_in_words(Sending("fb-1", "t", done, total)) for done, total in parts]
    assert shares == ["sending 0 %", "sending 45 %", "sending 99 %", "sending 100 %"]


@pytest.mark.parametrize(
    "status,words",
    [
        ("queued", "queued"),
        ("failed", "queued, failed"),
        ("unclear", "queued, unclear"),
        ("sending", "being sent"),
    ],
)
def test_the_state_of_a_draft_in_words(status: Any, words: str) -> None:
    seen = replace(SEEN, status=status)
    assert status_cell(seen, None)[0] == words
    assert status_cell(seen, Sending("fb-2", "t", 1, 2))[0] == words
    assert status_cell(seen, Sending("fb-1", "t", 1, 2))[0] == "sending 50 %"


@given(st.text(max_size=60), st.integers(30, 120))
def test_a_draft_is_one_line_that_fits(title: str, width: int) -> None:
    seen = replace(SEEN, title=title, status="unclear")
    for glyphs in (UNICODE, ASCII):
        line = text(draft_cells(seen, None, width, NOW, glyphs, chosen=True))
        assert cell_len(line) <= width and line.endswith("queued, unclear") and "\n" not in line


def test_a_draft_without_a_title_and_one_without_room_for_its_moment() -> None:
    blank = replace(SEEN, title=" \n ")
    line = text(draft_cells(blank, None, 60, NOW, UNICODE, chosen=False))
    assert "“no title yet”" in line
    assert ":" not in text(draft_cells(SEEN, None, 40, NOW, UNICODE, chosen=False))


def told(each: Draft, seen: DraftSeen | None, *, is_sending: bool = False) -> list[Cell]:
    return about_lines(each, seen, NOW, is_sending=is_sending)


def test_what_is_told_above_a_draft() -> None:
    (line,) = told(replace(DRAFT, category="bug"), SEEN)
    assert line[0].endswith(" · bug · session 12345678 · 13 bytes")
    assert "about no session · 10 bytes" in told(replace(DRAFT, session_id=""), None)[0][0]
    failed = replace(SEEN, status="failed", reason="No [b]\x1b[31m.", retry_after=SEEN.created)
    assert told(DRAFT, failed)[1][0].startswith("queued; not sent: No [b]. Not before")
    at = told(replace(DRAFT, at=SEEN.created), replace(failed, retry_after=""))[1][0]
    assert at.startswith("queued; not sent at ") and at.endswith(": No [b].")
    assert told(DRAFT, failed, is_sending=True)[1] == ("being sent", "accent")
    doubtful = replace(DRAFT, may_have_arrived=True, attempted_target="here")
    assert "may have arrived at here" in told(doubtful, failed)[2][0]


def test_what_was_found_is_counted_by_kind() -> None:
    assert found_in_words(()) == "found: no secret"
    assert found_in_words((MAIL, MAIL)) == "found: 2 e-mail addresses (struck out)"
    assert found_in_words((TOKEN,)) == "found: left in: 1 token"
    several = [replace(MAIL, kind=kind) for kind in ("token", "base64 of a secret") * 2]
    assert found_in_words(several) == "found: 2 tokens, 2 base64 of a secret (struck out)"
    both = found_in_words((MAIL, TOKEN))
    assert both == "found: 1 e-mail address (struck out); left in: 1 token"


def test_a_secret_is_marked_struck_out_or_kept() -> None:
    struck = text(finding_cells(MAIL, 80, UNICODE, chosen=True, is_kept=False))
    assert struck.startswith("› [x] body") and struck.endswith("e-mail address  me@example.com")
    kept = text(finding_cells(MAIL, 80, UNICODE, chosen=False, is_kept=True))
    assert kept.startswith("  [ ] body")
    long = replace(MAIL, secret="\x1b[2J漢" * 90)
    line = text(finding_cells(long, 60, UNICODE, chosen=True, is_kept=False))
    assert cell_len(line) <= 60 and "\x1b" not in line


@pytest.mark.parametrize(
    "content,words",
    [
        ([{"type": "text", "text": " \n"}, {"type": "text", "text": "a\nb"}], "a b"),
        ([{"type": "tool_use", "name": "Edit\x1b"}], "calls Edit␛"),
        ([{"type": "tool_result"}], "result of a tool"),
        ([{"type": "image"}], "nothing that could be told"),
    ],
)
def test_a_message_in_a_few_words(content: list[dict[str, Any]], words: str) -> None:
    assert message_in_words(replace(SAID, content=content)) == words


def message(choice: Choice, width: int = 90, cut: str = "", **fields: Any) -> str:
    said = replace(SAID, **fields)
    return text(message_cells(said, choice, width, NOW, UNICODE, chosen=False, cut=cut))


def test_a_message_says_whether_it_goes_along() -> None:
    assert message(Choice()).startswith("  [x]    3  ")
    assert "assistant  Done." in message(Choice())
    assert message(Choice(up_to=2)).startswith("  [ ]")
    assert message(Choice(without=frozenset({3}))).startswith("  [ ]")
    assert "no room  Done." in message(Choice(), cut="no room")
    assert "no room" not in message(Choice(up_to=2), cut="no room")
    assert ":" in message(Choice()) and ":" not in message(Choice(), width=60)


@given(st.text(max_size=40), st.integers(34, 100))
def test_a_message_is_one_line_that_fits(said: str, width: int) -> None:
    content = [{"type": "text", "text": said}]
    line = message(Choice(), width, cut="withheld", content=content)
    assert cell_len(line) <= width and "\n" not in line


def test_the_number_of_drafts_in_words() -> None:
    assert head_words(Feedback()) == ""
    assert head_words(Feedback((SEEN,), is_read=True)) == "1 draft"
    assert head_words(Feedback((SEEN, SEEN), is_read=True)) == "2 drafts"
