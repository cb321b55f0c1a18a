from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from widgets.conversation.markdown_split import MOST_CODE_LINES, Piece, Splitter, split

CASES = Path(__file__).parents[2] / "data" / "cases"

LINES = st.sampled_from(
    ["", "text", "more text", "- item", "  inside", "1. one", "# Head", "```", "```python",
     "~~~", "| a | b |", "|---|---|", "> quote", "x = 1", "`code` **bold**", "日本語 🙂"]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=40).map("\n".join)


def grown(text: str, cuts: list[int]) -> list[Piece]:
    splitter = Splitter()
    for cut in sorted({min(cut, len(text)) for cut in cuts}):
        splitter.feed(text[:cut])
    rest = splitter.feed(text, ended=True)
    return [*splitter.closed, *rest]


@given(TEXTS, st.lists(st.integers(0, 400), max_size=30))
def test_streamed_and_whole_text_give_the_same_pieces(text: str, cuts: list[int]) -> None:
    assert grown(text, cuts) == split(text)


@given(TEXTS)
def test_a_closed_piece_never_changes(text: str) -> None:
    splitter = Splitter()
    seen: list[Piece] = []
    for end in range(len(text) + 1):
        splitter.feed(text[:end])
        assert splitter.closed[: len(seen)] == seen
        seen = list(splitter.closed)


@given(TEXTS)
def test_no_word_is_lost(text: str) -> None:
    text += "\nlast"
    shown = "\n".join(f"{piece.language} {piece.text}" for piece in split(text))
    for word in text.replace("`", " ").replace("~", " ").split():
        assert word in shown


def test_a_fence_is_a_piece_of_its_own() -> None:
    assert split("Before\n```python\nx = 1\n```\nAfter") == [
        Piece("prose", "Before"),
        Piece("code", "x = 1", "python"),
        Piece("prose", "After"),
    ]


def test_a_long_fence_goes_on_in_the_next_piece() -> None:
    body = "\n".join(f"line {n}" for n in range(MOST_CODE_LINES + 5))
    first, second = split(f"```\n{body}\n```")
    assert (first.continues, second.continues) == (False, True)
    assert first.text + "\n" + second.text == body


def test_an_inner_fence_of_fewer_marks_does_not_close() -> None:
    assert split("````\n```\nx\n```\n````\n") == [Piece("code", "```\nx\n```")]


def test_an_unclosed_fence_ends_with_the_text() -> None:
    assert split("```python\nx = 1") == [Piece("code", "x = 1", "python")]


def test_a_long_list_is_split_between_items() -> None:
    pieces = split("\n".join(f"- item {n}" for n in range(20)))
    assert len(pieces) == 3
    assert [piece.joined for piece in pieces] == [False, True, True]


def test_the_streamed_case_equals_its_joined_text() -> None:
    chunks = json.loads(
        (CASES / "B37-streamed-fence-goes-blank" / "chunks.json").read_text("utf-8")
    )
    parts = chunks if isinstance(chunks, list) else chunks["chunks"]
    text = "".join(parts)
    splitter = Splitter()
    so_far = ""
    for part in parts:
        so_far += part
        rest = splitter.feed(so_far)
        assert [*splitter.closed, *rest]
    rest = splitter.feed(text, ended=True)
    assert [*splitter.closed, *rest] == split(text)
