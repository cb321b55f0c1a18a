from __future__ import annotations

import psutil

from app.sessions.codec import parse_transcript
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Reply, text, tool_use
from tests.terminal.conftest import Place


def test_a_terminal_that_is_gone_takes_everything_with_it(
    place: Place, server: MessagesServer
) -> None:
    loop = {"command": "while :; do sleep 1; done", "run_in_background": True}
    server.queue(Reply((tool_use("Bash", loop, "t1"),), "tool_use"), Reply((text("started"),)))
    terminal = place.serve(server, "--dangerously-skip-permissions")
    terminal.say("go").until("started").until("1 task")
    family = psutil.Process(terminal.pid).children(recursive=True)
    assert family
    terminal.hang_up()
    _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []
    (file,) = place.transcripts()
    records = parse_transcript(file.read_bytes()).records
    assert sum(record.in_chain for record in records) == 4
