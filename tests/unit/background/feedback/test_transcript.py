from __future__ import annotations

from typing import Any

from tests.unit.background.feedback.feedback_kit import spoken, talk


def told(*records: Any) -> list[str]:
    """What a report would hold of the messages, each as one text."""
    messages = talk(*records).messages
    return [str(block.get("text") or block) for each in messages for block in each.content]


def test_what_a_sub_agent_said_is_no_part_of_it() -> None:
    assert told(spoken(1, "user", "one"), spoken(2, "assistant", "aside", isSidechain=True)) == [
        "one"
    ]


def test_what_was_taken_back_is_no_part_of_it() -> None:
    no = spoken(3, "system", "", subtype="model_refusal_fallback", retractedMessageUuids=["u2"])
    said = (spoken(1, "user", "one"), spoken(2, "assistant", "two"))
    assert told(*said, no, spoken(4, "user", "four")) == ["one", "four"]


def test_a_reply_that_only_looks_like_one_is_no_part_of_it() -> None:
    error = spoken(2, "assistant", "API Error", isApiErrorMessage=True)
    assert told(spoken(1, "user", "one"), error) == ["one"]


def test_what_was_typed_while_a_turn_ran_is_told_as_the_persons() -> None:
    queued = spoken(2, "attachment", "", attachment={"type": "queued_command", "prompt": "wait"})
    (_, second, _) = talk(spoken(1, "user", "one"), queued, spoken(3, "user", "two")).messages
    assert second.role == "user"
    assert [block["text"] for block in second.content] == ["wait"]


def test_a_block_that_is_nested_too_deeply_is_named_and_left_out() -> None:
    deep: Any = "the end"
    for _ in range(600):
        deep = [deep]
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": deep}}
    (message,) = talk(spoken(1, "assistant", [call])).messages
    assert message.content == [{"type": "tool_use", "left_out": "nested too deeply"}]
