"""Whatever a model or a tool says is shown as text and does nothing else."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Body, Gate, Reply, Stall, text, tool_use
from tests.terminal.conftest import Place, answer, is_aside, is_spoken, spoken
from tests.terminal.terminal import CTRL_C, ENTER, ESC, Terminal
from tests.terminal.test_chat import lines_of
from tests.terminal.test_start_and_exit import left_as_it_was

STRINGS = [row["s"].strip("\n") for row in lines_of("B36", "strings.jsonl")]


def squeezed(words: str) -> str:
    return re.sub(r"[\s│]+", "", words)


def shows(terminal: Terminal, words: str) -> bool:
    return squeezed(words) in squeezed(terminal.text)


def test_markup_is_text_everywhere(place: Place, server: MessagesServer) -> None:
    """Prompt, reply, code, tool title, tool output, permission request and its reason."""
    (place.folder / "strings.txt").write_text("\n".join(STRINGS) + "\n")
    quoted = "```\n" + "\n".join(STRINGS) + "\n```"
    reading = tool_use("Read", {"file_path": str(place.folder / "strings.txt")}, "toolu_r")
    running = tool_use(
        "Bash",
        {
            "command": "touch made; cat strings.txt; false "
            + " ".join(f"'{each}'" for each in STRINGS if "'" not in each)
        },
        "toolu_b",
    )
    server.queue(Reply((text(quoted),)))
    server.queue(Reply((reading,), "tool_use"), Reply((running,), "tool_use"))
    server.say("[bold]over[/bold]")
    keys = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "sk-ant-test"}
    terminal = place.start(columns=110, lines=90, more=keys)
    terminal.send("\x1b[200~" + "\n".join(STRINGS[:10]) + "\x1b[201~").settled()
    for each in STRINGS[:10]:
        assert shows(terminal, each), each
    terminal.send(ENTER).until("completed")
    for each in STRINGS:
        assert shows(terminal, each), (each, terminal.text)
    shown = squeezed(terminal.text).count(squeezed(STRINGS[0]))
    assert shown == 3, "in the title, the prompt and the reply"
    terminal.say("again").until("Allow once")
    for each in STRINGS:
        if "'" not in each:
            assert shows(terminal, f"'{each}'"), (each, terminal.text)
    terminal.settled().send("1").until("[bold]over[/bold]").until("completed")
    assert server.calls
    assert terminal.quit() == 0


NAMES = [
    "[bold]x[∕bold] [@click=app.quit].txt",
    "[red].txt",
]


def test_markup_in_a_file_name_and_an_error(place: Place, server: MessagesServer) -> None:
    for name in NAMES:
        (place.folder / name).write_text("inside\n")
    path = str(place.folder / NAMES[0])
    write = tool_use("Write", {"file_path": path, "content": "[/] new"}, "toolu_w")
    server.queue(Reply((write,), "tool_use"))
    server.say("Fine.")
    terminal = place.serve(server)
    terminal.say("write").until("Allow once").until("[@click=app.quit]")
    terminal.settled().send("4").until("Fine.")
    terminal.say("/theme [/nope]").until("There is no theme [/nope]")
    terminal.send("@").until("[red].txt").send(CTRL_C)
    terminal.gone("[red].txt")
    assert terminal.quit() == 0


HOSTILE = (
    "A\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x1b]2;mine\x1b\\ \x1b]52;c;b3duZWQ=\x07 \x1b[?1049l "
    "\x1b[2J \x1bc \x9b31m \x9d0;x\x9c \x90q\x9c \x07\x08\x0e\x7f "
    "\u202eevil\u202c \u2066x\u2069 \u200f end-A"
)
TITLE = re.compile(r"\x1b\]2;([^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*)\x07")
"""The terminal's title as the app sets it."""


def foreign(raw: bytes) -> list[str]:
    """Sequences that neither Textual nor the app writes, and characters that nobody should.

    The titles that are set are looked at apart.
    """
    words = TITLE.sub("", raw.decode("utf-8", "replace")).replace("\x1b[22;2t", "", 1)
    known = re.compile(
        r"\x1b\[[\d;:]*m|\x1b\[\d+;\d+H|\x1b\[\?\d+[hl]|\x1b\[[<>=]\d*u|\x1b\[\?\d+\$p"
        r"|\x1b\[[HJK]|\x1b\[\d[JK]|\x1b\[6n|\x1b\]22;\w*\x07|\x1b\[\?u|\x1b\[c"
    )
    rest = known.sub("", words)
    bad = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    return re.findall(bad + ".{0,12}", rest)


SMALL = "claude-haiku-5-5"
NAMED = "Ared ␛]0;owned␇ ␛]2;mine␛\\ ␛]52;c;b3duZWQ=␇ ␛[?1049l ␛[2J…"
"""The name that `HOSTILE` gives a session."""


def is_main(body: Body) -> bool:
    return body["model"] != SMALL and is_spoken(body)


def test_no_sequence_of_a_model_or_a_tool_reaches_the_terminal(
    place: Place, server: MessagesServer
) -> None:
    (place.folder / "hostile.txt").write_text(HOSTILE, encoding="utf-8")
    said = Reply((text(HOSTILE),), piece=3)
    run = tool_use("Bash", {"command": "cat hostile.txt #" + HOSTILE}, "t1")
    server.queue(said, when=lambda body: body["model"] == SMALL)
    server.queue(said, Reply((run,), "tool_use"), when=is_main)
    server.queue(said, when=is_aside)
    answer(server, "The end.")
    terminal = place.serve(server, "--small-model", SMALL)
    terminal.say("talk").until("end-A").until(lambda t: t.screen.title == f"✓ {NAMED}")
    terminal.say("run").until("Allow once").settled().send("1").until("The end.")
    terminal.until(lambda _: any(is_aside(call.body) for call in server.calls)).settled()
    terminal.send("\x1b[200~pasted \x1b[31m \x9b2J words\x1b[201~").until("words")
    terminal.settled()
    assert server.left == 0
    assert foreign(bytes(terminal.raw)) == []
    titles = TITLE.findall(bytes(terminal.raw).decode("utf-8"))
    names = {re.sub("^[…?!✓] ", "", title) for title in titles}
    assert names - {"reverie", "project"} == {"talk", NAMED}


def test_very_long_lines_and_outputs_do_not_hang(place: Place, server: MessagesServer) -> None:
    server.queue(Reply((text("x" * 200_000 + " end-of-line"),), piece=4000))
    command = "seq 1 100000; echo last-line"
    server.queue(Reply((tool_use("Bash", {"command": command}, "t1"),), "tool_use"))
    server.say("Counted.")
    terminal = place.serve(server)
    terminal.say("long").until("completed")
    terminal.say("count").until("Counted.")
    terminal.send("still alive").until("still alive").send(CTRL_C).gone("still alive")
    assert terminal.quit() == 0


SIZES = [(80, 24), (1, 1), (7, 3), (200, 50), (20, 5)]


def resize_wildly(terminal: Terminal, seed: int, count: int) -> None:
    chance = random.Random(seed)
    sizes = SIZES + [(chance.randint(1, 220), chance.randint(1, 60)) for _ in range(count)]
    for columns, lines in sizes:
        terminal.resize(columns, lines).settled(0.01)


@pytest.mark.parametrize("seed", [1, 2])
def test_resizing_while_a_reply_streams(place: Place, server: MessagesServer, seed: int) -> None:
    content = (lines_of_content() + "\n\n") * 6
    gate = Gate()
    server.queue(Reply((text(content + "the very end"),), fault=Stall(40, gate)))
    terminal = place.serve(server)
    terminal.say("go")
    assert gate.reached.wait(10)
    resize_wildly(terminal, seed, 30)
    gate.release()
    resize_wildly(terminal, seed + 10, 30)
    terminal.resize(90, 28).until("the very end").until("completed").settled()
    terminal.send("after it").until("› after it")
    rows = terminal.text.split("\n")
    assert len(rows) == 28 and "enter Send" in rows[-1]
    terminal.send(CTRL_C).gone("after it")
    assert terminal.quit() == 0
    assert left_as_it_was(terminal) == []


def lines_of_content() -> str:
    from tests.terminal.test_chat import CASES

    (folder,) = CASES.glob("B39-*")
    return (folder / "content.md").read_text()


def test_resizing_with_a_question_open(place: Place, server: MessagesServer) -> None:
    command = "echo 漢字 👩‍👩‍👧‍👦 é && " + "touch made " * 12
    server.queue(Reply((tool_use("Bash", {"command": command}, "t1"),), "tool_use"))
    server.say("Fine.")
    terminal = place.serve(server)
    terminal.say("go").until("Allow once")
    resize_wildly(terminal, 7, 40)
    terminal.resize(100, 30).until("Allow once").settled().send("4").until("Fine.")
    assert terminal.quit() == 0


def test_graphemes_in_the_prompt(place: Place, server: MessagesServer) -> None:
    from tests.terminal.test_chat import CASES

    (folder,) = CASES.glob("B39-*")
    lines = [line for line in (folder / "graphemes.txt").read_text().splitlines() if line][:12]
    answer(server, *(f"Answer {number}." for number in range(len(lines))))
    terminal = place.serve(server)
    for number, line in enumerate(lines):
        terminal.send(f"\x1b[200~{line}\x1b[201~").settled(0.05)
        terminal.send("\x7f", "\x1b[D", "\x1b[C", "Z").settled(0.05)
        terminal.send(ENTER).until(f"Answer {number}.").until("completed")
        assert len(spoken(server)) == number + 1
        sent: Any = spoken(server)[-1]["messages"][-1]["content"]
        words = sent if isinstance(sent, str) else sent[-1]["text"]
        assert words.endswith("Z")
        body = words[:-1]
        if not line.startswith("\u200d"):
            assert not body.endswith("\u200d"), (line, json.dumps(words))
        assert line.startswith(body), (line, json.dumps(words))
        terminal.until("enter Send").send(ESC).settled(0.15)
