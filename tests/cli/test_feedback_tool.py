from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import ROOT, Cli
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Reply, text, tool_use

REPORT = {"title": "It froze", "body": "No key did anything.", "category": "bug", "evidence": "e1"}
WATCH = """\
import os, sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        line = f"{arguments[1]!r}\\n".encode()
        os.write(log, line)

log = os.open(os.environ["CONNECTIONS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
sys.addaudithook(watch)
"""


def drafts(cli: Cli) -> list[dict[str, Any]]:
    """The drafts on disk, known to be private."""
    folder = cli.data / "feedback"
    files = sorted(folder.glob("fb-*.json"))
    assert not files or stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} <= {0o600}
    return [json.loads(file.read_bytes()) for file in files]


def set_up(cli: Cli, settings: str) -> None:
    cli.config.mkdir()
    (cli.config / "settings.toml").write_text(settings)


def tools(server: MessagesServer) -> list[str]:
    return [tool["name"] for tool in server.last["tools"]]


@pytest.fixture
def connections(tmp_path: Path) -> Path:
    """Where a watched run notes each address that it connects to."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    return tmp_path / "connections"


def watched(cli: Cli, connections: Path) -> Cli:
    path = f"{connections.with_name('watch')}:{ROOT}"
    cli.environment |= {"PYTHONPATH": path, "CONNECTIONS": str(connections)}
    return cli


@pytest.mark.parametrize("mode", ["default", "plan"])
def test_a_report_lands_on_disk_and_nowhere_else(
    cli: Cli, server: MessagesServer, connections: Path, mode: str
) -> None:
    server.queue(Reply((tool_use("SendFeedback", REPORT, "toolu_1"),), stop_reason="tool_use"))
    server.queue(Reply((text("Done."),)))
    with MessagesServer() as service:
        set_up(cli, f'[feedback]\nsink = "http"\nendpoint = "{service.base_url}/reports"\n')
        flags = ["--permission-mode", mode, "--output-format", "json"]
        done = watched(cli, connections).ask("go", *flags)
        assert service.opened == 0
    assert (done.code, done.json["result"], done.json["permission_denials"]) == (0, "Done.", [])
    (draft,) = drafts(cli)
    assert draft.items() >= REPORT.items()
    assert draft["session_id"] == done.json["session_id"]
    assert (draft["project"], draft["status"]) == (str(cli.project), "queued")
    answer = server.last["messages"][-1]["content"][0]
    assert draft["id"] in answer["content"]
    port = int(server.base_url.rpartition(":")[2])
    assert set(connections.read_text().splitlines()) == {repr(("127.0.0.1", port))}


def test_the_rehearsal_queues_a_report_without_any_connection(
    offline: Cli, connections: Path
) -> None:
    done = watched(offline, connections).ask("I have feedback", "--model", "rehearsal")
    (draft,) = drafts(offline)
    assert (done.code, "f5" in done.out, draft["id"] in done.out) == (0, True, False)
    assert "I have feedback" in draft["evidence"]
    assert connections.read_text() == ""


def test_switched_off_no_request_carries_the_tool(cli: Cli, server: MessagesServer) -> None:
    assert cli.ask("hi").code == 0
    assert tools(server)[-1] == "SendFeedback"
    set_up(cli, 'feedback.drafts = "off"\n')
    assert cli.ask("hi").code == 0
    assert tools(server)[-1] == "AskUserQuestion"
    assert not (cli.data / "feedback").exists()


def test_a_rule_of_the_person_forbids_it(cli: Cli, server: MessagesServer) -> None:
    server.queue(Reply((tool_use("SendFeedback", REPORT, "toolu_1"),), stop_reason="tool_use"))
    server.queue(Reply((text("Done."),)))
    done = cli.ask("go", "--disallowed-tools", "SendFeedback", "--output-format", "json")
    assert (done.code, drafts(cli)) == (0, [])
    assert done.json["permission_denials"][0]["tool_name"] == "SendFeedback"


def test_the_rules_say_allow(offline: Cli) -> None:
    check = ("permissions", "check", "SendFeedback", json.dumps(REPORT))
    assert offline.run(*check, "--json").json["verdict"] == "allow"
    set_up(offline, 'permissions.mode = "plan"\n')
    done = offline.run(*check)
    assert (done.out.partition(":")[0], done.err) == ("allow", "")


def test_a_draft_that_had_to_leave_for_another_is_told(cli: Cli, server: MessagesServer) -> None:
    mine = cli.run("feedback", "new", "Mine", "--json", stdin=b"words").json["id"]
    for _ in range(9):
        assert cli.run("feedback", "new", "Other", stdin=b"more").code == 0
    server.queue(Reply((tool_use("SendFeedback", REPORT, "toolu_1"),), stop_reason="tool_use"))
    server.queue(Reply((text("done"),)))
    done = cli.ask("go")
    assert (done.code, done.out) == (0, "done\n")
    assert f"The draft {mine} (Mine) was removed: only 10 are kept." in done.err
    assert b"words" in (cli.data / "feedback" / "removed" / f"{mine}.json").read_bytes()
