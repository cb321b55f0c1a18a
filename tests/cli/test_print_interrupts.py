from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.cli.runner import Cli
from tests.fakes.history_rules import history_fault
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Reply, Stall, text, tool_use


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_mid_stream(
    cli: Cli, server: MessagesServer, number: signal.Signals, code: int
) -> None:
    stall = Stall(4)
    server.queue(Reply((text("a text of several pieces"),), fault=stall))
    process = cli.start("-p", "hi", "--output-format", "json")
    assert stall.gate.reached.wait(30)
    time.sleep(0.2)  # the last piece is on its way through the pipe
    process.send_signal(number)
    done = cli.wait(process)
    assert done.code == code
    assert (done.json["subtype"], done.json["is_error"]) == ("error_during_execution", True)
    assert "interrupted" in done.err
    assert "Traceback" not in done.err
    assert cli.records[-1]["message"]["content"][0]["text"] == "[Request interrupted by user]"
    assert cli.records[-2]["message"]["content"][0]["text"].startswith("a text")
    assert (cli.ask("go on", "--continue").code, history_fault(server.last)) == (0, None)


def test_a_signal_while_a_summary_is_written(cli: Cli, server: MessagesServer) -> None:
    session_id = cli.ask("hi", "--output-format", "json").json["session_id"]
    before = cli.transcripts[0].read_bytes()
    stall = Stall(4)
    server.queue(Reply((text("a summary of several pieces"),), fault=stall))
    process = cli.start("-p", "/compact", "--resume", session_id, "--output-format", "json")
    assert stall.gate.reached.wait(30)
    process.send_signal(signal.SIGINT)
    done = cli.wait(process)
    assert done.code == 130
    assert done.json["subtype"] == "error_during_execution"
    assert cli.transcripts[0].read_bytes() == before


def test_a_signal_in_mid_tool_leaves_no_process(cli: Cli, server: MessagesServer) -> None:
    command = "echo $$ > pid; sleep 300"
    calls = [
        tool_use("Bash", {"command": command}, "toolu_1"),
        tool_use("Bash", {"command": "echo never"}, "toolu_2"),
    ]
    server.queue(Reply(tuple(calls), stop_reason="tool_use"))
    process = cli.start("-p", "go", "--dangerously-skip-permissions")
    number = wait_for_text(cli.project / "pid")
    process.send_signal(signal.SIGINT)
    done = cli.wait(process)
    assert (done.code, done.out) == (130, "")
    assert not psutil.pid_exists(int(number))
    answers = [b for r in cli.records for b in blocks(r) if b["type"] == "tool_result"]
    assert [(a["tool_use_id"], a["is_error"]) for a in answers] == [
        ("toolu_1", True),
        ("toolu_2", True),
    ]
    assert (cli.ask("go on", "--continue").code, history_fault(server.last)) == (0, None)


def wait_for_text(file: Path) -> str:
    for _ in range(600):
        if file.exists() and file.read_text().strip():
            return file.read_text().strip()
        time.sleep(0.05)
    raise AssertionError(f"{file} never came")


def blocks(record: dict) -> list[dict]:
    content = record.get("message", {}).get("content")
    return content if isinstance(content, list) else []


def test_a_closed_stdout_ends_quietly(cli: Cli, server: MessagesServer) -> None:
    server.say("x" * 200_000)
    read, write = os.pipe()
    process = cli.start("-p", "hi", "--output-format", "stream-json", stdout=write)
    os.close(write)
    os.close(read)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def test_a_stdout_that_closes_in_mid_turn_ends_the_turn(cli: Cli, server: MessagesServer) -> None:
    call = tool_use("Bash", {"command": "echo $$ > pid; sleep 1; echo over"}, "toolu_1")
    server.queue(Reply((call,), stop_reason="tool_use"))
    process = cli.start(
        "-p", "go", "--dangerously-skip-permissions", "--output-format", "stream-json"
    )
    wait_for_text(cli.project / "pid")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert (process.stderr.read(), process.wait(30)) == (b"", 0)
    process.stderr.close()
    assert len(server.calls) == 1
    assert (cli.ask("go on", "--continue").code, history_fault(server.last)) == (0, None)


def test_a_stdout_that_cannot_be_written_is_an_error(cli: Cli) -> None:
    with open("/dev/full", "wb") as full:
        done = cli.ask("hi", stdout=full)
    assert done.code == 1
    assert "Stdout could not be written" in done.err


def test_a_full_disk_costs_the_transcript_only(cli: Cli) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = cli.ask("hi", preexec_fn=limit)
    assert (done.code, done.out) == (0, "ok\n")
    (sentence,) = done.told
    assert "could not be written" in sentence

    shutil.rmtree(cli.data)
    cli.data.write_text("a file where a folder should be")
    blocked = cli.ask("hi")
    assert (blocked.code, blocked.out) == (0, "ok\n")
    assert len(blocked.told) == 1


def test_a_deleted_working_folder_is_named(cli: Cli) -> None:
    program = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m app "$@"'
    for words, code in ((["-p", "hi"], 1), (["doctor"], 1)):
        done = subprocess.run(
            ["bash", "-c", program, sys.executable, *words],
            cwd=cli.project,
            env=cli.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == code
        assert f"{cli.project / 'gone'} does not exist" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_silent_pipe_is_not_waited_for(cli: Cli) -> None:
    read, write = os.pipe()
    process = cli.start("-p", "hi", stdin=read)
    done = cli.wait(process)
    os.close(read)
    os.close(write)
    assert (done.code, done.out) == (0, "ok\n")
    assert "Nothing came on stdin" in done.err


def test_faults_are_told_in_one_sentence(cli: Cli) -> None:
    program = cli.project / "fault.py"
    program.write_text(
        "import sys, app.cli.print_mode as mode\n"
        "def broken(*_): raise ZeroDivisionError('oh')\n"
        "mode.run_print = broken\n"
        "from app.cli.run import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    for flags, has_traceback in (([], False), (["--debug"], True)):
        done = subprocess.run(
            [sys.executable, str(program), "-p", "hi", *flags],
            cwd=cli.project,
            env=cli.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert ("Traceback" in done.stderr) is has_traceback
        assert "oh" in done.stderr
    log = cli.data / "logs" / "reverie.log"
    assert "ZeroDivisionError" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
