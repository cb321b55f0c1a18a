"""What the permission check is told, and what it answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeAlias

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

_MOST_SIGHTINGS = 64


class Sightings:
    """Where the paths of calls led when they were judged.

    Between the judgement and the call a link may be turned elsewhere: the tool compares. A call is
    told by its `arguments` object, which the gate and the tool share; the last ones are kept.
    """

    def __init__(self) -> None:
        # The arguments are kept with the path, so that their id is not given to others meanwhile.
        self._kept: OrderedDict[int, tuple[Mapping[str, Any], Path]] = OrderedDict()

    def note(self, arguments: Mapping[str, Any], path: Path) -> None:
        """The call with these arguments was judged as one on the resolved `path`."""
        self._kept[id(arguments)] = (arguments, path)
        while len(self._kept) > _MOST_SIGHTINGS:
            self._kept.popitem(last=False)

    def of(self, arguments: Mapping[str, Any]) -> Path | None:
        """The resolved path that was judged; None for a call that was not."""
        kept = self._kept.get(id(arguments))
        return None if kept is None else kept[1]


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
    memory_writes: Answer = "ask"
    """What the settings say of changes to memory."""
    sightings: Sightings = field(default_factory=Sightings, compare=False)
    """What the verdicts note for the tools; a tool's context gets the same object."""

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
