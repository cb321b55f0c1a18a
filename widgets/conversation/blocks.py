"""What a conversation is made of on the screen: values, rendered elsewhere.

Structs and not dataclasses, which cost 0.4 ms each at import, before the first frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

CardState: TypeAlias = Literal["queued", "asking", "running", "ok", "error", "denied"]
Fold: TypeAlias = Literal["folded", "brief", "full"]
Tone: TypeAlias = Literal["muted", "warn", "error", "accent"]


class PromptBlock(Struct, frozen=True):
    """What the person said."""

    text: str
    uuid: str = ""
    at: str = ""
    """Local time, `14:02`."""
    pictures: int = 0


class ProseBlock(Struct, frozen=True):
    """A piece of a reply, in Markdown."""

    text: str
    uuid: str = ""
    joined: bool = False


class CodeBlock(Struct, frozen=True):
    """Lines of a fence."""

    text: str
    language: str = ""
    uuid: str = ""
    continues: bool = False


class ThinkingBlock(Struct, frozen=True):
    """What the model thought; folded to one line unless opened."""

    text: str
    uuid: str = ""
    fold: Fold = "folded"
    live: bool = False


class CardBlock(Struct, frozen=True):
    """One tool call with its result."""

    tool_id: str
    name: str
    title: str
    state: CardState
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output: str = ""
    """The result's text, or the live tail while it runs."""
    details: Mapping[str, Any] | str | list[Any] | None = None
    note: str = ""
    """What stands at the right end of the line."""
    fold: Fold = "folded"
    uuid: str = ""


class ShellBlock(Struct, frozen=True):
    """A shell line of the person's own with its output."""

    command: str
    output: str = ""
    running: bool = False
    failed: bool = False
    fold: Fold = "brief"
    uuid: str = ""


class NoteBlock(Struct, frozen=True):
    """A sentence between the messages: an interruption, a gap, a compaction, an error."""

    text: str
    tone: Tone = "muted"
    uuid: str = ""


class AwayBlock(Struct, frozen=True):
    """What happened while the person was away: a box, or one line once it has been read."""

    text: str
    uuid: str = ""
    at: str = ""
    """Local time, `14:31`."""
    turns: tuple[str, ...] = ()
    """What led to it, a line a turn."""
    fold: Fold = "brief"


Block: TypeAlias = (
    PromptBlock
    | ProseBlock
    | CodeBlock
    | ThinkingBlock
    | CardBlock
    | ShellBlock
    | NoteBlock
    | AwayBlock
)

Foldable: TypeAlias = ThinkingBlock | CardBlock | ShellBlock | AwayBlock
"""Blocks that `enter` opens and closes."""


def foldable(block: Block) -> bool:
    """Whether `enter` opens and closes the block."""
    return isinstance(block, Foldable)


def fold_of(block: Block) -> Fold:
    """How far a block is open; `full` for those that cannot be folded."""
    return block.fold if isinstance(block, Foldable) else "full"


def copied_text(block: Block) -> str:
    """What `y` copies of a block."""
    match block:
        case PromptBlock() | ProseBlock() | CodeBlock() | ThinkingBlock():
            return block.text
        case NoteBlock() | AwayBlock():
            return block.text
        case CardBlock():
            return block.output or block.title
        case ShellBlock():
            return f"$ {block.command}\n{block.output}"
