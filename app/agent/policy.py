"""What the permission check is told, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeAlias

from app.agent.rules import Rules


class Mode(StrEnum):
    """How much may happen without a question (spec/ui.md, Permissions), in Claude Code's words."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    PLAN = "plan"
    BYPASS = "bypassPermissions"


MOST_REASON = 300
"""Characters of a reason."""

Answer: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Policy:
    """All that a verdict depends on, besides the call and the files it names."""

    root: Path
    """The folder in which the session was opened."""
    home: Path
    mode: Mode = Mode.DEFAULT
    rules: Rules = field(default_factory=Rules)
    cwd: Path | None = None
    """The shell's working folder; None for `root`."""
    added_roots: tuple[Path, ...] = ()

    @property
    def shell_folder(self) -> Path:
        """Where the next shell command starts."""
        return self.cwd or self.root


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a call may run, why (a sentence for the dialog), and the rule that decided."""

    verdict: Answer
    reason: str
    rule: str | None = None


def clipped(reason: str) -> str:
    """A reason short enough for the dialog; it may quote words of any length."""
    return reason if len(reason) <= MOST_REASON else reason[:MOST_REASON] + "…"
