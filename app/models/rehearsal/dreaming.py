"""The rehearsal's dream: reads the notes, says twice-said lines once, leaves a note of its own."""

from __future__ import annotations

import re
from typing import Any, Final

from app.models.rehearsal.scene import Scene, Step, join_path

Called = tuple[str, str, dict[str, Any]]
"""What is said, and the call: tool and input."""

ENTRY: Final = "MEMORY.md"
OWN: Final = "rehearsal.md"
LINK: Final = f"- [Rehearsal]({OWN}): what a dream leaves behind"
NOTE: Final = """\
# Rehearsal

This note was left by a rehearsed dream. The screen of dreams shows what it changed; it can be taken
back there, by one key.
"""
DONE: Final = "Lines that stood twice in the entry stand there once, and a note of mine is linked."
_MEMORY = re.compile(r"^1\. Orient\. List (?P<folder>.+), read MEMORY\.md", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*\d+\t(.*)$")


def next_step(scene: Scene) -> Called | str:
    """The next call, or the last words."""
    found = _MEMORY.search(scene.prompt)
    if found is None or not {"LS", "Read", "Write"} <= scene.tools:
        return DONE
    folder = found["folder"]
    listed, read = scene.step("LS"), scene.step("Read")
    written = [str(step.input.get("file_path")) for step in scene.steps if step.name == "Write"]
    entry, own = join_path(folder, ENTRY), join_path(folder, OWN)
    if listed is None:
        return "I look at what is noted.", "LS", {"path": folder}
    if read is None and ENTRY in listed.result:
        return "First the entry.", "Read", {"file_path": entry}
    if own not in written:
        evidence = "this dream itself"
        return (
            "A note of what a dream does.",
            "Write",
            {"file_path": own, "content": NOTE, "evidence": evidence},
        )
    if entry not in written:
        evidence = f"{ENTRY}: lines that stand there twice"
        content = "\n".join([*_once(read), LINK]) + "\n"
        return (
            "Now the entry: each thing once.",
            "Write",
            {"file_path": entry, "content": content, "evidence": evidence},
        )
    return DONE


def _once(read: Step | None) -> list[str]:
    """The lines of the entry as it was read, twice-said ones once, without our own link."""
    lines = [match[1] for line in (read.result if read else "").split("\n")
             if (match := _NUMBERED.match(line))]  # fmt: skip
    kept: list[str] = []
    for line in lines or ["# Memory"]:
        if line != LINK and (not line.strip() or line not in kept):
            kept.append(line)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept
