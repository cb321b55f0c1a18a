from __future__ import annotations

import time

import pytest

from app.background.suggestion_text import cleaned, refused
from tests.unit.background.suggestion_table import ACCEPTED, CLEANED, LAST_PROMPT, REFUSED


@pytest.mark.parametrize(
    ("text", "reason"),
    [*((text, "") for text in ACCEPTED), *REFUSED],
    ids=ascii,
)
def test_a_suggestion_is_accepted_or_refused_with_its_reason(text: str, reason: str) -> None:
    assert refused(text, LAST_PROMPT) == reason


def test_the_table_has_every_text_once() -> None:
    texts = [*ACCEPTED, *(text for text, _ in REFUSED)]
    assert len(texts) == len(set(texts)) and len(texts) >= 120


@pytest.mark.parametrize(("reply", "text"), CLEANED, ids=ascii)
def test_what_models_put_around_a_suggestion_goes(reply: str, text: str) -> None:
    assert cleaned(reply) == text


@pytest.mark.parametrize(
    ("last", "text", "reason"),
    [
        ("run the tests", "Run the tests?", "repeats the last prompt"),
        ("运行测试。", "运行 测试", "repeats the last prompt"),
        ("テストを実行してください", "テストを実行してください！", "repeats the last prompt"),
        ("fix test 1", "fix test 2", ""),
        ("run the tests", "run the tests again", ""),
        ("enable the cache", "disable the cache", ""),
        ("commit", "commit", "repeats the last prompt"),
        ("run the tests\n" * 500, "run the tests", ""),
        ("\ud800 run the tests", "run the tests", "repeats the last prompt"),
        ("", "run the tests", ""),
    ],
)
def test_the_last_prompt_is_not_said_again(last: str, text: str, reason: str) -> None:
    assert refused(text, last) == reason


@pytest.mark.parametrize(
    "piece",
    ["a", '"', "- ", "x ", ".", "。", "測", "\n", "\u202e", "\ud800", "a/", "*", "```\n", "("],
)
def test_a_megabyte_is_no_trouble(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.perf_counter()
    assert refused(cleaned(text), text) != ""
    assert refused("run the tests", text) == ""
    assert time.perf_counter() - began < 2
