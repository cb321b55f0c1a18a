from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from app.background.feedback import payload
from app.background.feedback.drafts import Draft
from app.background.feedback.outbox import Outbox
from app.background.feedback.payload import Client
from app.background_settings import FeedbackSettings
from app.main import ReverieApp
from app.paths import Places
from tests.fakes.clock import FakeClock
from tests.fakes.sessions import Made
from tests.snapshot.states import chat_app, talk

Compare = Callable[..., bool]
SIZES = {"wide": (120, 40), "small": (80, 24)}
SERVICE = FeedbackSettings(sink="http", endpoint="https://feedback.example/reports")
CUT = msgspec.structs.replace(SERVICE, budget_bytes=65_536)
NOWHERE = FeedbackSettings()
SESSION = Made(1)
"""A session that may be attached."""
SESSION.user("why does Edit fail on this file").calls("t1", "Edit", file_path="src/cart.py")
SESSION.result("t1", "old_string was not found").says("The file ends its lines with CRLF.")
SESSION.talk("use a plain write instead", "Written; 12 lines changed. " + "日本語のメモ " * 9)
OUTSIDE = Made(2).talk("ask the wiki", "It says so.").calls("t1", "mcp__wiki__search", query="x")
LONG = Made(3)
for number in range(6):
    LONG.talk(f"part {number} of the log", "a line of it " * 1_400)

CRLF = Draft(
    id="fb-1",
    created="2026-11-02T08:12:00.000Z",
    title="Edit fails on files whose lines end in CRLF",
    body="Editing `src/cart.py` failed twice: the text to replace was not found.\n\n"
    "1. a file with CRLF\n2. ask for a change of two lines\n\n"
    "The person said: “it found it a minute ago”. Mail of the log: jane@shop.example\n",
    category="bug",
    evidence="Edit: old_string was not found (09:00:02)\ntoken = ghp_" + "F4k3" * 9,
    session_id=SESSION.id,
)
FAILED = Draft(
    id="fb-2",
    created="2026-10-31T18:30:00.000Z",
    title="The recap names a file that is not there",
    body="It said `expiry.py`; the file is `cart/expiry.py`.",
    category="model_behaviour",
    status="failed",
    reason="The service said 503. It is not available now. It asks to wait 10 min.",
    at="2026-11-02T08:40:00.000Z",
    retry_after="2026-11-02T09:10:00.000Z",
    session_id=OUTSIDE.id,
)
UNCLEAR = Draft(
    id="fb-3",
    created="2026-10-20T10:00:00.000Z",
    title="日本語の題名はここで切れる、とても長い題名",
    body="A body.",
    status="unclear",
    reason="The connection broke (feedback.example, ReadError). It may have arrived all the same.",
    at="2026-11-01T21:05:00.000Z",
    may_have_arrived=True,
    target="https://feedback.example/reports",
    session_id=LONG.id,
)
ALL = (CRLF, FAILED, UNCLEAR)

VIEWS: dict[str, tuple[FeedbackSettings, Sequence[Draft], Sequence[str]]] = {
    "empty": (SERVICE, (), ()),
    "list": (SERVICE, ALL, ()),
    "failed": (SERVICE, ALL, ("down",)),
    "unclear": (SERVICE, ALL, ("end",)),
    "preview text": (SERVICE, ALL, ("p",)),
    "preview raw": (SERVICE, ALL, ("p", "p")),
    "secrets": (SERVICE, ALL, ("s", "space")),
    "transcript": (SERVICE, ALL, ("t", "down", "space", "down", "down", "o")),
    "withheld": (SERVICE, ALL, ("down", "t")),
    "no room": (CUT, ALL, ("end", "t")),
    "editing": (SERVICE, ALL, ("e", "down", "down", "end", *" Always.")),
    "too large": (SERVICE, (FAILED,), ("e", *["ctrl+v"] * 2, "escape")),
    "export": (SERVICE, ALL, ("x",)),
    "no sink": (NOWHERE, ALL, ()),
    "asked": (NOWHERE, ALL, ("ctrl+s",)),
}


@pytest.fixture(autouse=True)
def pinned_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload, "Client", lambda: Client("reverie", "0.0.0", "linux"))


async def settled(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    while list(pilot.app.workers):
        with suppress(WorkerCancelled):  # what gave way to something newer
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


def stage(tmp_path: Path, name: str, **settings: Any) -> tuple[ReverieApp, Any]:
    """The app, and what opens the screen in it and types."""
    feedback, drafts, keys = VIEWS[name]
    places = Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")
    box = Outbox(places.data / "feedback", FakeClock())
    for each in drafts:
        box.add(each)
    for session in (SESSION, OUTSIDE, LONG):
        session.keep(places, tmp_path)

    async def show(pilot: Pilot[Any]) -> None:
        app: Any = pilot.app
        app.copy_to_clipboard("a line of the report\n" * 1_500)
        await app.controller.desks.background.feedback.look()
        await pilot.press("f5")
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    return chat_app(tmp_path, talk(), feedback=feedback, **settings), show


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", VIEWS)
def test_view(snap_compare: Compare, tmp_path: Path, name: str, size: str) -> None:
    app, show = stage(tmp_path, name)
    assert snap_compare(app, run_before=show, terminal_size=SIZES[size])


@pytest.mark.parametrize("name", ["list", "withheld", "asked", "editing"])
def test_tiny_terminal(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    app, show = stage(tmp_path, name)
    assert snap_compare(app, run_before=show, terminal_size=(40, 12))


@pytest.mark.parametrize("name", ["list", "transcript"])
def test_ascii_signs(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    app, show = stage(tmp_path, name, glyphs="ascii")
    assert snap_compare(app, run_before=show, terminal_size=SIZES["wide"])


@pytest.mark.parametrize("name", ["list", "secrets"])
def test_light_colours(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    app, show = stage(tmp_path, name, theme="dawn")
    assert snap_compare(app, run_before=show, terminal_size=SIZES["wide"])
