"""Whether a suggestion for the prompt may be shown (spec/background.md, Prompt suggestion)."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from app.background.suggestion_rules import (
    ASSISTANT,
    META,
    PERMISSION,
    PRAISE,
    SINGLE,
    fold,
    throws_away,
)
from app.background.words import count_words, sentences

FEWEST_WORDS: Final = 2
MOST_WORDS: Final = 12
LONGEST: Final = 99
"""Characters of a suggestion (spec/background.md: under 100)."""
_WRAPPED: Final = 400
"""Characters of a line beyond which nothing is taken off: it is refused anyway."""
_REPEATED: Final = 1_000
"""Characters of a last prompt beyond which no suggestion can repeat it."""
_NEAR: Final = 0.9
"""Share of equal characters from which on a text repeats another."""

_FENCE = re.compile(r"(?:```|~~~)\w*")
_LABEL = re.compile(
    r"(?:(?:my |the |next )?(?:suggestion|suggested (?:prompt|next step|reply)|next(?: step)?"
    r"|prompt|answer|reply)|(?:nächster )?(?:vorschlag|schritt)|suggestion|prochaine étape"
    r"|sugerencia|siguiente paso|sugestão|suggerimento|предложение|建议|建議|下一步|提案|候補|제안)"
    r"\s*[:：]\s*",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:[-*+•–—·]|\d{1,2}[.)])\s+|[>→▸]\s*")
_PAIRS: Final = (
    ('"', '"'), ("'", "'"), ("“", "”"), ("„", "“"), ("„", "”"), ("‘", "’"), ("«", "»"), ("‹", "›"),
    ("「", "」"), ("『", "』"), ("**", "**"), ("__", "__"), ("`", "`"), ("*", "*"), ("”", "”"),
)  # fmt: skip
_FULL_STOPS: Final = (".", "。", "．", "｡", "।", "۔")

_MARKDOWN = re.compile(
    r"`|~~|\*\*|^\s*(?:#{1,6}|>|[-*+•]|\d{1,2}[.)])(?:\s|$)|^\s*[-*_]{3,}"
    r"|!?\[[^\]]*\]\([^)]*\)|\|.*\||__[^_\s]\S* [^_]*__"
    r"|(?:^|(?<=[\s(\"']))(?:\*[^*\s](?:[^*]*[^*\s])?\*|_[^_\s]+ [^_]*_)(?![\w/*])"
)
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PREFIXES = ("/", "!", "#", "／", "！")
"""What the prompt takes for a command, a shell line or a note."""
_FILLER_WORDS = (
    "please pls now then just the a an bitte mal jetzt s'il te vous plaît por favor ahora "
    "die der das le la les el los las"
)
_FILLERS = frozenset(_FILLER_WORDS.split())


def cleaned(reply: str) -> str:
    """A reply without what models put around a suggestion.

    Blank lines, a label, a list mark, quotation marks around everything and the full stop go;
    several lines that say something stay several. Cleaning twice changes nothing.
    """
    lines = [" ".join(line.split()) for line in reply.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) > 2 and _FENCE.fullmatch(lines[0]) and _FENCE.fullmatch(lines[-1]):
        lines = lines[1:-1]
    if len(lines) == 1:
        return _unwrapped(lines[0])
    return "\n".join(lines)


def _unwrapped(line: str) -> str:
    if len(line) > _WRAPPED:
        return line
    before = ""
    while line != before:
        before = line
        for mark in (_LABEL, _LIST_MARK):
            found = mark.match(line)
            if found and line[found.end() :].strip():
                line = line[found.end() :].strip()
        for opening, closing in _PAIRS:
            inner = line[len(opening) : len(line) - len(closing)]
            if _stands_between(line, opening, closing) and inner.strip():
                line = inner.strip()
        if line.endswith(_FULL_STOPS) and not line[:-1].endswith((*_FULL_STOPS, "…")):
            line = line[:-1].rstrip() or line
    return line


def _stands_between(line: str, opening: str, closing: str) -> bool:
    """Whether the marks at both ends are a pair, and not the ends of two."""
    if not (line.startswith(opening) and line.endswith(closing)):
        return False
    inner = line[len(opening) : len(line) - len(closing)]
    return opening not in inner and closing not in inner


def refused(text: str, last_prompt: str) -> str:
    """Why a cleaned suggestion may not be shown, in a few words; empty when it may.

    Takes any string. Texts of any length cost no more than a look at their characters.
    """
    if not text.strip():
        return "empty"
    if len(text) > LONGEST:
        return f"{len(text)} characters"
    if len([line for line in text.splitlines() if line.strip()]) > 1:
        return "more than one line"
    if _hides_something(text):
        return "control characters"
    folded = fold(text)
    return (
        _by_its_form(text, folded)
        or _by_what_it_says(folded)
        or _by_its_size(text, folded)
        or ("repeats the last prompt" if _repeats(folded, last_prompt) else "")
    )


def _by_its_form(text: str, folded: str) -> str:
    if META.search(folded):
        return "not a suggestion"
    if PERMISSION.search(folded):
        return "an answer to a permission"
    if _MARKDOWN.search(text):
        return "Markdown"
    return "a command" if text.lstrip().startswith(_PREFIXES) else ""


def _by_what_it_says(folded: str) -> str:
    if throws_away(folded):
        return "would throw something away"
    if ASSISTANT.search(folded):
        return "in the assistant's voice"
    return "praise" if PRAISE.search(folded) else ""


def _by_its_size(text: str, folded: str) -> str:
    if len(sentences(text)) > 1:
        return "more than one sentence"
    if folded.strip(" .!?。！？…") in SINGLE:
        return ""
    count = count_words(text)
    if count == 1:
        return "one word that is not on the list"
    return "" if FEWEST_WORDS <= count <= MOST_WORDS else f"{count} words"


def _hides_something(text: str) -> bool:
    """Whether a character is not seen, or turns others round.

    The joiners that some scripts and emoji need count only where they cannot be needed.
    """
    for before, character, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if character in _JOINERS:
            if before.isascii() or after.isascii():
                return True
        elif character in _INVISIBLE or unicodedata.category(character) in _HIDDEN:
            return True
    return any(a in _JOINERS and b in _JOINERS for a, b in pairwise(text))


def _repeats(folded: str, last_prompt: str) -> bool:
    last = last_prompt.strip()
    if len(last) > _REPEATED:
        return False
    before = fold(last)
    ours, theirs = _core(folded), _core(before)
    if (ours and ours == theirs) or _letters(folded) == _letters(before):
        return True
    if re.findall(r"\d+", folded) != re.findall(r"\d+", before):
        return False  # the same request for another number is another request
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    return matcher.quick_ratio() >= _NEAR and matcher.ratio() >= _NEAR


def _core(folded: str) -> str:
    """The letters and digits of a request without the words that only make it polite."""
    words = (word.strip(".,;:!?") for word in folded.split())
    return _letters(" ".join(word for word in words if word not in _FILLERS))


def _letters(folded: str) -> str:
    return "".join(c for c in folded if unicodedata.category(c)[0] in "LMN")
