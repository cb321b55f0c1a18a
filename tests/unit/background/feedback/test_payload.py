from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.background.feedback.payload import Choice, Client, Payload, build, still_secret
from app.background.feedback.redact import redacted_value
from app.background.feedback.services import GithubSink
from app.background.feedback.transcript import Transcript, read_transcript
from app.sessions.graph import open_view
from app.sessions.records import parse_record
from tests.fakes.clock import FakeClock
from tests.unit.background.feedback.feedback_kit import CASES, SESSION, draft, said, spoken, talk

ALL = Choice()
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py", "is_error": False}


def small_talk(size: int = 4) -> Transcript:
    roles = ("user", "assistant")
    return talk(*(spoken(n, roles[(n - 1) % 2], f"word {n}") for n in range(1, size + 1)))


def numbers(payload: Payload) -> list[int]:
    return [message["number"] for message in said(payload.data)["transcript"]["messages"]]


def test_the_report_holds_the_drafts_texts_and_nothing_else() -> None:
    made = draft(category="bug", evidence="line 3", project="/home/demo/shop", reason="secret")
    report = said(build(made, client=Client("reverie", "0.1.0", "linux")).data)
    assert report == {
        "id": "fb-1",
        "created_at": made.created,
        "title": "It failed",
        "category": "bug",
        "body": "The list was empty.",
        "evidence": "line 3",
        "client": {"name": "reverie", "version": "0.1.0", "platform": "linux"},
    }


def test_no_transcript_leaves_unless_it_was_chosen() -> None:
    payload = build(draft(), small_talk())
    assert "transcript" not in said(payload.data)
    assert (payload.has_transcript, payload.withheld, payload.notes) == (False, "", ())


def test_the_same_input_makes_the_same_bytes() -> None:
    one = build(draft(), small_talk(), ALL, restored={"b", "a"})
    assert one == build(draft(), small_talk(), ALL, restored={"a", "b"})


def test_messages_are_chosen_one_by_one_and_up_to_one() -> None:
    assert numbers(build(draft(), small_talk(), ALL)) == [1, 2, 3, 4]
    assert numbers(build(draft(), small_talk(), Choice(up_to=3))) == [1, 2, 3]
    chosen = Choice(up_to=3, without=frozenset({2}))
    payload = build(draft(), small_talk(), chosen)
    assert numbers(payload) == [1, 3]
    assert payload.dropped_messages == 0


def test_a_message_is_what_was_said_and_done_without_thoughts_and_pictures() -> None:
    talked = talk(
        spoken(1, "user", [{"type": "text", "text": "Hi"}, {"type": "image", "source": {}}]),
        spoken(2, "assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}, CALL]),
        spoken(3, "user", [RESULT], toolUseResult={"stdout": "never told"}),
    )
    report = said(build(draft(), talked, ALL).data)
    assert [message["content"] for message in report["transcript"]["messages"]] == [
        [{"type": "text", "text": "Hi"}, {"type": "image", "left_out": "not a text"}],
        [CALL],
        [{**RESULT, "content": [{"type": "text", "text": "a.py"}]}],
    ]


def test_a_transcript_of_another_session_is_left_out_and_it_is_said() -> None:
    mixed = talk(spoken(1, "user", "Hi"), spoken(2, "assistant", "Yo", sessionId="other"))
    for talked in (small_talk(), mixed):
        about = draft(session_id="other") if talked is not mixed else draft()
        payload = build(about, talked, ALL)
        assert "transcript" not in said(payload.data)
        assert payload.withheld == "other_session"
        assert "left out" in payload.notes[0]
    assert build(draft(session_id=""), small_talk(), ALL).withheld == "other_session"


MARKED = [
    spoken(2, "assistant", "Hi", entrypoint="codex"),
    spoken(2, "assistant", "Hi", entrypoint="pi"),
    spoken(2, "assistant", [{**CALL, "name": "mcp__shop__orders"}]),
    spoken(2, "user", [RESULT], mcpMeta={"server": "shop"}),
    spoken(2, "user", [RESULT], thirdParty=True),
    spoken(2, "user", [{**RESULT, "third_party": True}]),
    spoken(2, "user", [{**RESULT, "_meta": {"thirdParty": True}}]),
    spoken(2, "assistant", "Hi", attributionPlugin="shop"),
]


@pytest.mark.parametrize("record", MARKED)
def test_a_transcript_with_third_party_content_is_withheld_whole(record: object) -> None:
    talked = talk(spoken(1, "user", "Hi"), record)  # pyright: ignore[reportArgumentType]
    payload = build(draft(), talked, Choice(up_to=1))
    assert payload.withheld == "third_party"
    assert "message 2" in payload.notes[0]
    assert "transcript" not in said(payload.data)


def test_a_transcript_of_claude_code_is_no_third_partys() -> None:
    talked = talk(spoken(1, "user", "Hi", version="2.1.0", entrypoint="cli"))
    assert build(draft(), talked, ALL).has_transcript


@pytest.mark.parametrize("budget", [1_000, 1_500, 2_222, 3_000, 5_000])
def test_the_oldest_messages_go_and_the_cut_is_recorded(budget: int) -> None:
    talked = talk(*(spoken(n, "user", f"{n} " + "é" * 100) for n in range(1, 21)))
    payload = build(draft(), talked, ALL, budget=budget)
    kept = numbers(payload)
    assert len(payload.data) <= budget
    assert kept == list(range(21 - len(kept), 21))
    cut = said(payload.data)["transcript"]["truncated"]
    assert cut == {
        "dropped_messages": 20 - len(kept),
        "dropped_bytes": payload.dropped_bytes,
    }
    whole = said(build(draft(), talked, ALL).data)["transcript"]["messages"]
    lost = whole[: 20 - len(kept)]
    assert payload.dropped_bytes == sum(
        len(json.dumps(m, ensure_ascii=False, separators=(",", ":")).encode()) for m in lost
    )
    assert f"under {budget} bytes" in payload.notes[0]
    one_more = build(draft(), talked, ALL, budget=len(payload.data) + 400)
    assert len(numbers(one_more)) > len(kept)


def test_a_message_larger_than_the_budget_leaves_the_draft_alone() -> None:
    talked = talk(spoken(1, "user", "x" * 5_000))
    payload = build(draft(), talked, ALL, budget=2_000)
    assert numbers(payload) == []
    assert payload.dropped_messages == 1
    assert payload.notes == (
        "The message is left out: with it the report would not stay under 2000 bytes.",
    )


def test_what_can_never_fit_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []

    def counted(value: object, restored: Collection[str], place: str) -> object:
        looked.append(place)
        return redacted_value(value, restored, place)

    monkeypatch.setattr("app.background.feedback.redact.redacted_value", counted)
    huge = "x y " * 20_000
    talked = talk(*(spoken(n, "user", huge) for n in range(1, 4)), spoken(4, "user", "Hi"))
    payload = build(draft(), talked, ALL, budget=2_000)
    assert numbers(payload) == [4]
    assert looked == ["message 4"]
    assert payload.dropped_bytes > 3 * len(huge)
    assert payload.notes[0].startswith("The oldest 3 messages are left out")
    alone = build(draft(), talk(*(spoken(n, "user", huge) for n in (1, 2))), ALL, budget=2_000)
    assert alone.notes[0].startswith("All 2 messages are left out: with the newest the")


def test_a_message_that_redaction_makes_small_is_attached() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "x" * 3_000
    payload = build(draft(), talk(spoken(1, "user", key)), ALL, budget=2_000)
    assert numbers(payload) == [1]


def test_the_id_of_the_session_is_looked_at_like_a_text() -> None:
    name = "sk-ant-api03-" + "a" * 20
    talked = Transcript(name, small_talk().messages)
    payload = build(draft(session_id=name), talked, ALL)
    assert said(payload.data)["transcript"]["session_id"] == "[redacted: key]"
    assert [f.place for f in payload.findings] == ["session id"]
    kept = build(draft(session_id=name), talked, ALL, restored={payload.findings[0].key})
    assert said(kept.data)["transcript"]["session_id"] == name
    assert still_secret(kept) == ()
    changed = replace(payload, data=payload.data.replace(b"[redacted: key]", name.encode()))
    assert [f.place for f in still_secret(changed)] == ["session id"]


def test_half_a_surrogate_pair_can_leave() -> None:
    talked = talk(spoken(1, "user", "cut \ud83d here"))
    assert "cut \ufffd here" in build(draft(title="\ud83d"), talked, ALL).data.decode()


def test_a_secret_that_was_written_after_the_review_is_seen_at_send_time() -> None:
    payload = build(draft(body="mail a@example.invalid"), small_talk(), ALL)
    assert still_secret(payload) == ()
    restored = build(payload.draft, restored={payload.findings[0].key})
    assert still_secret(restored) == ()
    assert b"a@example.invalid" in restored.data
    changed = replace(payload, data=payload.data.replace(b"word 3", b"password: hunter22"))
    assert [f.place for f in still_secret(changed)] == ["message 3"]


def test_an_issue_holds_all_of_the_report_and_its_fence_is_not_broken_out_of() -> None:
    sink = GithubSink("shop/shop", "t", FakeClock())
    talked = talk(spoken(1, "user", "````\nout"))
    payload = build(draft(evidence="line 3", category="bug"), talked, ALL, budget=sink.budget)
    issue = said(sink.encoded(payload))
    assert issue["title"] == "It failed"
    assert issue["body"].startswith("The list was empty.\n\n### Evidence\n\nline 3")
    fenced = issue["body"].split("`````json\n")[1].split("\n`````")[0]
    assert json.loads(fenced) == said(payload.data)["transcript"]


def b60() -> Transcript:
    (folder,) = CASES.glob("B60-*")
    lines = (folder / "transcript.jsonl").read_bytes().splitlines()
    records = [parse_record(line) for line in lines]
    return read_transcript(records[0].session_id or "", open_view(records))


def test_b60_no_secret_leaves_and_what_survives_is_in_the_preview() -> None:
    (folder,) = CASES.glob("B60-*")
    given = json.loads((folder / "draft.json").read_text())
    about = draft(
        given["id"], title=given["title"], body=given["text"], session_id=b60().session_id
    )
    without = build(about, b60())
    assert "transcript" not in said(without.data)
    assert b"FAKESECRET" not in without.data
    assert b"It failed after I set API_KEY=[redacted: password]" in without.data
    payload = build(about, b60(), ALL)
    text = payload.data.decode()
    # A part of a key with nothing secret around it is for the person to see.
    assert text.count("FAKESECRET") == text.count("The key ends with FAKESECRET") == 1
    assert "cGFzc3dvcmQ9" not in text
    assert "/home/[redacted: home path]/project [redacted: e-mail address]" in text
    assert "curl -H 'Authorization: Bearer [redacted: header]' https://[redacted: " in text
    assert "second half" in text
    assert {f.kind for f in payload.findings} >= {"key", "header", "private key", "home path"}


def test_b60_each_finding_names_its_place_and_is_restored_alone() -> None:
    about = draft(session_id=b60().session_id)
    payload = build(about, b60(), ALL)
    for finding in payload.findings:
        other = build(about, b60(), ALL, restored={finding.key})
        assert [f.key for f in other.findings if f.is_restored] == [finding.key]
        assert still_secret(other) == ()
    assert payload.findings[0].place == "message 1"


def test_the_session_id_is_the_only_thing_said_about_the_project(tmp_path: Path) -> None:
    payload = build(draft(project=str(tmp_path)), small_talk(), ALL)
    assert said(payload.data)["transcript"]["session_id"] == SESSION
    assert str(tmp_path).encode() not in payload.data


def test_the_patterns_of_secrets_are_not_made_at_the_start() -> None:
    program = (
        "import sys, app.background_desk;"
        "print([name for name in sys.modules if 'feedback.redact' in name or 'secret_v' in name])"
    )
    words = [sys.executable, "-c", program]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"
