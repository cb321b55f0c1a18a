"""Large pastes as one-line chips in the prompt; what is sent is the whole text."""

from __future__ import annotations

import re
from pathlib import Path

LARGE_LINES = 12
LARGE_CHARACTERS = 1_500

_CHIP = re.compile(r"\[pasted #(\d+), \d+ (?:lines|characters)\]")
_PICTURE_CHIP = re.compile(r"\[picture #(\d+), [^\]]*\] ?")
_PICTURE = re.compile(r"\S.*\.(?:png|jpe?g|gif|webp)", re.IGNORECASE)


class Pastes:
    """The pastes behind the chips of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._pictures: dict[int, Path] = {}

    def fold(self, text: str) -> str:
        """What stands in the prompt for a paste: itself, or a chip for much text or a picture."""
        if (picture := _picture_path(text)) is not None:
            number = len(self._pictures) + 1
            self._pictures[number] = picture
            return f"[picture #{number}, {picture.name.replace(']', ' ')}] "
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

    def take_pictures(self, text: str) -> tuple[str, tuple[Path, ...]]:
        """The text without its picture chips, and the files behind them."""
        found = [int(match[1]) for match in _PICTURE_CHIP.finditer(text)]
        files = tuple(self._pictures[number] for number in found if number in self._pictures)
        return (_PICTURE_CHIP.sub("", text) if files else text), files


def _picture_path(text: str) -> Path | None:
    """The path of a picture, when the pasted text is one, as it is for dropped files."""
    line = text.strip().strip("'\"").removeprefix("file://").replace("\\ ", " ")
    if "\n" in line or not _PICTURE.fullmatch(line):
        return None
    return Path(line).expanduser()
