"""Words and sentences of any language, for texts that may have only so many of them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from budoux.parser import Parser

_KANA: Final = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_THAI: Final = "\u0e01-\u0e4e"
_OTHERS: Final = "\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u104f\u1780-\u17d3"
"""Lao, Burmese and Khmer, for which there is no segmentation."""
_UNSPACED = re.compile(f"[{_KANA}{_HAN}]+|[{_THAI}]+|[{_OTHERS}]+")
_HAS_KANA = re.compile(f"[{_KANA}]")
_LETTERS_A_WORD: Final = 3
"""Letters, vowel signs not counted, of an ordinary word in these three scripts."""
_WORD = re.compile(r"\w")

_ENDS: Final = "。！？｡"
"""Ends of a sentence that need no space behind them."""
_END = re.compile(
    rf"(?<![.!?…؟।۔])[.!?…؟।۔]++[\"'”’»)\]*_]*(?=\s|\Z|[{_KANA}{_HAN}])|[{_ENDS}]+[”’」』）)\"]*"
)
_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t])")
_LAST_WORD: Final = 24
"""Characters before a full stop that are looked at for an abbreviation."""
_ABBREVIATION = re.compile(
    r"e\.?g|i\.?e|etc|vs|cf|approx|resp|nos?|fig|dept|est|inc|ltd|mrs?|ms|dr|prof|st|jr|sr|al|viz"
    r"|z\.b|d\.h|u\.a|bzw|usw|ca|evtl|ggf|vgl|inkl|exkl|nr|abs|bspw|sog|zzgl"
    r"|p\.ex|ex|c\.-à-d|env|av|art|mm?e|p\.ej|ej|sra|dña|pág|núm|aprox|q\.v"
)

_PARTED = re.compile(r"\b(?:[Zz]\. ?B|[Dd]\. ?h|[Uu]\. ?[aä]|[Ii]\. ?d\. ?R|p\. ?ej|p\. ?ex)$")
"""Abbreviations of two words."""


def count_words(text: str) -> int:
    """The words of a text, in scripts with and without spaces between them.

    Chinese, Japanese and Thai are segmented (Japanese by phrases: a word with its particles), Lao,
    Khmer and Burmese are estimated by their length. A token without a letter or digit is no word.
    Linear in the text's length, but some ten times slower where there are no spaces.
    """
    count = 0
    for token in text.split():
        if token.isascii():
            count += bool(_WORD.search(token))
            continue
        count += sum(1 for part in _UNSPACED.split(token) if _WORD.search(part))
        count += sum(_segments(run) for run in _UNSPACED.findall(token))
    return count


def sentences(text: str) -> list[str]:
    """The sentences of a text, without white space around them."""
    return [text[start:stop] for start, stop in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends.

    Blank lines and list items end one as well. The dots of abbreviations, numbers, file names,
    versions and addresses do not.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for gap in _BREAK.finditer(text):
        _split(text, start, gap.start(), spans)
        start = gap.end()
    _split(text, start, len(text), spans)
    return spans


def _split(text: str, start: int, stop: int, spans: list[tuple[int, int]]) -> None:
    for match in _END.finditer(text, start, stop):
        if match[0][0] in ".…" and not _is_full_stop(text, match, start, stop):
            continue
        _add(text, start, match.end(), spans)
        start = match.end()
    _add(text, start, stop, spans)


def _add(text: str, start: int, stop: int, spans: list[tuple[int, int]]) -> None:
    piece = text[start:stop]
    bare = piece.strip()
    if bare:
        start += len(piece) - len(piece.lstrip())
        spans.append((start, start + len(bare)))


def _is_full_stop(text: str, match: re.Match[str], start: int, stop: int) -> bool:
    rest = text[match.end() : min(match.end() + _LAST_WORD, stop)].lstrip()
    if not rest:
        return True
    before = text[max(start, match.start() - _LAST_WORD) : match.start()]
    if match[0] not in {".", ".)"}:  # a pause, unless the next sentence begins
        return not rest[0].islower()
    word = before.split()[-1].lstrip("(\"'“„«[").casefold() if before.split() else ""
    if not word:
        return bool(before.strip())
    if word == "etc":
        return rest[0].isupper()
    if _ABBREVIATION.fullmatch(word) or _PARTED.search(before):
        return False
    if len(word) == 1 and word.isalpha():  # an initial, or the name of a choice
        return before[-1].isupper() and rest[0].isupper()
    if word.isdigit():  # a list's number, or a day; a year or a result may end a sentence
        return len(word) > 2 and before.strip() != word and not rest[0].islower()
    return True


def _segments(run: str) -> int:
    first = run[0]
    if "\u0e01" <= first <= "\u0e4e":
        return len(_parser("thai").parse(run))
    if re.match(f"[{_OTHERS}]", first):
        letters = sum(1 for character in run if character.isalpha())
        return max(1, round(letters / _LETTERS_A_WORD))
    if _HAS_KANA.search(run):
        return len(_parser("japanese").parse(run))
    return len(_parser("traditional" if _is_traditional(run) else "simplified").parse(run))


def _is_traditional(han: str) -> bool:
    """Whether a text has characters that only traditional Chinese writes."""
    return not _encodes(han, "gb2312") and _encodes(han, "big5")


def _encodes(text: str, charset: str) -> bool:
    try:
        text.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


@cache
def _parser(language: str) -> Parser:
    # Late: the library takes 12 ms to import, and few texts need it.
    import budoux

    if language == "thai":
        return budoux.load_default_thai_parser()
    if language == "japanese":
        return budoux.load_default_japanese_parser()
    if language == "traditional":
        return budoux.load_default_traditional_chinese_parser()
    return budoux.load_default_simplified_chinese_parser()
