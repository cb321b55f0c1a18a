"""`reverie ledger`: what background work cost, by day and mechanism (spec/cli.md)."""

from __future__ import annotations

from app.background.ledger import Ledger
from app.cli.opening import find_installation
from app.cli.output import JsonObject, print_json, print_lines
from app.cli.parser import Parser
from app.state.background import Spend

HEADS = ("day", "mechanism", "calls", "input", "output", "cache read", "cache write", "cost")


def run_ledger(words: list[str]) -> int:
    """Carry out `reverie ledger`; returns the exit code. Raises `UsageError`, `StorageError`."""
    parser = Parser(
        prog="reverie ledger",
        description="What calls of background models cost, by day and mechanism.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args(words)
    spend = Ledger(find_installation().places.data).spend()
    if arguments.json:
        print_json({"days": [_entry(each) for each in spend]})
    elif spend:
        print_lines(*_table(spend))
    else:
        print_lines("No background call was made yet.")
    return 0


def _entry(spend: Spend) -> JsonObject:
    return {
        "day": spend.day,
        "mechanism": spend.mechanism,
        "calls": spend.calls,
        "input": spend.usage.input,
        "output": spend.usage.output,
        "cache_read": spend.usage.cache_read,
        "cache_write": spend.usage.cache_write,
        "cost_usd": spend.cost_usd,
    }


def _table(spend: tuple[Spend, ...]) -> list[str]:
    rows = [HEADS, *(_row(each) for each in spend)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _row(spend: Spend) -> tuple[str, ...]:
    usage = spend.usage
    counts = (spend.calls, usage.input, usage.output, usage.cache_read, usage.cache_write)
    cost = "unknown" if spend.cost_usd is None else f"${spend.cost_usd:.4f}"
    return (spend.day, spend.mechanism, *(f"{count:,}" for count in counts), cost)
