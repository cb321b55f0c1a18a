"""Words of a shell command by bash's rules of quoting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ENDS_WORD = frozenset(b" \t\n;&|<>()")
_ESCAPED_IN_QUOTES = frozenset(b'$`"\\')
_STARTS_EXPANSION = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_{([@*#?$!-"
)
_GLOB = frozenset(b"*?")
_MOST_GUESSES = 64
_BRACES = re.compile(r"\{([^{}]*)\}")
_EXPANSION = re.compile(r"\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`|\$\w+|\$[@*#?$!-]")
_AROUND_NAMES = re.compile(r"[=:@,]")
_ATTACHED = 6
"""Letters of short options that a value may stand behind: `-Cd`, `-czfd`."""


def names(text: str) -> frozenset[str]:
    """The blank separated names of a table."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word after quote removal."""

    text: str
    """What the command gets; where `computed`, the source of it."""
    computed: bool = False
    """Its value is known only when it runs: `$x`, `$(x)`, `{a,b}`, `[a-z]`, `~other`."""
    pattern: str | None = None
    """As a pattern for `glob`, where an unquoted `*` or `?` makes bash replace it by file names."""
    home: bool = False
    """It starts with an unquoted `~`, which stands for the home folder."""


def read_word(source: bytes, start: int) -> tuple[Word, int]:
    """The word that begins at the byte `start`, and the place behind it.

    Of a computed word neither the value nor the end is known.
    """
    reader = _Reader(source, start)
    reader.read()
    text = bytes(reader.value).decode("utf-8", "replace")
    if reader.computed:
        return Word(text, computed=True), reader.place
    pattern = bytes(reader.pattern).decode("utf-8", "replace") if reader.is_pattern else None
    return Word(text, pattern=pattern, home=reader.home), reader.place


def names_in(word: Word) -> Iterator[Word]:
    """Everything in a word that its command may take for a path, for rules that forbid.

    `of=a`, `-fa`, `@a`, `host:a` hold one behind a sign. A computed word is guessed at: braces are
    expanded, classes and variables taken for patterns.
    """
    for guess in _guesses(word.text) if word.computed else [word]:
        yield guess
        text, pattern = guess.text, guess.pattern
        if pattern is None:
            places = [match.end() for match in _AROUND_NAMES.finditer(text)][:_MOST_GUESSES]
            yield from (Word(text[place:]) for place in places)
            yield from (Word(part) for part in _AROUND_NAMES.split(text)[:_MOST_GUESSES])
            if text.startswith("-"):
                yield from (Word(text[place:]) for place in range(2, _ATTACHED + 1))
        elif _AROUND_NAMES.search(pattern) or pattern.startswith("-"):
            parts = _AROUND_NAMES.split(pattern)[:_MOST_GUESSES]
            parts += [pattern[place:] for place in range(2, _ATTACHED + 1)]
            # A value that is nothing but a variable tells nothing.
            yield from (_as_pattern(part) for part in parts if re.search(r"[^*/]", part))


def _guesses(source: str) -> Iterator[Word]:
    """What the source of a computed word may come to; nothing where only running it would tell."""
    bare = source.replace("$HOME", "~").replace("${HOME}", "~")
    bare = re.sub(r"\$PWD|\$\{PWD\}|~\+", ".", bare)
    bare = re.sub(r"[\"']|\\(?=.)|^\$(?=')", "", bare)
    waiting = [bare]
    for _ in range(_MOST_GUESSES):
        if not waiting:
            return
        text = waiting.pop()
        braces = _BRACES.search(text)
        if braces is not None and not text[: braces.start()].endswith("$"):
            parts = ["*"] if ".." in braces[1] else braces[1].split(",")
            waiting += [text[: braces.start()] + part + text[braces.end() :] for part in parts]
            continue
        tail = _EXPANSION.split(text)[-1].lstrip("/")
        pattern = _EXPANSION.sub("*", text)
        if pattern != text and tail:
            yield _as_pattern(tail)
        if re.search(r"[^*/]", pattern):
            yield _as_pattern(pattern)


def _as_pattern(text: str) -> Word:
    is_pattern = bool(set(text) & set("*?["))
    return Word(text, pattern=text if is_pattern else None, home=text.startswith("~/"))


class _Reader:
    def __init__(self, source: bytes, start: int) -> None:
        self.source = source
        self.start = start
        self.place = start
        self.value = bytearray()
        self.pattern = bytearray()
        self.is_pattern = False
        self.computed = False
        self.home = False
        self.braces = False

    def read(self) -> None:
        while self.place < len(self.source) and not self.computed:
            letter = self.source[self.place]
            if letter in _ENDS_WORD:
                # `<(…)` and `>(…)` are words, too: their value is a pipe's name.
                self.computed = self.place == self.start
                break
            self._step(letter)
        if self.braces and self.source[self.start : self.place] != b"{}":
            self.computed = True

    def _step(self, letter: int) -> None:
        if letter == ord("'"):
            self._single_quotes()
        elif letter == ord('"'):
            self._double_quotes()
        elif letter == ord("\\"):
            self._backslash()
        elif letter in b"`[" or (letter == ord("$") and self._expands(self.place, b"'\"")):
            self.computed = True
        elif letter == ord("~") and self._tilde():
            return
        else:
            self.is_pattern = self.is_pattern or letter in _GLOB
            self.braces = self.braces or letter in b"{}"
            self.value.append(letter)
            self.pattern.append(letter)
            self.place += 1

    def _quoted(self, data: bytes) -> None:
        self.value += data
        for letter in data:
            self.pattern += b"[%c]" % letter if letter in b"*?[" else b"%c" % letter

    def _single_quotes(self) -> None:
        end = self.source.find(b"'", self.place + 1)
        if end < 0:
            self.computed = True
            return
        self._quoted(self.source[self.place + 1 : end])
        self.place = end + 1

    def _double_quotes(self) -> None:
        place = self.place + 1
        while place < len(self.source):
            letter = self.source[place]
            if letter == ord('"'):
                self.place = place + 1
                return
            if letter == ord("`") or (letter == ord("$") and self._expands(place, b"")):
                break
            after = self.source[place + 1 : place + 2]
            if letter == ord("\\") and after == b"\n":
                place += 2
                continue
            if letter == ord("\\") and after and after[0] in _ESCAPED_IN_QUOTES:
                place += 1
                letter = after[0]
            self._quoted(bytes([letter]))
            place += 1
        self.computed = True

    def _backslash(self) -> None:
        after = self.source[self.place + 1 : self.place + 2]
        if after == b"\n":
            self.place += 2
            return
        self._quoted(after or b"\\")
        self.place += 2 if after else 1

    def _expands(self, place: int, also: bytes) -> bool:
        after = self.source[place + 1 : place + 2]
        return bool(after) and (after[0] in _STARTS_EXPANSION or after[0] in also)

    def _tilde(self) -> bool:
        """Whether the letter was dealt with; elsewhere in a word a tilde is only a letter."""
        if self.place > self.start:
            # `a=~/x` is expanded by bash in some places and not in others.
            if self.source[self.place - 1] in b"=:":
                self.computed = True
                return True
            return False
        after = self.source[self.place + 1 : self.place + 2]
        if after and after not in b"/" and after[0] not in _ENDS_WORD:
            self.computed = True
            return True
        self.home = True
        self.value.append(ord("~"))
        self.pattern.append(ord("~"))
        self.place += 1
        return True
