"""`reverie feedback` carried out in this process: a child costs a second."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.cli.feedback_command import run_feedback
from app.cli.opening import find_installation
from app.cli.run import run
from app.installation import Installation
from tests.cli.runner import CASES, Cli
from tests.fakes.clock import FakeClock
from tests.protocol.feedback_wire import TOKEN

(B58,) = CASES.glob("B58-*")
(B60,) = CASES.glob("B60-*")
LEAKY = B60 / "transcript.jsonl"


class Piped(io.TextIOWrapper):
    def __init__(self, data: bytes, *, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data))
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@dataclass
class Inside:
    """The command in folders of its own, with a clock that the test sets."""

    cli: Cli
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[bytes]
    clock: FakeClock = field(default_factory=FakeClock)
    err: str = ""

    def code(self, *words: str, stdin: bytes = b"") -> tuple[int, bytes]:
        self.patch.setattr(sys, "stdin", Piped(stdin))
        return self._run(words)

    def typing(self, script: str, *words: str) -> tuple[int, bytes]:
        """With a terminal and an editor that runs a shell script on the file `$1`."""
        editor = self.cli.data.parent / "editor"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(0o700)
        with self.patch.context() as patch:
            patch.setenv("EDITOR", str(editor))
            patch.delenv("VISUAL", raising=False)
            patch.setattr(sys, "stdin", Piped(b"", is_terminal=True))
            patch.setattr(sys.stdout, "isatty", lambda: True)
            return self._run(words)

    def _run(self, words: tuple[str, ...]) -> tuple[int, bytes]:
        found = find_installation()
        here = Installation(found.places, found.folder, found.environment, self.clock)

        def with_our_clock(rest: list[str]) -> int:
            return run_feedback(rest, here)

        self.patch.setattr("app.cli.feedback_command.run_feedback", with_our_clock)
        code = run(["feedback", *words])
        out, err = self.capture.readouterr()
        self.err = err.decode()
        return code, out

    def json(self, *words: str, code: int = 0, stdin: bytes = b"") -> Any:
        ended, out = self.code(*words, "--json", stdin=stdin)
        assert ended == code, self.err
        return json.loads(out)

    def fails(self, *words: str, code: int = 1, stdin: bytes = b"") -> str:
        ended, out = self.code(*words, stdin=stdin)
        assert (ended, out) == (code, b"")
        assert self.err.count("\n") == 1
        return self.err

    def draft(self, text: str = "It broke.\n", *words: str) -> str:
        return self.json("new", *words, stdin=text.encode())["id"]

    def drafts(self) -> list[dict[str, Any]]:
        return self.json("list")["drafts"]

    def body(self, draft_id: str) -> str:
        return json.loads((self.folder / f"{draft_id}.json").read_text())["body"]

    def sink(self, kind: str, endpoint: str, **more: Any) -> None:
        self.cli.config.mkdir(exist_ok=True)
        settings = {"sink": kind, "endpoint": endpoint, "token": TOKEN, **more}
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        (self.cli.config / "settings.toml").write_text("\n".join(["[feedback]", *lines]) + "\n")

    @property
    def folder(self) -> Path:
        return self.cli.data / "feedback"


def inside_of(cli: Cli, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[bytes]) -> Inside:
    patch.chdir(cli.project)
    for name, value in cli.environment.items():
        patch.setenv(name, value)
    return Inside(cli, patch, capture)
