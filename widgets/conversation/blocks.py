"""What a conversation is made of on the screen: values, rendered elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

CardState: TypeAlias = Literal["queued", "asking", "running", "ok", "error", "denied"]
Fold: TypeAlias = Literal["folded", "brief", "full"]
Tone: TypeAlias = Literal["muted", "warn", "error", "accent"]


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """What the person said."""

    text: str
    uuid: str = ""
    at: str = ""
    """Local time, `14:02`."""
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class ProseBlock:
    """A piece of a reply, in Markdown."""

    text: str
    uuid: str = ""
    joined: bool = False


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines of a fence."""

    text: str
    language: str = ""
    uuid: str = ""
    continues: bool = False


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """What the model thought; folded to one line unless opened."""

    text: str
    uuid: str = ""
    fold: Fold = "folded"
    live: bool = False


@dataclass(frozen=True, slots=True)
class CardBlock:
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


@dataclass(frozen=True, slots=True)
class ShellBlock:
    """A shell line of the person's own with its output."""

    command: str
    output: str = ""
    running: bool = False
    failed: bool = False
    fold: Fold = "brief"
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """A sentence between the messages: an interruption, a gap, a compaction, an error."""

    text: str
    tone: Tone = "muted"
    uuid: str = ""


Block: TypeAlias = (
    PromptBlock | ProseBlock | CodeBlock | ThinkingBlock | CardBlock | ShellBlock | NoteBlock
)


def foldable(block: Block) -> bool:
    """Whether `enter` opens and closes the block."""
    return isinstance(block, ThinkingBlock | CardBlock | ShellBlock)


def fold_of(block: Block) -> Fold:
    """How far a block is open; `full` for those that cannot be folded."""
    return block.fold if isinstance(block, ThinkingBlock | CardBlock | ShellBlock) else "full"


def copied_text(block: Block) -> str:
    """What `y` copies of a block."""
    match block:
        case PromptBlock() | ProseBlock() | CodeBlock() | ThinkingBlock() | NoteBlock():
            return block.text
        case CardBlock():
            return block.output or block.title
        case ShellBlock():
            return f"$ {block.command}\n{block.output}"
