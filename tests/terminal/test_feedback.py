"""A report in the installed program: written, read, sent, and outlived by its text."""

from __future__ import annotations

import json
import signal
import stat
from pathlib import Path

from tests.fakes.feedback_server import FeedbackServer
from tests.fakes.messages_server import MessagesServer
from tests.protocol.feedback_wire import TOKEN, receiver
from tests.terminal.conftest import READY, Place
from tests.terminal.terminal import ESC

F5, CTRL_S = "\x1b[15~", "\x13"


def set_service(place: Place, url: str) -> None:
    place.places.config.mkdir(parents=True, exist_ok=True)
    lines = ["[feedback]", 'sink = "http"', f'endpoint = "{url}"', f'token = "{TOKEN}"']
    place.places.settings.write_text("\n".join(lines) + "\n")


def drafts(place: Place) -> list[Path]:
    return sorted((place.places.data / "feedback").glob("fb-*.json"))


def test_a_report_is_written_read_to_the_byte_and_sent(
    place: Place, server: MessagesServer, tmp_path: Path
) -> None:
    with receiver(tmp_path / "in") as service:
        set_service(place, service.url)
        terminal = place.serve(server)
        terminal.say("/feedback It broke twice").until("“It broke twice”").until("found: no secret")
        (file,) = drafts(place)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        terminal.send("p").until(f"bytes to {service.url}, as text").until("It broke twice")
        terminal.send("p").until(", byte for").until('"title":"It broke twice"')
        assert list((tmp_path / "in").iterdir()) == []
        terminal.send(CTRL_S).until("Sent: FB-").until("No report waits.")
        assert drafts(place) == []
        (received,) = (tmp_path / "in").iterdir()
        assert json.loads(received.read_bytes())["title"] == "It broke twice"
        terminal.send(ESC).until(READY).gone("feedback: 1")
        assert terminal.quit() == 0


def test_killed_in_the_middle_of_a_send_it_says_that_it_may_have_arrived(
    place: Place, server: MessagesServer
) -> None:
    with FeedbackServer([{"hang": True}]) as service:
        set_service(place, service.url)
        terminal = place.serve(server)
        terminal.say("/feedback It broke twice").until("“It broke twice”").until("found: no secret")
        terminal.send(CTRL_S).until("sending 100 %")
        assert service.arrived.wait(10)
        assert terminal.signal(signal.SIGKILL).wait() == -signal.SIGKILL
        assert len(drafts(place)) == 1
        terminal = place.serve(server).until("feedback: 1")
        terminal.send(F5).until("queued, failed").until("It may have arrived")
        terminal.until("found: no secret").send(CTRL_S).until("Sent: FB-OK")
        assert drafts(place) == []
        terminal.send(ESC).until(READY)
        assert terminal.quit() == 0
    first, second = service.requests
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
