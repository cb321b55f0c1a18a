"""What the memory tool shows of documents, and what it says after a change."""

from __future__ import annotations

from typing import Final

from app.agent.session_memory import SessionMemory
from app.agent.tools.arguments import clean
from app.agent.tools.base import MAX_RESULT_CHARACTERS, ToolFailure
from app.memory.entry import MOST_LINES, MOST_UNITS, gauge
from app.memory.health import near
from app.memory.links import links
from app.plain_text import cut
from app.storage.documents import Change
from app.storage.names import ENTRY

_LEVELS: Final = 2
"""Folders that a list shows; deeper documents are counted (Anthropic's memory tool does so)."""
_MOST_NEAR: Final = 3


def listing(memory: SessionMemory, folder: str) -> str:
    """The documents below a folder (empty for all, else with `/` at its end), a line each."""
    found = memory.index.contents()
    lines: list[str] = []
    deeper = 0
    for item in sorted(found.items, key=lambda each: each.name):
        if not item.name.startswith(folder):
            continue
        if item.name.removeprefix(folder).count("/") >= _LEVELS:
            deeper += 1
            continue
        about = item.description or item.title
        lines.append(f"/memories/{item.name}  {item.size} bytes  {about}".rstrip())
    if deeper:
        lines.append(f"{deeper} more in deeper folders; view a folder to see them.")
    lines += [f"Left out: {each.name}: {each.reason}" for each in found.skipped]
    if not lines:
        return f"There are no documents in /memories/{folder} yet."
    return clean("\n".join(lines))


def numbered(text: str, view_range: list[int] | None) -> str:
    """A document's lines with their numbers, all or from a first to a last one (-1: the end).

    Raises `ToolFailure` for a range that lies outside of it.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    first, last = view_range or (1, -1)
    last = len(lines) if last == -1 else last
    if lines and not 1 <= first <= min(last, len(lines)):
        raise ToolFailure(f"memory: `view_range` must lie in 1 to {len(lines)}.")
    shown = "\n".join(
        f"{number:>6}\t{line.rstrip(chr(13))}"
        for number, line in enumerate(lines[first - 1 : last], first)
    )
    if len(shown) > MAX_RESULT_CHARACTERS:
        shown = shown[:MAX_RESULT_CHARACTERS] + "\n(cut here; view the rest with `view_range`)"
    return clean(shown) or "(The document is empty.)"


def inserted(text: str, behind: int, new: str) -> str:
    """`text` with lines put behind line `behind` (0: at the top), in the text's own line ends.

    Raises `ToolFailure` where there is no such line.
    """
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    lines += [last] if last else []
    if behind > len(lines):
        raise ToolFailure(
            f"memory: the document has {len(lines)} lines; `insert_line` is {behind}."
        )
    end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    piece = new.replace("\r\n", "\n").replace("\n", end)
    piece = piece if piece.endswith("\n") else piece + end
    mark = "\ufeff" if behind == 0 and text.startswith("\ufeff") else ""
    before, rest = "".join(lines[:behind]), "".join(lines[behind:]).removeprefix(mark)
    if before and not before.endswith("\n"):
        before += end
    return mark + before + piece + rest


def after_write(memory: SessionMemory, change: Change) -> str:
    """What the model should know after a change: repeats, the entry's budget and its links."""
    notes: list[str] = []
    store = memory.documents.store
    again = near(_added(memory, change), store, memory.index.contents(), change.name)
    notes += [
        f"{each.name}:{each.line} says nearly the same: “{cut(each.text, 80)}”."
        for each in again[:_MOST_NEAR]
    ]
    entry = (store.read(ENTRY) or b"").decode("utf-8", "replace")
    lines, units = gauge(entry)
    if lines > MOST_LINES or units > MOST_UNITS:
        notes.append(
            f"{ENTRY} has {lines} lines and {units} code units; only {MOST_LINES} lines and "
            f"{MOST_UNITS} code units are shown to later sessions. Move details elsewhere."
        )
    mentioned = {target for _line, target in links(entry)}
    if change.name != ENTRY and change.before is None and change.name not in mentioned:
        notes.append(f"{ENTRY} does not mention it yet: add one line with a link to it.")
    return clean(" ".join(notes))


def _added(memory: SessionMemory, change: Change) -> str:
    """The paragraphs that a change has brought in."""
    store = memory.documents.store
    before, after = (
        "" if digest is None else store.text_of(digest).decode("utf-8", "replace")
        for digest in (change.before, change.after)
    )
    known = set(before.splitlines())
    return "\n".join(line if line not in known else "" for line in after.splitlines())
