"""The few signs of the screen, with an ASCII set for terminals that have no others."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Glyphs(Struct, frozen=True):
    """Signs by meaning; each is one cell wide."""

    rail: str = "▎"
    bar: str = "│"
    folded: str = "▸"
    open: str = "▾"
    on: str = "●"
    off: str = "○"
    good: str = "✓"
    bad: str = "✗"
    down: str = "↓"
    more: str = "…"
    prompt: str = "›"
    full: str = "▓"
    empty: str = "░"
    rule: str = "─"
    gone: str = "–"
    levels: str = "▁▂▃▄▅▆▇█"
    """From nothing to the most, each one cell."""


UNICODE = Glyphs()
ASCII = Glyphs(
    rail="|", bar="|", folded=">", open="v", on="*", off="o", good="+", bad="x", down="v",
    more="~", prompt=">", full="#", empty=".", rule="-", gone="-", levels="_.:-=+*#",
)  # fmt: skip


def choose_glyphs(setting: str, environment: Mapping[str, str]) -> Glyphs:
    """The set for a terminal: ASCII by the setting, or by itself under `TERM=linux`."""
    if setting == "ascii" or (setting == "auto" and environment.get("TERM") == "linux"):
        return ASCII
    return UNICODE
