from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.checkpoints.plan import Plan, Step
from app.checkpoints.states import ABSENT, FileState
from app.patch import structured_patch
from app.rewind_desk import Outlook, StepView
from tests.snapshot.states import chat_app, opened
from tests.unit.widgets.test_feed import Writer
from widgets.screens.dialogs.rewind import RewindDialog

Compare = Callable[..., bool]
SIZES = {"wide": (120, 40), "small": (80, 24), "tiny": (20, 5)}
ONE, TWO = FileState("file", "1" * 64, 90, 0o644), FileState("file", "2" * 64, 80, 0o644)


def view(name: str, added: int, removed: int, **fields: Any) -> StepView:
    given = {"now": ONE, "then": TWO, "blob": "2" * 64, "writers": ("tool",), **fields}
    return StepView(Step(f"/w/{name}", **given), name, added, removed)


def outlook(**more: Any) -> Outlook:
    files = (
        view("src/session.py", 4, 1),
        view("src/日本語.py", 0, 12, then=ABSENT, blob=None),
        view("notes.md", 2, 2, writers=("tool", "someone"), problem="changed"),
        view("docs", 0, 0, problem="folder"),
        view(
            "build/out.js",
            1,
            90,
            writers=("shell",),
            command="npm run \x1b[31mbuild",
            shell_only=True,
        ),
    )
    given = {
        "uuid": "u",
        "text": "also run the whole [bold]suite[/]",
        "timestamp": "2026-11-02T14:11:00Z",
        "undoes": False,
        "on_branch": True,
        "untracked": ("make -j8 everything",),
        "prompts": 6,
        "files": files,
        "plan": Plan("u", tuple(each.step for each in files), ("/w/current",)),
        "links": ("current",),
        "commands": 3,
        "risky": ("git push", "curl"),
        **more,
    }
    return Outlook(**given)


async def diff(_: StepView) -> list[dict[str, Any]]:
    old = "def expire():\n    deadline = time.time() + ttl\n    return deadline\n"
    return structured_patch(old, old.replace("time.time()", "clock.monotonic()"))


STATES: dict[str, tuple[Outlook, tuple[str, ...]]] = {
    "conversation": (outlook(), ()),
    "both": (outlook(), ("right", "right")),
    "shell_and_overwrite": (outlook(), ("right", "s", "o")),
    "summarise": (outlook(), ("right", "right", "right")),
    "no_checkpoint": (
        outlook(
            plan=None, files=(), links=(), why_not="No file checkpoint found for this message."
        ),
        ("right",),
    ),
    "undo": (
        outlook(undoes=True, text="Conversation and files went back to before “run it”; 3 files"),
        ("right",),
    ),
    "diff": (outlook(), ("right", "d")),
}


SHOWN = [(state, size) for state in STATES for size in ("wide", "small")]


@pytest.mark.parametrize(("state", "size"), [*SHOWN, ("both", "tiny"), ("undo", "tiny")])
def test_rewind(snap_compare: Compare, tmp_path: Path, state: str, size: str) -> None:
    shown, keys = STATES[state]
    writer = Writer()
    writer.user("also run the whole suite")
    writer.assistant({"type": "text", "text": "All pass."})
    app = chat_app(tmp_path, opened(writer, "Fix the flaky checkout test"))

    async def show(pilot: Pilot[Any]) -> None:
        await pilot.app.push_screen(RewindDialog(shown, diff))
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await pilot.pause()

    assert snap_compare(app, terminal_size=SIZES[size], run_before=show)
