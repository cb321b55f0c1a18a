"""Large pastes as one-line chips in the prompt; what is sent is the whole text."""

from __future__ import annotations

import re

LARGE_LINES = 12
LARGE_CHARACTERS = 1_500

_CHIP = re.compile(r"\[pasted #(\d+), \d+ (?:lines|characters)\]")


class Pastes:
    """The pastes behind the chips of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def fold(self, text: str) -> str:
        """What stands in the prompt for a paste: itself, or a chip where it is large."""
        lines = text.count("\n") + 1
        if lines < LARGE_LINES and len(text) < LARGE_CHARACTERS:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        return f"[pasted #{number}, {size}]"

    def unfold(self, text: str) -> str:
        """The text with every chip that is still whole replaced by its paste."""

        def whole(match: re.Match[str]) -> str:
            return self._texts.get(int(match[1]), match[0])

        return _CHIP.sub(whole, text) if self._texts else text
