"""The program `reverie`."""

from __future__ import annotations

import sys

from app.cli.run import run


def main() -> None:
    """Run the command line and leave with its exit code (spec/cli.md)."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
