"""Runs `reverie` as a child process in folders of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "data" / "cases"
TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts"
SECRET = "sk-ant-cli-0123456789abcdef"
TIME_LIMIT = 60


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.split("\n") if line]

    @property
    def told(self) -> list[str]:
        """The sentences on stderr."""
        return self.err.splitlines()


class Cli:
    def __init__(self, folder: Path, base_url: str | None) -> None:
        self.project = folder / "project"
        self.config = folder / "config"
        self.data = folder / "data"
        self.project.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = {
            **kept,
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "REVERIE_CONFIG_DIR": str(self.config),
            "REVERIE_DATA_DIR": str(self.data),
        }
        if base_url is not None:
            self.environment |= {"ANTHROPIC_BASE_URL": base_url, "ANTHROPIC_API_KEY": SECRET}

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        fields: dict[str, Any] = {
            "cwd": self.project,
            "env": self.environment,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        command = [sys.executable, "-m", "app", *words]
        return cast("subprocess.Popen[bytes]", subprocess.Popen(command, **(fields | options)))

    def run(self, *words: str, stdin: bytes | None = None, **options: Any) -> Done:
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*words, **options)
        out, err = process.communicate(stdin, timeout=TIME_LIMIT)
        return Done(process.returncode, (out or b"").decode(), (err or b"").decode())

    def wait(self, process: subprocess.Popen[bytes]) -> Done:
        out, err = process.communicate(timeout=TIME_LIMIT)
        return Done(process.returncode, out.decode(), err.decode())

    def ask(self, *words: str, **options: Any) -> Done:
        """A turn in print mode."""
        return self.run("-p", *words, **options)

    @property
    def transcripts(self) -> list[Path]:
        return sorted(self.data.glob("projects/*/*.jsonl"))

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of the only transcript, without the file history."""
        (file,) = self.transcripts
        records = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
        return [each for each in records if not each["type"].startswith("file-history")]
