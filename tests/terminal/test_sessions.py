"""Compaction and the list of sessions in a real terminal."""

from __future__ import annotations

import json

from tests.fakes.history_rules import history_fault
from tests.fakes.messages_server import MessagesServer
from tests.terminal.conftest import READY, Place, answer, spoken
from tests.terminal.terminal import CTRL_R, ENTER, ESC


def test_a_summary_is_changed_used_and_taken_back(place: Place, server: MessagesServer) -> None:
    answer(server, "The sky is blue.", "Sky: blue.", "Noted.", "Once more.")
    terminal = place.serve(server)
    terminal.say("what colour is the sky").until("The sky is blue.").until("completed")
    terminal.say("/compact").until("nothing has changed yet").settled()
    assert "Your last request stays" in terminal.text
    terminal.send("2").settled().send("Truly: ").until("Truly: Sky: blue.")
    terminal.send(ESC).settled().send("1").until("compacted here")
    terminal.say("remember that").until("Noted.").until("completed")
    sent = json.dumps(spoken(server)[-1]["messages"])
    assert "Truly: Sky: blue." in sent
    assert "The sky is blue." not in sent
    assert [history_fault(call.body) for call in server.calls] == [None] * len(server.calls)
    terminal.say("/uncompact").until("back to before the compaction")
    terminal.say("and again").until("Once more.").until("completed")
    assert "The sky is blue." in json.dumps(spoken(server)[-1]["messages"])
    assert terminal.quit() == 0
    assert place.fault() is None


def test_an_earlier_session_is_found_and_gone_on_with(place: Place, server: MessagesServer) -> None:
    answer(server, "Apples are red.", "Pears are green.", "Red, as I said.")
    terminal = place.serve(server)
    terminal.say("tell me of apples").until("Apples are red.").until("completed")
    terminal.say("/clear").until(READY)
    terminal.say("tell me of pears").until("Pears are green.").until("completed")
    terminal.settled().send(CTRL_R).until("tell me of apples").until("tell me of pears")
    terminal.send("apples").gone("tell me of pears").settled().send(ENTER)
    terminal.until("Apples are red.").gone("Pears are green.")
    terminal.say("which colour was it").until("Red, as I said.").until("completed")
    texts = json.dumps(spoken(server)[-1]["messages"])
    assert "tell me of apples" in texts
    assert "pears" not in texts
    assert terminal.quit() == 0
    assert len(place.transcripts()) == 2
