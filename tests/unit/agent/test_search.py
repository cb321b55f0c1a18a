from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from app.agent.tools.base import ToolFailure
from app.agent.tools.glob import GlobTool
from app.agent.tools.grep import GrepTool
from app.agent.tools.ls import LsTool
from app.ripgrep import find_ripgrep
from tests.unit.agent.tool_kit import call, details_of, make_context, text_of


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "p"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("import os\nKEY = 1\nprint(KEY)\n")
    (root / "src" / "b.js").write_text("key()\n")
    (root / ".env").write_text("KEY=secret\n")
    (root / ".env.example").write_text("KEY=\n")
    (root / "[bold]x.txt").write_text("[stage] KEY\n")
    os.utime(root / "src" / "a.py", (1, 1))
    return root


async def test_grep_leaves_secrets_out_unless_named(tree: Path) -> None:
    context = make_context(tree)
    names = text_of(await call(GrepTool(), context, pattern="KEY")).split("\n")
    assert names == [".env.example", "[bold]x.txt", "src/a.py"]
    text = text_of(await call(GrepTool(), context, pattern="KEY", output_mode="content"))
    assert "secret" not in text
    named = await call(GrepTool(), context, pattern="KEY", path=".env", output_mode="content")
    assert text_of(named) == ".env:1:KEY=secret"


async def test_grep_hides_what_the_rules_deny(tree: Path) -> None:
    context = make_context(tree, hidden=lambda path: path.name == "a.py")
    assert "a.py" not in text_of(await call(GrepTool(), context, pattern="KEY"))


async def test_grep_content_with_context_and_without_numbers(tree: Path) -> None:
    context = make_context(tree)
    result = await call(
        GrepTool(), context, pattern="KEY =", output_mode="content", path="src", **{"-C": 1}
    )
    assert text_of(result) == "src/a.py:1-import os\nsrc/a.py:2:KEY = 1\nsrc/a.py:3-print(KEY)"
    plain = await call(
        GrepTool(), context, pattern="KEY =", output_mode="content", path="src", **{"-n": False}
    )
    assert text_of(plain) == "src/a.py:KEY = 1"


async def test_grep_counts_types_case_and_limits(tree: Path) -> None:
    context = make_context(tree)
    counts = await call(GrepTool(), context, pattern="key", output_mode="count", **{"-i": True})
    assert "src/a.py:2" in text_of(counts)
    assert details_of(counts)["numMatches"] == 5
    assert text_of(await call(GrepTool(), context, pattern="key", type="js")) == "src/b.js"
    assert text_of(await call(GrepTool(), context, pattern="K", glob="*.py")) == "src/a.py"
    limited = await call(GrepTool(), context, pattern="KEY", head_limit=1)
    assert text_of(limited) == ".env.example\n(2 more lines; narrow the search)"
    crossing = await call(GrepTool(), context, pattern=r"os\nKEY", multiline=True)
    assert text_of(crossing) == "src/a.py"
    assert text_of(await call(GrepTool(), context, pattern="-nothing")) == "No files found."


async def test_grep_failures_are_sentences(tree: Path) -> None:
    context = make_context(tree)
    for arguments, reason in (
        ({"pattern": "("}, "regex"),
        ({"pattern": "x", "path": "missing"}, "does not exist"),
        ({"pattern": "x", "type": "nosuch"}, "nosuch"),
        ({"pattern": "x", "output_mode": "all"}, "must be one of"),
        ({"pattern": "x", "-A": "3"}, "`-A` must be a whole number"),
    ):
        with pytest.raises(ToolFailure, match=reason):
            await call(GrepTool(), context, **arguments)


async def test_long_lines_are_cut(tree: Path) -> None:
    (tree / "long.txt").write_text("needle" + "x" * 100_000)
    text = text_of(
        await call(GrepTool(), make_context(tree), pattern="needle", output_mode="content")
    )
    assert len(text) < 1000


async def test_glob_newest_first(tree: Path) -> None:
    context = make_context(tree)
    (tree / "src" / "c.py").write_text("")
    assert text_of(await call(GlobTool(), context, pattern="**/*.py")) == "src/c.py\nsrc/a.py"
    assert text_of(await call(GlobTool(), context, pattern=f"{tree}/src/*.js")) == "src/b.js"
    assert text_of(await call(GlobTool(), context, pattern="*.rs")) == "No files found."
    with pytest.raises(ToolFailure, match="not a folder"):
        await call(GlobTool(), context, pattern="*", path="missing")


async def test_ls_shows_kinds(tree: Path) -> None:
    (tree / "link").symlink_to("src/a.py")
    text = text_of(await call(LsTool(), make_context(tree), ignore=["*.txt"]))
    assert text == "./\n  src/\n  .env\n  .env.example\n  link -> src/a.py"
    with pytest.raises(ToolFailure, match="cannot be listed"):
        await call(LsTool(), make_context(tree), path="link")
    (tree / "empty").mkdir()
    assert "(empty)" in text_of(await call(LsTool(), make_context(tree), path="empty"))


async def test_missing_ripgrep_is_said(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_ripgrep.cache_clear()
    monkeypatch.setattr("sysconfig.get_path", lambda _name: "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolFailure, match="ripgrep"):
        await call(GrepTool(), make_context(tree), pattern="x")
    find_ripgrep.cache_clear()


async def test_cancelled_search_ends(tree: Path) -> None:
    os.mkfifo(tree / "never")
    job = asyncio.create_task(call(GrepTool(), make_context(tree), pattern="x", path="never"))
    await asyncio.sleep(0)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
