"""A scripted agent turn on a server that others wrote; needs Node, and says so without it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runner import Cli

PACKAGE = "@copilotkit/aimock@1.43.0"
FIXTURES = {
    "fixtures": [
        {
            "match": {"userMessage": "readme", "hasToolResult": False},
            "response": {
                "content": "Reading it.",
                "reasoning": "The file should say.",
                "toolCalls": [{"name": "Read", "arguments": {"file_path": "README.md"}}],
            },
        },
        {
            "match": {"userMessage": "readme", "hasToolResult": True},
            "response": {"content": "It greets the moon."},
        },
    ]
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node and npm are not here: the aimock flow was not run")
    folder = tmp_path_factory.mktemp("aimock")
    once = [
        "--fetch-retries=0",
        "--fetch-timeout=10000",
    ]  # where there is no registry, know it soon
    words = [npm, "install", "--no-audit", "--no-fund", *once, "--prefix", str(folder), PACKAGE]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        pytest.skip(f"npm could not install {PACKAGE}: the aimock flow was not run")
    return folder / "node_modules" / ".bin" / "llmock"


@pytest.fixture
def url(program: Path, tmp_path: Path) -> Iterator[str]:
    script = tmp_path / "fixtures.json"
    script.write_text(json.dumps(FIXTURES))
    words = [str(program), "-p", "0", "-f", str(script)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if "listening on " in line:
                yield line.rpartition("listening on ")[2].strip()
                break
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def test_a_scripted_flow_with_thinking_and_a_tool(url: str, tmp_path: Path) -> None:
    cli = Cli(tmp_path, url)
    (cli.project / "README.md").write_text("hello moon\n")
    events = cli.run("-p", "readme", "--output-format", "stream-json").events
    assert events[-1]["result"] == "It greets the moon."
    kinds = [b["type"] for e in events if e["type"] == "assistant" for b in e["message"]["content"]]
    assert kinds == ["thinking", "text", "tool_use", "text"]
    assert "hello moon" in json.dumps([e for e in events if e["type"] == "user"])
