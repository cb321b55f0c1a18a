"""What a node of the tree holds: its prompt whole, what it came to, then its messages and diffs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from app.plain_text import plain, plain_line
from app.sessions.graph import open_view
from app.sessions.node_facts import (
    Comparison,
    Facts,
    FileDifference,
    changes_in_words,
    moment_in_words,
    tools_in_words,
)
from app.sessions.outline import Node
from app.sessions.records import Record
from widgets.conversation.block_view import BlockView
from widgets.conversation.blocks import Block, CardBlock, NoteBlock, PromptBlock
from widgets.conversation.feed import Feed
from widgets.conversation.line_map import LineMap
from widgets.tree.rows import files_in_words, time_in_words
from widgets.words import cost_in_words


class BlockPane(BlockView, can_focus=False):
    """Blocks that are read from their beginning; only those in sight are laid out."""

    def show(self, blocks: list[Block]) -> None:
        """Show other blocks, from the first line on."""
        self.blocks = blocks
        self._map = LineMap()
        self._strips.clear()
        self.following = False
        self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.following = False
        self.blocks_changed(range(len(blocks)))

    def scroll_lines(self, lines: int) -> None:
        """Scroll by so many lines."""
        self.scroll_relative(y=lines, animate=False, immediate=True, force=True)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by so many pages."""
        self.scroll_lines(pages * self._page)

    def scroll_to_end(self, step: int) -> None:
        """Scroll to the first line or to the last one."""
        end = self.max_scroll_y if step > 0 else 0
        self.scroll_to(y=end, animate=False, immediate=True, force=True)


def preview_blocks(node: Node, records: Sequence[Record], folder: str) -> list[Block]:
    """The blocks of a node's turn; paths below `folder` are shown relative to it."""
    is_prompt = node.kind == "prompt"
    blocks = _turn(records if is_prompt or node.kind == "fork" else records[1:], folder)
    if not is_prompt:
        blocks.insert(0, NoteBlock(_said(node), "accent"))
    return blocks


def _turn(records: Sequence[Record], folder: str) -> list[Block]:
    feed = Feed()
    feed.show(open_view(records), folder)
    while feed.has_older:
        feed.add_older(len(records))
    return feed.blocks


def _said(node: Node) -> str:
    if node.kind != "fork":
        return plain(node.text)
    title = plain_line(node.text)
    return f"Session {node.session_id} goes on from here: “{title}”. The last turn of it:"


def facts_block(
    node: Node,
    facts: Facts,
    label: str,
    session: str,
    *,
    shell_files: int = 0,
    cannot_restore: bool,
) -> NoteBlock:
    """What a node came to, in one sentence; `session` names it where it is another one."""
    short = [
        moment_in_words(node.timestamp),
        tools_in_words(node.tools) if node.tools else "",
        cost_in_words(facts.cost_usd) if facts.cost_usd != 0 else "",
        changes_in_words(facts.added, facts.removed) if facts.files else "",
        f"{files_in_words(shell_files)} by shell" if shell_files else "",
        f"in session {session}" if session else "",
    ]
    words = [
        f"[{plain_line(label)}]" if label else "",
        "its files can no longer be restored" if cannot_restore else "",
    ]
    # What is told of one thing stays on one line, unless it may be longer than one.
    kept = [part.replace(" ", "\N{NO-BREAK SPACE}") for part in short]
    return NoteBlock(" · ".join(part for part in (*kept, *words) if part))


def comparison_blocks(found: Comparison, now: datetime) -> list[Block]:
    """What two nodes share and where they differ: prompts first, then files."""
    blocks: list[Block] = []
    if found.shared is None:
        blocks.append(NoteBlock("The two have no message in common.", "accent"))
    else:
        blocks += [NoteBlock("Both go back to:", "accent"), _prompt(found.shared, now)]
    sides = (("first", found.only_first), ("second", found.only_second))
    for name, only in sides:
        blocks.append(NoteBlock(_way_in_words(name, only), "accent"))
        blocks += [_prompt(node, now) for node in only]
    return [*blocks, *_files(found.files)]


def _way_in_words(name: str, only: Sequence[Node]) -> str:
    if not only:
        return f"The {name} is where they part."
    count = sum(1 for node in only if node.kind != "fork")
    if not count:
        return f"The {name} is another session that goes on from there:"
    return f"Only on the way to the {name}, {count} node{'' if count == 1 else 's'}:"


def _prompt(node: Node, now: datetime) -> Block:
    text = plain(node.text) or "(picture)"
    if node.kind != "prompt":
        return NoteBlock(text)
    return PromptBlock(text, node.uuid, time_in_words(node.timestamp, now))


def _files(files: Sequence[FileDifference] | None) -> list[Block]:
    if files is None:
        words = "The files are not known after both, so that they cannot be compared."
        return [NoteBlock(words, "warn")]
    if not files:
        return [NoteBlock("The files are the same after both.", "accent")]
    count = f"{len(files)} file{'' if len(files) == 1 else 's'}"
    return [
        NoteBlock(f"Files, from after the first to after the second, {count}:", "accent"),
        *map(_file, files),
    ]


def _file(found: FileDifference) -> Block:
    changes = changes_in_words(found.added, found.removed) if found.hunks else ""
    note = ", ".join(part for part in (changes, found.words) if part)
    details = {"structuredPatch": list(found.hunks)}
    return CardBlock(
        "", "File", plain_line(found.path), "ok", details=details, note=note, fold="full"
    )
