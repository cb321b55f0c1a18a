"""The transcripts of real programs, and what is known to be right about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TRANSCRIPTS = Path(__file__).parents[2] / "data" / "transcripts"
CASES = Path(__file__).parents[2] / "data" / "cases"

EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (TRANSCRIPTS / "expected.json").read_text("utf-8")
)["files"]

NO_TRANSCRIPTS = (
    "55-made-pretty-printed.jsonl",
    "56-made-stream-json.jsonl",
    "57-made-other-tool-log.jsonl",
)
