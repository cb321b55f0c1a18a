from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.models.rehearsal.markers import RECAP_MARKER, SUGGESTION_MARKER
from app.paths import Places
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from app.sessions.records import Record
from app.sessions.view import request_view
from tests.fakes.history_rules import history_fault
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Body, Reply, text
from tests.terminal.terminal import ROOT, Terminal, command

READY = "enter Send"


def is_aside(body: Body) -> bool:
    """Whether a request is the background's: asked of the whole conversation, no part of it."""
    last = json.dumps(body["messages"][-1])
    return any(marker in last for marker in (SUGGESTION_MARKER, RECAP_MARKER))


def is_spoken(body: Body) -> bool:
    """Whether a request carries the conversation on."""
    return not is_aside(body)


def spoken(server: MessagesServer) -> list[Body]:
    """The requests that carried the conversation on."""
    return [call.body for call in server.calls if is_spoken(call.body)]


def answer(server: MessagesServer, *words: str) -> None:
    """What the model says in the conversation, whatever the background asks meanwhile."""
    server.queue(*(Reply((text(each),)) for each in words), when=is_spoken)


class Place:
    """Temporary folders, and the programs that run in them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "project"
        self.folder.mkdir()
        self.places = Places(root / "config", root / "data", root / "data" / "logs")
        self.running: list[Terminal] = []

    def environment(self, more: dict[str, str]) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TEXTUAL_ANIMATIONS": "none",
            "PYTHONPATH": str(ROOT),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "REVERIE_CONFIG_DIR": str(self.places.config),
            "REVERIE_DATA_DIR": str(self.places.data),
            **more,
        }

    def start(
        self,
        *words: str,
        columns: int = 100,
        lines: int = 30,
        wait: str = READY,
        more: dict[str, str] | None = None,
    ) -> Terminal:
        program = Terminal(
            command(*words), self.folder, self.environment(more or {}), columns=columns, lines=lines
        )
        self.running.append(program)
        return program.until(wait) if wait else program

    def serve(self, server: MessagesServer, *words: str) -> Terminal:
        """The app with that server, and Bash, Read and the rest at their defaults."""
        keys = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "sk-ant-test"}
        return self.start(*words, more=keys)

    def transcripts(self) -> list[Path]:
        return sorted(self.places.project(self.folder).glob("*-*-*-*-*.jsonl"))

    def records(self) -> list[Record]:
        (file,) = self.transcripts()
        parsed = parse_transcript(file.read_bytes())
        assert not parsed.flaws
        return list(parsed.records)

    def fault(self) -> str | None:
        """What the API would say against going on from the transcript on disk."""
        view = open_view(self.records())
        messages = request_view(view.graph, view.leaf).messages
        if messages and messages[-1]["role"] == "assistant":
            messages = [*messages, {"role": "user", "content": "go on"}]
        return history_fault({"messages": messages})


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    for program in made.running:
        program.close()


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running
