"""Numbers in the few cells that a status line has."""

from __future__ import annotations


def tokens_in_words(count: int) -> str:
    """`840`, `12.4k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def cost_in_words(cost: float | None) -> str:
    """`$0.31`; `$?` when a price is unknown, never 0 in its place (spec/cli.md, Models)."""
    if cost is None:
        return "$?"
    return f"${cost:.2f}" if cost == 0 or cost >= 0.01 else f"${cost:.4f}"


def model_in_words(model: str) -> str:
    """A model's id as the screen says it; the built-in one says what it cannot do."""
    return "SmolLM2-135M, chat only" if model == "local" else model


def seconds_in_words(seconds: float) -> str:
    """`7 s`, `4:12`, `1:02:03`."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def gauge(share: float, full: str, empty: str, cells: int = 8) -> str:
    """A bar; more than nothing shows at least one cell."""
    filled = min(max(round(share * cells), 1 if share > 0 else 0), cells)
    return full * filled + empty * (cells - filled)


def ago_in_words(seconds: float) -> str:
    """`now`, `5 min`, `3 h`, `2 d`, `7 w`, `2 y`: how long something is ago."""
    steps = ((60, 60, "min"), (3_600, 24, "h"), (86_400, 14, "d"), (604_800, 104, "w"))
    if seconds < 60:
        return "now"
    for size, most, unit in steps:
        if seconds < size * most:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds // 31_557_600)} y"
