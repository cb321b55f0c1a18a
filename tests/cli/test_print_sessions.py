from __future__ import annotations

import uuid

from tests.cli.runner import Cli
from tests.fakes.messages_server import MessagesServer


def test_a_session_goes_on(cli: Cli, server: MessagesServer) -> None:
    nothing = cli.ask("hi", "--continue")
    assert (nothing.code, nothing.out, len(server.calls)) == (1, "", 0)
    assert "no conversation in this folder" in nothing.err

    server.say("one", "two", "three")
    first = cli.ask("first", "--output-format", "json").json
    before = cli.transcripts[0].read_bytes()
    again = cli.ask("second", "--continue", "--output-format", "json").json
    assert again["session_id"] == first["session_id"]
    assert cli.transcripts[0].read_bytes().startswith(before)
    assert [m["role"] for m in server.last["messages"]] == ["user", "assistant", "user"]

    cost = cli.ask("/cost", "--resume", first["session_id"])
    assert cost.code == 0
    assert "Input: 20 tokens" in cost.out


def test_ids_that_are_no_session(cli: Cli, server: MessagesServer) -> None:
    unknown = str(uuid.uuid4())
    wanted = {
        ("--resume", unknown): f"No conversation found with session ID: {unknown}",
        ("--resume", "../../x"): "Invalid session ID: ../../x",
        ("--session-id", "abc"): "Invalid session ID: abc",
    }
    for words, sentence in wanted.items():
        done = cli.ask("hi", *words)
        assert (done.code, done.out) == (1, "")
        assert sentence in done.err
        assert len(done.told) == 1
    assert server.calls == []
    assert not cli.data.exists()


def test_nothing_is_kept_when_so_asked(cli: Cli) -> None:
    done = cli.ask("hi", "--no-session-persistence")
    assert (done.code, done.out) == (0, "ok\n")
    assert cli.transcripts == []


def test_flags_reach_the_request(cli: Cli, server: MessagesServer) -> None:
    done = cli.ask(
        "hi",
        "--model",
        "claude-haiku-5-5",
        "--append-system-prompt",
        "Speak like a pirate.",
        "--tools",
        "Read,Grep LS",
    )
    assert done.code == 0
    assert server.last["model"] == "claude-haiku-5-5"
    assert "Speak like a pirate." in server.last["system"][-1]["text"]
    assert sorted(tool["name"] for tool in server.last["tools"]) == ["Grep", "LS", "Read"]


def test_what_does_not_count_is_said(cli: Cli) -> None:
    cli.config.mkdir()
    (cli.config / "settings.toml").write_text('modle = "x"\nglyphs = 3\n')
    (cli.project / ".reverie").mkdir()
    (cli.project / ".reverie" / "settings.toml").write_text('model = "from-the-project"\n')
    done = cli.ask("hi", "--allowed-tools", "Bash(")
    assert (done.code, done.out) == (0, "ok\n")
    for part in (
        "settings.toml:1: modle",
        "settings.toml:2: glyphs",
        "Bash(",
        "not trusted",
    ):
        assert part in done.err
    assert len(done.told) == 4


def test_a_settings_file_that_is_not_there_is_bad_usage(cli: Cli, server: MessagesServer) -> None:
    done = cli.ask("hi", "--settings", "missing.toml")
    assert done.code == 2 and "missing.toml" in done.err
    assert server.calls == []
