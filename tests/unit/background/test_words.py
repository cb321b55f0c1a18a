from __future__ import annotations

import time

import pytest

from app.background.words import count_words, sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("run the tests", 3),
        ("fix it - now", 3),
        ("don't stop", 2),
        ("🚀 … !", 0),
        ("führe die Tests aus", 4),
        ("запусти тесты", 2),
        ("테스트를 실행해 줘", 3),
        ("تست‌ها را اجرا کن", 4),
        ("परीक्षण चलाओ", 2),
        ("继续重构解析器并修复剩余的错误", 8),
        ("运行测试，然后提交", 4),
        ("現在執行測試", 3),
        ("テストを実行してください", 2),
        ("次の手順に進んでください", 3),
        ("รันการทดสอบแล้วคอมมิต", 6),
        ("用pytest跑测试", 4),
        ("run 测试 now", 3),
        ("\ud800", 0),
    ],
)
def test_words_are_counted_in_every_script(text: str, count: int) -> None:
    assert count_words(text) == count


@pytest.mark.parametrize("text", ["ສືບຕໍ່ການທົດສອບ", "តេស្តកូដនេះម្តងទៀត", "စမ်းသပ်မှုကိုဆက်လုပ်ပါ"])
def test_scripts_without_a_segmentation_are_estimated(text: str) -> None:
    assert 2 <= count_words(text) <= 8


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Use e.g. a list. Then stop", ["Use e.g. a list.", "Then stop"]),
        ("See z. B. hier, d.h. dort.", ["See z. B. hier, d.h. dort."]),
        ("Lists etc. are fine. Lists etc. Then", ["Lists etc. are fine.", "Lists etc.", "Then"]),
        ("It took 3.5 s in v1.2.3 of a.py. Good", ["It took 3.5 s in v1.2.3 of a.py.", "Good"]),
        ("See https://a.b/c.d?e=f. Then", ["See https://a.b/c.d?e=f.", "Then"]),
        ("Wait... then go. Stop… Now", ["Wait... then go.", "Stop…", "Now"]),
        ("你好。运行吗？好的！", ["你好。", "运行吗？", "好的！"]),
        ("できた。次は？", ["できた。", "次は？"]),
        ("好吗?可以", ["好吗?", "可以"]),
        ("¿Qué? ¡Sí!", ["¿Qué?", "¡Sí!"]),
        ("He said “No.” Then", ["He said “No.”", "Then"]),
        ("Maybe (or not.) Yes", ["Maybe (or not.)", "Yes"]),
        ("1. first\n2. second", ["1. first", "2. second"]),
        ("one line\nwrapped. Two", ["one line\nwrapped.", "Two"]),
        ("no dot\n\nnext", ["no dot", "next"]),
        ("It was 2024. Then", ["It was 2024.", "Then"]),
        ("am 3. Mai", ["am 3. Mai"]),
        ("ما هذا؟ نعم", ["ما هذا؟", "نعم"]),
        ("ก ข ค", ["ก ข ค"]),
    ],
)
def test_sentences_end_where_they_do(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@pytest.mark.parametrize("piece", [".", ". ", ".x", "\n", "\n ", "a. ", "?)", "- "])
def test_long_texts_are_split_quickly(piece: str) -> None:
    began = time.perf_counter()
    sentences(piece * (200_000 // len(piece)) + "x")
    assert time.perf_counter() - began < 2
