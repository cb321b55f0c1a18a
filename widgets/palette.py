"""The colours of the four own themes, by token (spec/look.md, Language)."""

from __future__ import annotations

from msgspec import Struct


class Palette(Struct, frozen=True):
    """One theme's colours, each as `#rrggbb`."""

    name: str
    dark: bool
    surface: str
    panel: str
    text: str
    muted: str
    accent: str
    user: str
    tool: str
    ok: str
    warn: str
    error: str
    added: str
    removed: str
    dream: str
    raised: str
    """Behind the row or block that has the cursor."""


DUSK = Palette(
    "dusk", True, "#14161b", "#1b1e25", "#d7dae0", "#8b93a1", "#8ab4f8", "#c8a6ff", "#7fd1b9",
    "#7fd18b", "#e5c07b", "#f07178", "#7fd18b", "#f07178", "#b39ddb", "#262b36",
)  # fmt: skip
DAWN = Palette(
    "dawn", False, "#fbfaf7", "#f1efe9", "#2b2d33", "#5f6570", "#2f5fd0", "#7a3fc0", "#13705b",
    "#17703a", "#8a5a00", "#b3261e", "#17703a", "#b3261e", "#5e4b9c", "#e9e7e0",
)  # fmt: skip
INK = Palette(
    "ink", True, "#0c0d0f", "#15171a", "#eceef1", "#b3b8c0", "#ffffff", "#dfe3e8", "#cfd4da",
    "#d5e8d8", "#f0e2c0", "#ffb4ab", "#d5e8d8", "#ffb4ab", "#d8d3ea", "#23262b",
)  # fmt: skip
EMBER = Palette(
    "ember", True, "#1a1412", "#231b18", "#eadfd5", "#ab9a8c", "#f0a35e", "#e8b4a0", "#cdb672",
    "#a3c982", "#e8c268", "#f58a7d", "#a3c982", "#f58a7d", "#cfa0c8", "#33271f",
)  # fmt: skip

PALETTES = {palette.name: palette for palette in (DUSK, DAWN, INK, EMBER)}


def contrast(first: str, second: str) -> float:
    """The contrast of two colours by WCAG 2, from 1 to 21."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
