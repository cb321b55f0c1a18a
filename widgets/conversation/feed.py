"""Records and the running turn as blocks: the one path for history and for what happens now."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from msgspec.structs import replace

from app.plain_text import cut, plain, plain_line
from app.sessions.compact import compaction_in_words
from app.sessions.graph import COMPACT_UNDONE, MEMORY_STRUCK, REWIND, GraphView, MessageGraph
from app.sessions.history import advance, timeline
from app.sessions.prompts import (
    CUT_OFF_RESULT,
    INTERRUPTED_RESULT,
    blocks_of,
    content_of,
    text_of,
    typed_text,
    user_kind,
)
from app.sessions.records import JsonObject, Record
from app.sessions.summary import moment_of
from app.state.model import Live, OpenBlock
from widgets.conversation.blocks import (
    AwayBlock,
    Block,
    CardBlock,
    Fold,
    Foldable,
    NoteBlock,
    PromptBlock,
    ShellBlock,
    ThinkingBlock,
)
from widgets.conversation.cards import call_title, result_note, result_text
from widgets.conversation.markdown_split import split
from widgets.conversation.pieces import ArrivingText, piece_block

RECENT_RECORDS = 400
"""Records that become blocks when a session is opened; earlier ones follow when they are needed."""

_TAG = re.compile(r"\s*<([a-z-]+)>(.*?)(?:</\1>(?=\s*(?:<[a-z-]+>|\Z))|\Z)", re.DOTALL)

_OPEN_AT_ONCE = frozenset({"Edit", "MultiEdit", "Write", "Bash", "TodoWrite", "NotebookEdit"})


class Feed:
    """The blocks of one conversation. Methods return the indices of blocks that changed."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._settled = 0
        self._older: list[int] = []
        self._view: GraphView | None = None
        self._folder = ""
        self._waiting: dict[str, int] = {}
        self._shell: int | None = None
        self._texts: dict[int, ArrivingText] = {}

    @property
    def settled(self) -> int:
        """How many blocks come from records; the ones behind them are still arriving."""
        return self._settled

    def show(self, view: GraphView, folder: str) -> list[int] | None:
        """Show a view; returns the changed indices, or None when all blocks are new."""
        before, self._view, self._folder = self._view, view, folder
        steps = (
            advance(view.graph, before.leaf, view.leaf)
            if before is not None and before.graph is view.graph
            else None
        )
        if steps is None:
            self.blocks, self._settled = [], 0
            self._waiting, self._shell = {}, None
            self._texts = {}
            positions = timeline(view.graph, view.leaf)
            self._older = positions[:-RECENT_RECORDS]
            self._extend(view.graph, positions[-RECENT_RECORDS:])
            return None
        return self._extend(view.graph, steps)

    @property
    def has_older(self) -> bool:
        """Whether the beginning of the conversation is not among the blocks yet."""
        return bool(self._older)

    def add_older(self, count: int) -> int:
        """Put `count` earlier records in front; returns how many blocks they became."""
        if self._view is None:
            return 0
        positions = self._older[-count:]
        del self._older[-count:]
        graph = self._view.graph
        part = Feed()
        part._view, part._folder = self._view, self._folder
        part._extend(graph, positions)
        for tool_id in list(part._waiting):
            for here in graph.results.get(tool_id, ()):
                part._results(graph.records[here], graph.records[here].data, [])
        part.show_live(Live())
        added = len(part.blocks)
        self.blocks[:0] = part.blocks
        self._settled += added
        self._waiting = {tool_id: index + added for tool_id, index in self._waiting.items()}
        if self._shell is not None:
            self._shell += added
        return added

    def _extend(self, graph: MessageGraph, positions: Iterable[int]) -> list[int]:
        tail = self.blocks[self._settled :]
        del self.blocks[self._settled :]
        changed: list[int] = []
        start = len(self.blocks)
        for here in positions:
            record = graph.records[here]
            if not graph.is_main(here):
                continue
            if graph.is_orphan(here) and here > 0:
                self._add(NoteBlock("gap bridged: a record before this one is missing"))
            if record.is_boundary and graph.parent(here) is None:
                self._add(NoteBlock("earlier history not available"))
            self._record(record, changed)
        self._settled = len(self.blocks)
        changed += range(start, self._settled)
        self.blocks += tail
        return changed

    def _add(self, block: Block) -> None:
        self.blocks.append(block)

    def _record(self, record: Record, changed: list[int]) -> None:
        if record.type == "assistant":
            self._assistant(record)
        elif record.type == "user":
            self._user(record, changed)
        elif record.type == "system":
            self._system(record)
        elif record.type == "attachment":
            attachment = record.data.get("attachment")
            fields = cast("JsonObject", attachment) if isinstance(attachment, dict) else {}
            if fields.get("type") == "queued_command":
                prompt = blocks_of(fields.get("prompt"))
                text = "\n".join(str(b.get("text", "")) for b in prompt if b.get("type") == "text")
                self._add(PromptBlock(plain(text), record.uuid or "", _clock(record)))

    def _assistant(self, record: Record) -> None:
        uuid = record.uuid or ""
        content = blocks_of(content_of(record.data))
        if record.is_synthetic:
            text = "\n".join(str(b.get("text", "")) for b in content if b.get("type") == "text")
            self._add(NoteBlock(plain(text) or "The request failed.", "error", uuid))
            return
        for block in content:
            kind = block.get("type")
            if kind == "text" and str(block.get("text") or "").strip():
                for piece in split(plain(str(block["text"]))):
                    self._add(piece_block(piece, uuid))
            elif kind == "thinking" and str(block.get("thinking") or "").strip():
                self._add(ThinkingBlock(plain(str(block["thinking"])), uuid))
            elif kind == "tool_use":
                self._tool_use(block, record)

    def _tool_use(self, block: JsonObject, record: Record) -> None:
        tool_id, name = str(block.get("id")), plain(str(block.get("name")))
        arguments = block.get("input")
        fields = cast("JsonObject", arguments) if isinstance(arguments, dict) else {}
        self._waiting[tool_id] = len(self.blocks)
        fold: Fold = "brief" if name in _OPEN_AT_ONCE else "folded"
        title = call_title(name, fields, self._folder)
        self._add(
            CardBlock(tool_id, name, title, "queued", fields, fold=fold, uuid=record.uuid or "")
        )

    def _user(self, record: Record, changed: list[int]) -> None:
        data = record.data
        kind = user_kind(record, data)
        uuid = record.uuid or ""
        if kind == "tool_result":
            self._results(record, data, changed)
        elif kind == "prompt":
            self._away_was_read(changed)
            pictures = sum(1 for b in blocks_of(content_of(data)) if b.get("type") == "image")
            self._add(PromptBlock(plain(typed_text(data)), uuid, _clock(record), pictures))
        elif kind == "interrupt":
            self._add(NoteBlock("interrupted", "warn", uuid))
        elif kind == "compact_summary":
            text = plain(text_of(data))
            self._add(CardBlock("", "Summary", _head(text), "ok", output=text, uuid=uuid))
        elif kind == "echo":
            self._echo(text_of(data), uuid, changed)

    def _away_was_read(self, changed: list[int]) -> None:
        """The person goes on: what happened meanwhile becomes one line."""
        last = len(self.blocks) - 1
        block = self.blocks[last] if self.blocks else None
        if isinstance(block, AwayBlock):
            self.blocks[last] = replace(block, fold="folded")
            changed.append(last)

    def _echo(self, text: str, uuid: str, changed: list[int]) -> None:
        tags = _leading_tags(text)
        first = next(iter(tags), "")
        if first == "bash-input":
            self._shell = len(self.blocks)
            self._add(ShellBlock(plain(tags[first]), running=True, uuid=uuid))
        elif first in {"bash-stdout", "bash-stderr"} and self._shell is not None:
            out, err = tags.get("bash-stdout", ""), tags.get("bash-stderr", "")
            block = cast("ShellBlock", self.blocks[self._shell])
            self.blocks[self._shell] = replace(
                block,
                output=plain("\n".join(part for part in (out, err) if part)),
                running=False,
                failed=bool(err),
            )
            changed.append(self._shell)
            self._shell = None
        elif "command-name" in tags:
            arguments = tags.get("command-args", "")
            self._add(NoteBlock(plain(f"{tags['command-name']} {arguments}".strip())))

    def _results(self, record: Record, data: JsonObject, changed: list[int]) -> None:
        for block in blocks_of(content_of(data)):
            index = self._waiting.pop(str(block.get("tool_use_id")), None)
            if index is None:
                continue
            card = cast("CardBlock", self.blocks[index])
            failed = block.get("is_error") is True
            details = data.get("toolUseResult")
            denied = data.get("toolDenialKind") is not None or details == "User rejected tool use"
            output = result_text(block.get("content"))
            state = "denied" if denied else "error" if failed else "ok"
            self.blocks[index] = replace(
                card,
                state=state,
                output=output,
                details=details,
                note="interrupted"
                if failed and output.endswith((INTERRUPTED_RESULT, CUT_OFF_RESULT))
                else result_note(card.name, details, output, self._seconds(card, record)),
                fold="brief" if failed and card.fold == "folded" else card.fold,
            )
            changed.append(index)

    def _seconds(self, card: CardBlock, record: Record) -> float | None:
        if self._view is None:
            return None
        graph = self._view.graph
        begun = (
            moment_of(graph.records[graph.position[card.uuid]])
            if card.uuid in graph.position
            else None
        )
        ended = moment_of(record)
        return (ended - begun).total_seconds() if begun and ended else None

    def _system(self, record: Record) -> None:
        subtype, data = record.subtype, record.data
        content = data.get("content")
        text = plain(content) if isinstance(content, str) else ""
        uuid = record.uuid or ""
        if subtype == "compact_boundary":
            words = compaction_in_words(data) or "what came before is no longer sent"
            self._add(NoteBlock(f"◆ compacted here: {words}", "accent", uuid))
        elif subtype == COMPACT_UNDONE:
            self._add(NoteBlock("◆ back to before the compaction", "accent", uuid))
        elif subtype == MEMORY_STRUCK and text:
            self._add(NoteBlock(f"✗ {text}", "muted", uuid))
        elif subtype == REWIND and text:
            self._add(NoteBlock(f"↺ {text}", "accent", uuid))
        elif subtype == "away_summary" and text:
            self._add(AwayBlock(text, uuid, _clock(record), _turns(data)))
        elif subtype == "api_refusal":
            self._add(NoteBlock(text or "The model declined this request.", "warn", uuid))
        elif subtype == "api_error" and text:
            self._add(NoteBlock(text, "error", uuid))

    # What is still arriving

    def show_live(self, live: Live) -> list[int]:
        """Show the running turn behind the settled blocks; returns the changed indices."""
        changed = self._show_runs(live)
        tail: list[Block] = []
        open_indices = {block.index for block in live.blocks}
        self._texts = {i: t for i, t in self._texts.items() if i in open_indices}
        for block in live.blocks:
            tail += self._open_block(block)
        if live.retry is not None:
            tail.append(NoteBlock(f"{live.retry.reason} Trying again by itself.", "warn"))
        if (
            live.last is not None
            and live.last.detail
            and live.last.outcome in {"completed", "stopped"}
        ):
            tail.append(NoteBlock(live.last.detail, "warn"))
        old = self.blocks[self._settled :]
        same = 0
        while same < min(len(old), len(tail)) and (
            old[same] is tail[same] or old[same] == tail[same]
        ):
            same += 1
        self.blocks[self._settled + same :] = tail[same:]
        changed += range(self._settled + same, max(len(self.blocks), self._settled + len(old)))
        return changed

    def _open_block(self, block: OpenBlock) -> list[Block]:
        if block.kind == "thinking":
            return [ThinkingBlock(plain(block.text), live=not block.closed)] if block.text else []
        if block.kind == "tool_use":
            return [CardBlock(block.tool_id, block.tool_name, "…", "queued")]
        text = self._texts.setdefault(block.index, ArrivingText())
        return text.feed(block.text, ended=block.closed)

    def _show_runs(self, live: Live) -> list[int]:
        changed: list[int] = []
        for tool_id, index in self._waiting.items():
            card = cast("CardBlock", self.blocks[index])
            run = live.tools.get(tool_id)
            if run is None:
                state, output, note = (
                    ("error", "", "interrupted") if live.turn_id is None else ("queued", "", "")
                )
            else:
                state, output, note = run.status, run.output, ""
            if (state, output, note) != (card.state, card.output, card.note):
                self.blocks[index] = replace(
                    card, state=cast("Any", state), output=output, note=note
                )
                changed.append(index)
        if self._shell is not None:
            block = cast("ShellBlock", self.blocks[self._shell])
            output = next((run.output for run in live.tools.values()), "")
            if output != block.output:
                self.blocks[self._shell] = replace(block, output=plain(output))
                changed.append(self._shell)
        return changed

    def set_fold(self, index: int, fold: Fold) -> None:
        """Fold or open one block."""
        block = self.blocks[index]
        if isinstance(block, Foldable):
            self.blocks[index] = replace(block, fold=fold)


def _clock(record: Record) -> str:
    moment = moment_of(record)
    return moment.astimezone().strftime("%H:%M") if moment else ""


def _turns(data: JsonObject) -> tuple[str, ...]:
    """What led to a recap, a line a turn."""
    turns = cast("list[object]", data.get("turns")) if isinstance(data.get("turns"), list) else []
    shown = [cast("JsonObject", turn) for turn in turns if isinstance(turn, dict)]
    return tuple(
        plain_line(f"{turn.get('prompt')} · {turn.get('detail') or turn.get('category')}")
        for turn in shown
    )


def _leading_tags(text: str) -> dict[str, str]:
    """The tags that an echo is made of, in order; what stands inside one is never a tag."""
    found: dict[str, str] = {}
    position = 0
    while (match := _TAG.match(text, position)) is not None:
        found.setdefault(match[1], match[2])
        position = match.end()
    return found


def _head(text: str) -> str:
    """The first line behind the sentence that opens a summary."""
    lines = (line.strip("#* ") for line in text.splitlines()[1:])
    return cut(next((line for line in lines if line), ""), 200)
