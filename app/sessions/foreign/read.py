"""One way to read a session of any origin."""

from __future__ import annotations

from app.sessions.codec import Parsed, parse_transcript
from app.sessions.foreign.codex import convert_codex
from app.sessions.foreign.detect import origin_of
from app.sessions.foreign.pi import convert_pi


def read_any(content: bytes) -> Parsed:
    """The records of a session in our format, and the flaws of its lines.

    Codex's and pi's sessions are converted; everything else is read as a transcript of ours or
    Claude Code's, exactly as `parse_transcript` does.
    """
    match origin_of(content):
        case "codex":
            return convert_codex(content)
        case "pi":
            return convert_pi(content)
        case _:
            return parse_transcript(content)
