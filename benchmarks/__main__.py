"""Runs every benchmark; `--write` puts the figures into benchmarks/README.md."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import (
    catalogue,
    conversation,
    dream,
    going_back,
    idle,
    keys,
    memory,
    memory_editor,
    print_mode,
    shell_watch,
    start,
    stream,
    transcripts,
    tree,
)
from benchmarks.figures import HEAD, Figure, show

README = Path(__file__).with_name("README.md")
PARTS = (
    start,
    keys,
    idle,
    conversation,
    stream,
    transcripts,
    catalogue,
    tree,
    going_back,
    shell_watch,
    memory,
    memory_editor,
    dream,
    print_mode,
)
BEGIN, END = "<!-- figures -->", "<!-- end -->"


def main() -> int:
    """All figures; the exit code is 1 when a target is missed."""
    figures: list[Figure] = []
    for part in PARTS:
        figures += part.measure()
    show(figures)
    if "--write" in sys.argv[1:]:
        table = "\n".join([HEAD, *(figure.row() for figure in figures)])
        text = README.read_text()
        before, _, rest = text.partition(BEGIN)
        README.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
