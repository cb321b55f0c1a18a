"""The tree of a session of 10 000 prompts and 200 branches: opened, moved in, previewed, and moved
in while a turn runs tools.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textual import events

from app.controller import Controller
from app.installation import Installation, Options
from app.main import ReverieApp
from app.paths import Places
from app.tree_desk import TreeDesk
from benchmarks.figures import Figure, median, p95, show
from benchmarks.headless import SESSION
from benchmarks.paced import PacedProvider
from widgets.screens.tree import TreeScreen

PROMPTS, BRANCHES = 10_000, 200
KEYS = ("up", "down", "pageup", "pagedown", "up", "up", "left", "right")
ROUNDS = 15
GROWTH = 0.05
"""Seconds between two records of the turn that runs while the cursor moves."""


class _Writer:
    """Lines of a session in which each prompt has two edits and a reply."""

    def __init__(self) -> None:
        self.count = 0
        self.leaf: str | None = None

    def _line(self, kind: str, message: dict[str, Any], **fields: Any) -> str:
        self.count += 1
        uuid = f"00000000-0000-4000-8000-{self.count:012d}"
        moment = time.gmtime(1_790_000_000 + 20 * self.count)
        record = {
            "parentUuid": self.leaf,
            "isSidechain": False,
            "type": kind,
            "message": message,
            **fields,
            "uuid": uuid,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", moment),
            "cwd": "/work",
            "sessionId": SESSION,
            "version": "1.0.0",
        }
        self.leaf = uuid
        return json.dumps(record, separators=(",", ":"))

    def _reply(self, block: dict[str, Any]) -> str:
        message = {
            "id": f"msg_{self.count}",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [block],
            "usage": {"input_tokens": 10, "output_tokens": 50},
        }
        return self._line("assistant", message)

    def turn(self, number: int) -> Iterator[str]:
        """One prompt with what it came to."""
        text = f"Prompt {number}: look at part {number % 97} of the shop and say what is slow there"
        yield self._line("user", {"role": "user", "content": text})
        for step in range(2):
            tool = f"toolu_{number}_{step}"
            hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2}
            patch = [{**hunk, "lines": ["-slow()", "+quick()", "+and_right()"]}]
            given = {"file_path": "/srv/shop.py", "old_string": "slow()", "new_string": "quick()"}
            yield self._reply({"type": "tool_use", "id": tool, "name": "Edit", "input": given})
            block = {"type": "tool_result", "tool_use_id": tool, "content": "Changed."}
            details = {"filePath": "/srv/shop.py", "structuredPatch": patch}
            yield self._line("user", {"role": "user", "content": [block]}, toolUseResult=details)
        yield self._reply({"type": "text", "text": "It was the *query*; `quick()` is right. " * 6})


def session(prompts: int, branches: int) -> Iterator[str]:
    """Lines of a session that went back to an earlier turn again and again."""
    chance, writer, ends = random.Random(7), _Writer(), list[str | None]()
    for number in range(prompts):
        if number and number % (prompts // branches) == 0:
            writer.leaf = chance.choice(ends[-600:])
        yield from writer.turn(number)
        ends.append(writer.leaf)


async def _frame() -> None:
    """Let others work; without a pause this would take half of their time."""
    await asyncio.sleep(0.000_5)


async def _until(holds: Any) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await _frame()


async def times(prompts: int = PROMPTS, branches: int = BRANCHES) -> dict[str, list[float]]:
    """Milliseconds: to the first lines, from a key to its line, to its preview, and to its line
    while the session grows.
    """
    found: dict[str, list[float]] = {"open": [], "key": [], "preview": [], "growing": []}
    with tempfile.TemporaryDirectory(prefix="reverie-benchmark-") as name:
        places = Places(Path(name) / "config", Path(name) / "data", Path(name) / "logs")
        folder = Path(name) / "project"
        folder.mkdir()
        file = places.transcript(folder, SESSION)
        file.parent.mkdir(parents=True)
        file.write_text("".join(f"{line}\n" for line in session(prompts, branches)))
        here = Installation(places, folder, {"HOME": name, "ANTHROPIC_API_KEY": "sk-ant-none"})
        options = Options(resume=file)
        loaded = here.settings(options)
        controller = Controller(here, options, loaded, choose=lambda *_: PacedProvider(""))
        app = ReverieApp(controller)
        async with app.run_test(size=(120, 40)) as pilot:
            await _until(lambda: controller.state.session.session_id)
            await pilot.pause(0.5)
            for _ in range(5):
                await _once(app, pilot, found)
            await _while_growing(app, pilot, found)
    return found


def _screen(app: ReverieApp) -> TreeScreen:
    controller = app.controller
    desk = TreeDesk(
        controller.here,
        lambda: controller.loaded.settings,
        lambda: controller.state.session,
        lambda: controller._need_runtime().conversation,
    )
    return TreeScreen(controller, desk)


async def _once(app: ReverieApp, pilot: Any, found: dict[str, list[float]]) -> None:
    screen = _screen(app)
    began = time.perf_counter()
    await app.push_screen(screen)
    await _until(lambda: screen._model.rows and "Prompt" in screen.list.render_line(0).text)
    found["open"].append((time.perf_counter() - began) * 1_000)
    await app.workers.wait_for_complete()
    await pilot.pause(0.3)
    lines = _drawn_lines(screen)
    for key in KEYS * ROUNDS:
        began = time.perf_counter()
        found["key"].append(await _press(app, screen, key, lines))
        await _until(lambda: screen._previewed and screen._previewed[0] is screen._model.chosen)
        found["preview"].append((time.perf_counter() - began) * 1_000)
        await pilot.pause(0.01)
    await pilot.press("escape")


def _drawn_lines(screen: TreeScreen) -> list[int]:
    """A list that the number of every line that is drawn comes into."""
    lines: list[int] = []
    render = screen.list.render_line

    def noted(y: int) -> Any:
        lines.append(y)
        return render(y)

    screen.list.render_line = noted
    return lines


async def _press(app: ReverieApp, screen: TreeScreen, key: str, lines: list[int]) -> float:
    """Milliseconds from a key to the line that it goes to."""
    lines.clear()
    began = time.perf_counter()
    app.post_message(events.Key(key, None))
    await _until(lambda: screen._model.cursor - screen.list.scroll_offset.y in lines)
    return (time.perf_counter() - began) * 1_000


async def _while_growing(app: ReverieApp, pilot: Any, found: dict[str, list[float]]) -> None:
    screen = _screen(app)
    await app.push_screen(screen)
    await _until(lambda: screen._is_read)
    await app.workers.wait_for_complete()
    growth = asyncio.create_task(_grow(app))
    lines = _drawn_lines(screen)
    for key in KEYS * ROUNDS:
        found["growing"].append(await _press(app, screen, key, lines))
        await pilot.pause(0.03)
    growth.cancel()
    await pilot.press("escape")


async def _grow(app: ReverieApp) -> None:
    """Append call after call to the last turn, with a prompt between them now and then."""
    conversation = app.controller._need_runtime().conversation
    envelope = conversation.envelope
    for number in range(10_000):
        call = {"type": "tool_use", "id": f"g{number}", "name": "Bash", "input": {"command": "ls"}}
        message = {"id": f"msg_g{number}", "role": "assistant", "content": [call]}
        record = envelope.assistant(conversation.leaf, message, request_id=None)
        if number % 40 == 39:
            text, leaf = f"Prompt {number} while the tree is open", conversation.leaf
            record = envelope.prompt(leaf, text, prompt_id="p", permission_mode="default")
        conversation.append(record)
        await asyncio.sleep(GROWTH)


def measure() -> list[Figure]:
    """Open the tree several times and move in it."""
    found = asyncio.run(times())
    size = f"{PROMPTS} prompts, {BRANCHES} branches, {6 * PROMPTS} records"
    keys = f"median {median(found['key']):.1f} ms"
    growing = f"median {median(found['growing']):.1f} ms, {1 / GROWTH:.0f} records a second"
    shown = f"median {median(found['preview']):.1f} ms, from the key on"
    return [
        Figure("tree: opened", median(found["open"]), "ms", 300, size),
        Figure("tree: cursor key, p95", p95(found["key"]), "ms", 30, keys),
        Figure(
            "tree: cursor key while a turn runs, p95", p95(found["growing"]), "ms", 100, growing
        ),
        Figure("tree: cursor key while a turn runs, worst", max(found["growing"]), "ms", 200),
        Figure("tree: preview, p95", p95(found["preview"]), "ms", 50, shown),
    ]


if __name__ == "__main__":
    show(measure())
