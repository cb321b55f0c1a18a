"""The words of an inspect command, where everything that a shell would interpret is refused.

There is no shell: refusing is for the model, which would otherwise take a pipe or a variable for
something that works, and for whoever reads the log.
"""

from __future__ import annotations

from typing import Final

from app.agent.shell_parse import hidden_character
from app.background.dream.roots import NotAllowed

MOST_CHARACTERS: Final = 4_096
_MEANS: Final = {
    "|": "a pipe",
    "&": "a second command",
    ";": "a second command",
    "<": "a redirection",
    ">": "a redirection",
    "(": "a bracket of the shell; write `\\(` for find",
    ")": "a bracket of the shell; write `\\)` for find",
    "`": "a substitution",
    "$": "a variable or a substitution; put a `$` of a pattern in single quotes",
    "{": "an expansion; put it in single quotes",
    "}": "an expansion; put it in single quotes",
}
_IN_DOUBLE_QUOTES: Final = frozenset('"\\$`')


def words_of(command: str) -> list[str]:
    """The words, quotes and backslashes removed; `*`, `?` and `[` stay as they are.

    Raises `NotAllowed` for what is no single plain command.
    """
    if len(command) > MOST_CHARACTERS:
        raise NotAllowed(f"The command is longer than {MOST_CHARACTERS} characters.")
    hidden = hidden_character(command.replace("\n", "\x01"))
    if hidden is not None:
        what = "more than one line" if hidden == "\x01" else f"a hidden U+{ord(hidden):04X}"
        raise NotAllowed(f"The command holds {what}. Write one plain command.")
    return _Words(command).read()


class _Words:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def read(self) -> list[str]:
        words: list[str] = []
        while True:
            while self._here() in {" ", "\t"}:
                self._place += 1
            if not self._here():
                return words
            if self._here() in {"#", "~"}:
                what = "a comment" if self._here() == "#" else "`~`; write the path out"
                raise NotAllowed(f"The command holds {what}. There is no shell.")
            words.append(self._word())

    def _here(self) -> str:
        return self._text[self._place : self._place + 1]

    def _word(self) -> str:
        parts: list[str] = []
        while (letter := self._here()) and letter not in " \t":
            self._place += 1
            if letter == "'":
                parts.append(self._single())
            elif letter == '"':
                parts.append(self._double())
            elif letter == "\\":
                parts.append(self._escaped())
            elif letter in _MEANS:
                raise NotAllowed(
                    f"The command holds `{letter}`, {_MEANS[letter]}. There is no shell."
                )
            else:
                parts.append(letter)
        return "".join(parts)

    def _single(self) -> str:
        end = self._text.find("'", self._place)
        if end < 0:
            raise NotAllowed("A quote is not closed.")
        inner = self._text[self._place : end]
        self._place = end + 1
        return inner

    def _double(self) -> str:
        parts: list[str] = []
        while letter := self._here():
            self._place += 1
            if letter == '"':
                return "".join(parts)
            if letter in "$`":
                raise NotAllowed(
                    f"The command holds `{letter}`, {_MEANS[letter]}. There is no shell."
                )
            if letter == "\\" and self._here() in _IN_DOUBLE_QUOTES:
                letter = self._here()
                self._place += 1
            parts.append(letter)
        raise NotAllowed("A quote is not closed.")

    def _escaped(self) -> str:
        letter = self._here()
        if not letter:
            raise NotAllowed("The command ends with a backslash.")
        self._place += 1
        return letter
