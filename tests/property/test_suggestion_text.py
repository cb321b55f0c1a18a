from __future__ import annotations

import unicodedata
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.background.suggestion_rules import SINGLE, fold
from app.background.suggestion_text import cleaned, refused
from app.background.words import count_words, sentence_spans, sentences

ANY = st.text(st.characters(), max_size=150)
PIECES = st.lists(
    st.sampled_from(
        ["run", "the tests", " ", ". ", "?", "。", "\n", "“", "”", "`", "*", "- ", "1.", "测试",
         "を", "テスト", "ทดสอบ", "\u202e", "\u200d", "\ud800", "Suggestion:", "I'll", "/",
         "delete", "all", "e.g.", "a.py", "👍", "<b>", "(", ")", "é", "е\u0301", "하다"]
    ),
    max_size=12,
).map("".join)  # fmt: skip
TEXTS = ANY | PIECES


@settings(max_examples=400, deadline=None)
@given(TEXTS, TEXTS)
@example("\ud800", "\udfff")
def test_what_is_accepted_keeps_the_rules(reply: str, last: str) -> None:
    text = cleaned(reply)
    if refused(text, last):
        return
    assert 0 < len(text) < 100
    assert text == " ".join(text.split())
    assert len(sentences(text)) == 1
    assert 2 <= count_words(text) <= 12 or fold(text).strip(" .!?。！？…") in SINGLE
    assert not {"Cc", "Cs", "Co", "Zl", "Zp"} & {unicodedata.category(c) for c in text}
    assert "`" not in text and "**" not in text and text[0] not in "/!#"
    assert fold(text) != fold(last)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_cleaning_twice_changes_nothing(reply: str) -> None:
    assert cleaned(cleaned(reply)) == cleaned(reply)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_sentences_hold_every_character_once(text: str) -> None:
    spans = sentence_spans(text)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    left = [text[a:b] for a, b in spans]
    assert "".join("".join(left).split()) == "".join(text.split())
    assert count_words(text) <= len(text)
