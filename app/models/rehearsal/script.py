"""What the rehearsal says and does: from a scene to the blocks of the next reply. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from app.models.rehearsal import lines
from app.models.rehearsal.dreaming import next_step
from app.models.rehearsal.markers import (
    DREAM_MARKER,
    RECAP_MARKER,
    SUGGESTION_MARKER,
    SUMMARY_MARKER,
)
from app.models.rehearsal.scene import Scene, Step, join_path, listed_files
from app.plain_text import cut

REHEARSAL_FILE = "reverie-rehearsal.md"


@dataclass(frozen=True, slots=True)
class Think:
    """A thinking block."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """A text block, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    name: str
    input: dict[str, Any]


Part: TypeAlias = Think | Say | Call

_GREETINGS = frozenset({"hi", "hello", "hey", "help", "hallo", "moin", "what can you do", "thanks"})
_FILE_WORDS = ("file", "look", "read", "fix", "edit", "write")
_FEEDBACK_WORDS = frozenset({"feedback", "report"})
_ABOUT = {
    RECAP_MARKER: lines.RECAP,
    SUGGESTION_MARKER: lines.SUGGESTION,
    SUMMARY_MARKER: lines.SUMMARY,
}


def next_parts(scene: Scene) -> tuple[Part, ...]:
    """The blocks of the reply; a reply with a Call ends for tool use, any other ends the turn."""
    if DREAM_MARKER in scene.prompt:
        return _dream(scene)
    for marker, text in _ABOUT.items():
        if marker in scene.prompt:
            return (Say(text),)
    words = scene.prompt.lower().rstrip(" .!?")
    if words in _GREETINGS and not scene.steps:
        return (Say(lines.GREETING),)
    if words.startswith("!bash") or "run the tests" in words:
        return _shell(scene)
    if not _FEEDBACK_WORDS.isdisjoint(re.findall(r"\w+", words)):
        return _feedback(scene)
    about_files = any(word in words for word in _FILE_WORDS)
    if "long" in words.split() and not about_files:
        return (Think(lines.LONG_THOUGHT), Say(lines.long_reply()))
    return _files(scene)


def _dream(scene: Scene) -> tuple[Part, ...]:
    step = next_step(scene)
    if isinstance(step, str):
        return (Say(step),)
    said, name, arguments = step
    return Say(said), Call(name, arguments)


def _shell(scene: Scene) -> tuple[Part, ...]:
    step = scene.step("Bash")
    if step is not None:
        return (Say(lines.SHELL_FAILED if step.failed else lines.SHELL_DONE),)
    if "Bash" not in scene.tools:
        return (Say(lines.NO_TOOLS),)
    call = Call("Bash", {"command": "ls -la", "description": "List the working folder"})
    return (Say(lines.SHELL_START), call)


def _feedback(scene: Scene) -> tuple[Part, ...]:
    step = scene.step("SendFeedback")
    if step is not None:
        return (Say(lines.FEEDBACK_FAILED if step.failed else lines.FEEDBACK_DONE),)
    if "SendFeedback" not in scene.tools:
        return (Say(lines.NO_TOOLS),)
    report = {
        "title": "The rehearsal takes any prompt for a wish to see the files",
        "body": lines.FEEDBACK_BODY,
        "category": "missing",
        "evidence": f'The person wrote: "{cut(scene.prompt, 200)}". Model: `rehearsal`.',
    }
    return (Think(lines.FEEDBACK_THOUGHT), Call("SendFeedback", report))


def _files(scene: Scene) -> tuple[Part, ...]:
    """List, read, propose a change, sum up: one step a reply, as far as the tools allow."""
    listed, read = scene.step("LS"), scene.step("Read")
    changed = scene.step("Edit") or scene.step("Write")
    if changed is not None:
        return (Say(lines.declined() if changed.failed else _summing_up(scene, changed)),)
    if listed is None:
        if "LS" not in scene.tools:
            return (Say(lines.NO_TOOLS),)
        opening = (Think(lines.FIRST_THOUGHT), Say(lines.OPENING))
        return (*opening, Call("LS", {"path": scene.folder}))
    names = listed_files(listed.result)
    readable = _pick(names)
    if read is None and readable and "Read" in scene.tools:
        path = join_path(scene.folder, readable)
        return (Say(lines.found(len(names), readable)), Call("Read", {"file_path": path}))
    if "Write" not in scene.tools:
        return (Say(lines.NO_TOOLS),)
    return (Think(lines.SECOND_THOUGHT), Say(lines.PROPOSAL), _change(scene, names))


def _pick(names: list[str]) -> str | None:
    """A file worth reading: our own note, which must be read before it may be changed, then a
    README, else a text by its ending, else the first.
    """
    if REHEARSAL_FILE in names:
        return REHEARSAL_FILE
    for name in names:
        if name.lower().startswith("readme"):
            return name
    for name in names:
        if name.lower().endswith((".md", ".txt", ".toml", ".py", ".json")):
            return name
    return names[0] if names else None


def _change(scene: Scene, names: list[str]) -> Call:
    """An edit where an earlier rehearsal left its file and it was read, else that file anew."""
    path = join_path(scene.folder, REHEARSAL_FILE)
    read = scene.step("Read")
    was_read = read is not None and str(read.input.get("file_path")) == path
    if was_read and read is not None and lines.NOTE_LINE in read.result and "Edit" in scene.tools:
        return Call(
            "Edit",
            {"file_path": path, "old_string": lines.NOTE_LINE, "new_string": lines.NOTE_EDITED},
        )
    return Call("Write", {"file_path": path, "content": lines.note(names)})


def _summing_up(scene: Scene, changed: Step) -> str:
    rows = [(step.name, "failed" if step.failed else "done") for step in scene.steps]
    target = str(changed.input.get("file_path", REHEARSAL_FILE))
    return lines.summing_up(rows, target)
