"""Why each mechanism runs or does not, in lines."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct
from rich.cells import cell_len

from app.plain_text import plain_line
from app.state.background import Background, Gate, Mechanism
from widgets.cells import Cell
from widgets.glyphs import Glyphs
from widgets.tasks.words import moment_in_words, spread, wrapped

NAME: Final = 17
"""Cells of a gate's name."""
LEAD: Final = 4
"""Cells in front of it: the cursor and the mark."""

LEAST_VALUE: Final = 14
"""Cells of a value below which it stands under the name."""


class WhyLine(Struct, frozen=True):
    """A line, and what it belongs to."""

    mechanism: str
    """Its name."""
    gate: str
    """The gate's name; empty for a line of the mechanism itself."""
    cells: list[Cell]
    is_stop: bool = True
    """Whether the cursor stops here."""


def value_in_words(gate: Gate, now: datetime) -> str:
    """A gate's present value, and when a closed one may hold."""
    words = plain_line(gate.detail)
    if gate.holds or gate.opens_at is None:
        return words
    return f"{words}, may hold at {moment_in_words(gate.opens_at, now)}"


def held_lines(background: Background, width: int, now: datetime) -> list[list[Cell]]:
    """For the panel: each mechanism that is held, and by what."""
    lines: list[list[Cell]] = []
    for mechanism in background.mechanisms:
        gate = mechanism.held_by
        if gate is None:
            continue
        title = f"{plain_line(mechanism.title)}: "
        first, *rest = wrapped(f"{title}{value_in_words(gate, now)}", width - 1)
        lines.append([(f" {first[: len(title)]}", "text"), (first[len(title) :], "muted")])
        lines += [[(f" {part}", "muted")] for part in rest]
    return lines


def why_lines(
    background: Background, width: int, now: datetime, glyphs: Glyphs, switch: str
) -> list[WhyLine]:
    """Every mechanism with every gate; `switch` is the key that switches one on or off, empty where
    none is to be named.
    """
    lines: list[WhyLine] = []
    for mechanism in background.mechanisms:
        if lines:
            lines.append(WhyLine(lines[-1].mechanism, "", [], is_stop=False))
        lines += _mechanism(mechanism, width, now, glyphs, switch)
    return lines


def _mechanism(
    mechanism: Mechanism, width: int, now: datetime, glyphs: Glyphs, switch: str
) -> list[WhyLine]:
    name = mechanism.name
    held = mechanism.held_by
    since = f" since {moment_in_words(mechanism.since, now)}" if mechanism.since else ""
    state, colour = ("ready", "ok") if held is None else (f"held{since}", "warn")
    state = state if mechanism.is_on else f"off{since}"
    key = f"{switch} Switch {'off' if mechanism.is_on else 'on'}"
    key = key if mechanism.setting else "has no switch"
    left: list[Cell] = [
        (f"  {plain_line(mechanism.title)}", "accent"),
        (f"  {state}", colour if mechanism.is_on else "muted"),
    ]
    used = sum(cell_len(text) for text, _ in left)
    fits = bool(switch) and used + len(key) + 3 <= width
    right: list[Cell] = [(f"{key} ", "muted")] if fits else []
    lines = [WhyLine(name, "", spread(left, right, width, glyphs.more))]
    if mechanism.trouble:
        lines += [
            WhyLine(name, "", [(f"    {part}", "error")], is_stop=False)
            for part in wrapped(f"silent: {mechanism.trouble}", width - LEAD)
        ]
    for gate in mechanism.gates:
        lines += _gate(name, gate, width, now, glyphs)
    return lines


def _gate(mechanism: str, gate: Gate, width: int, now: datetime, glyphs: Glyphs) -> list[WhyLine]:
    sign, colour = (glyphs.good, "ok") if gate.holds else (glyphs.bad, "warn")
    text = "muted" if gate.holds else "text"
    lead: list[Cell] = [(f"  {sign} ", colour), (f"{plain_line(gate.name):<{NAME}}", text)]
    indent = LEAD + NAME
    lines: list[WhyLine] = []
    if width - indent < LEAST_VALUE:
        lines.append(WhyLine(mechanism, gate.name, lead))
        indent = LEAD
    for value in wrapped(value_in_words(gate, now), width - indent):
        front = [(" " * indent, text)] if lines else lead
        lines.append(WhyLine(mechanism, gate.name, [*front, (value, text)], is_stop=not lines))
    return lines
