from __future__ import annotations

from typing import Any

from app.sessions.graph import GraphView, MessageGraph, open_view
from app.sessions.records import Record, new_record
from app.state.model import Live, OpenBlock, ToolRun, TurnEnd
from widgets.conversation.blocks import (
    CardBlock,
    CodeBlock,
    NoteBlock,
    PromptBlock,
    ProseBlock,
    ShellBlock,
    ThinkingBlock,
)
from widgets.conversation.feed import Feed


class Writer:
    def __init__(self) -> None:
        self.view = GraphView(MessageGraph(), 0, None)
        self.count = 0

    def add(self, kind: str, **fields: Any) -> Record:
        self.count += 1
        data = {
            "parentUuid": self.view.leaf_uuid,
            "isSidechain": False,
            "type": kind,
            "uuid": f"u{self.count}",
            "timestamp": f"2026-11-02T09:00:{self.count:02d}.000Z",
            "sessionId": "s",
            **fields,
        }
        record = new_record(data)
        self.view = self.view.after(record)
        return record

    def user(self, content: Any, **fields: Any) -> None:
        self.add("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: dict[str, Any], number: int = 1) -> None:
        for block in blocks:
            message = {"id": f"m{number}", "role": "assistant", "content": [block]}
            self.add("assistant", message=message)

    def result(self, tool_id: str, content: Any, details: Any = None, **fields: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": tool_id, "content": content, **fields}
        extra = {} if details is None else {"toolUseResult": details}
        self.user([block], **extra)


def use(tool_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_id, "name": name, "input": arguments}


def shown(writer: Writer) -> Feed:
    feed = Feed()
    feed.show(writer.view, "/w")
    return feed


def test_a_turn_as_blocks() -> None:
    writer = Writer()
    writer.user("fix it")
    writer.assistant(
        {"type": "thinking", "thinking": "let me see", "signature": "s"},
        {"type": "text", "text": "Looking.\n\n```py\nx\n```"},
        use("t1", "Read", file_path="/w/a.py"),
    )
    writer.result("t1", "1\tx", {"type": "text", "file": {"filePath": "/w/a.py", "numLines": 1}})
    kinds = [type(block) for block in shown(writer).blocks]
    assert kinds == [PromptBlock, ThinkingBlock, ProseBlock, CodeBlock, CardBlock]
    card = shown(writer).blocks[-1]
    assert isinstance(card, CardBlock)
    assert (card.title, card.state, card.note) == ("a.py", "ok", "1 line")


def test_a_queued_report_is_one_quiet_line() -> None:
    writer = Writer()
    writer.assistant(use("t1", "SendFeedback", title="It\n froze\x1b", body="x", category="bug"))
    writer.result("t1", "Queued as fb-1.", {"type": "feedback", "id": "fb-1", "title": "It froze"})
    writer.assistant(use("t2", "SendFeedback", title=None), number=2)
    writer.result("t2", "`title` must be text", "Error: `title` must be text", is_error=True)
    cards = [block for block in shown(writer).blocks if isinstance(block, CardBlock)]
    assert [(card.title, card.state, card.note, card.fold) for card in cards] == [
        ('"It froze\u241b"', "ok", "draft queued", "folded"),
        ("", "error", "", "brief"),
    ]


def test_growing_and_reading_back_give_the_same_blocks() -> None:
    writer = Writer()
    feed = Feed()
    feed.show(writer.view, "/w")
    writer.user("go")
    feed.show(writer.view, "/w")
    writer.assistant(use("t1", "Bash", command="ls"), use("t2", "Bash", command="pwd"))
    feed.show(writer.view, "/w")
    writer.result("t2", "/w", {"stdout": "/w"})
    changed = feed.show(writer.view, "/w")
    assert changed == [2]
    writer.result("t1", "a", is_error=True)
    feed.show(writer.view, "/w")
    whole = Feed()
    whole.show(open_view(writer.view.graph.records), "/w")
    assert feed.blocks == whole.blocks


def test_another_branch_is_shown_anew() -> None:
    writer = Writer()
    writer.user("first")
    fork = writer.view
    writer.user("second")
    feed = shown(writer)
    assert feed.show(fork, "/w") is None
    assert [b.text for b in feed.blocks if isinstance(b, PromptBlock)] == ["first"]


def test_interruptions_denials_and_errors_are_told() -> None:
    writer = Writer()
    writer.user("go")
    writer.assistant(use("t1", "Bash", command="rm x"))
    writer.result("t1", "no", "User rejected tool use", is_error=True)
    writer.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    writer.add("system", subtype="api_error", content="Overloaded.")
    writer.add("system", subtype="api_refusal", content="The model declined.")
    card, *notes = shown(writer).blocks[1:]
    assert isinstance(card, CardBlock) and card.state == "denied"
    assert [note.text for note in notes if isinstance(note, NoteBlock)] == [
        "interrupted",
        "Overloaded.",
        "The model declined.",
    ]


def test_a_bridged_gap_is_marked() -> None:
    writer = Writer()
    writer.user("one")
    writer.add("user", parentUuid="never-written", message={"role": "user", "content": "two"})
    texts = [getattr(block, "text", "") for block in shown(writer).blocks]
    assert texts[0] == "one" and texts[1].startswith("gap bridged") and texts[2] == "two"


def test_a_shell_line_and_its_output_are_one_block() -> None:
    writer = Writer()
    writer.user("<bash-input>ls</bash-input>")
    feed = shown(writer)
    assert feed.blocks == [ShellBlock("ls", running=True, uuid="u1")]
    feed.show_live(Live("t", "running", tools={"x": ToolRun("x", "Bash", "running", output="a")}))
    block = feed.blocks[0]
    assert isinstance(block, ShellBlock) and block.output == "a"
    writer.user("<bash-stdout>a\nb</bash-stdout>")
    feed.show(writer.view, "/w")
    block = feed.blocks[0]
    assert isinstance(block, ShellBlock) and (block.output, block.running) == ("a\nb", False)


def test_a_reply_arrives_behind_the_settled_blocks_and_takes_its_place() -> None:
    writer = Writer()
    writer.user("go")
    feed = shown(writer)
    text = "One.\n\nTwo\nmore"
    for end, changed in ((4, [1]), (10, [2]), (len(text), [2])):
        live = Live("t", "replying", blocks=(OpenBlock(0, "text", text[:end]),))
        assert feed.show_live(live) == changed
    arriving = [getattr(block, "text", "") for block in feed.blocks]
    writer.assistant({"type": "text", "text": text})
    feed.show(writer.view, "/w")
    feed.show_live(Live("t", "running"))
    assert [getattr(block, "text", "") for block in feed.blocks] == arriving


def test_escape_sequences_split_over_chunks_are_never_shown_raw() -> None:
    feed = Feed()
    for text in ("a\x1b", "a\x1b[3", "a\x1b[31mred", "a\x1b[31mred\r", "a\x1b[31mred\r\nb"):
        feed.show_live(Live("t", "replying", blocks=(OpenBlock(0, "text", text),)))
        assert all("\x1b" not in getattr(block, "text", "") for block in feed.blocks)
    feed.show_live(
        Live("t", "replying", blocks=(OpenBlock(0, "text", "a\x1b[31mred\r\nb", closed=True),))
    )
    assert [getattr(block, "text", "") for block in feed.blocks] == ["ared\nb"]


def test_a_running_card_shows_its_live_output() -> None:
    writer = Writer()
    writer.assistant(use("t1", "Bash", command="make"))
    feed = shown(writer)
    run = ToolRun("t1", "Bash", "running", 1.0, "line 1")
    feed.show_live(Live("t", "running", tools={"t1": run}))
    card = feed.blocks[0]
    assert isinstance(card, CardBlock) and (card.state, card.output) == ("running", "line 1")


def test_the_note_of_an_ended_turn_is_shown() -> None:
    feed = Feed()
    feed.show_live(Live(last=TurnEnd("stopped", "Stopped after 3 model calls.")))
    assert feed.blocks == [NoteBlock("Stopped after 3 model calls.", "warn")]


def test_a_retry_is_told_and_goes() -> None:
    from app.state.model import Retry

    feed = Feed()
    feed.show_live(Live("t", "retrying", retry=Retry(2, 5.0, "The service is busy.")))
    assert isinstance(feed.blocks[0], NoteBlock)
    feed.show_live(Live("t", "requesting"))
    assert feed.blocks == []


def test_folding_keeps_everything_else() -> None:
    writer = Writer()
    writer.assistant(use("t1", "Read", file_path="/w/a"))
    writer.result("t1", "text")
    feed = shown(writer)
    feed.set_fold(0, "full")
    card = feed.blocks[0]
    assert isinstance(card, CardBlock) and card.fold == "full" and card.output == "text"
