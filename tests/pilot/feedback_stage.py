"""Opens the screen of feedback over the real desk and an outbox in a temporary folder."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from textual import events
from textual.worker import WorkerCancelled

from app.background.feedback.drafts import Draft
from app.background.feedback.outbox import Outbox
from app.background.feedback.transcript import Message
from app.feedback_desk import FeedbackDesk, Prepared
from app.state.feedback import Feedback
from tests.fakes.clock import FakeClock
from tests.fakes.sessions import Made
from tests.pilot.picker import keep
from tests.pilot.stage import Window, window
from tests.protocol.feedback_wire import TOKEN
from widgets.screens.feedback import FeedbackScreen

MAIL = "me@example.com"


def draft(number: int = 1, **fields: Any) -> Draft:
    """Of two drafts the one with the larger number is newer, and so above the other."""
    made = {
        "created": f"2026-11-02T08:{number:02d}:00.000Z",
        "title": f"Fault {number}",
        "body": "The list was empty.",
    }
    return Draft(id=f"fb-{number}", **{**made, **fields})


def box_of(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path / "data" / "feedback", FakeClock())


def set_sink(tmp_path: Path, kind: str, endpoint: str, **more: Any) -> None:
    (tmp_path / "config").mkdir(exist_ok=True)
    settings = {"sink": kind, "endpoint": endpoint, "token": TOKEN, **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    (tmp_path / "config" / "settings.toml").write_text("\n".join(["[feedback]", *lines]) + "\n")


def a_session(tmp_path: Path) -> Made:
    """One of four messages, which can be attached."""
    made = Made(1).talk("first prompt", "first answer").talk("second prompt", "second answer")
    keep(tmp_path, made)
    return made


class Review:
    """The screen, and what lies on the disk."""

    def __init__(self, seen: Window, box: Outbox) -> None:
        self.seen = seen
        self.box = box

    @property
    def screen(self) -> FeedbackScreen:
        found = self.seen.app.screen
        assert isinstance(found, FeedbackScreen)
        return found

    @property
    def desk(self) -> FeedbackDesk:
        return self.seen.controller.desks.background.feedback

    @property
    def state(self) -> Feedback:
        return self.seen.state.feedback

    # What a person does

    async def settled(self) -> None:
        await self.seen.pilot.pause()
        while list(self.seen.app.workers):
            with suppress(WorkerCancelled):  # what gave way to something newer
                await self.seen.app.workers.wait_for_complete()
            await self.seen.pilot.pause()

    async def keys(self, *names: str) -> None:
        await self.seen.pilot.press(*names)
        await self.settled()

    async def burst(self, *names: str) -> None:
        """Keys that arrive all at once, before any of them has done anything."""
        for name in names:
            self.seen.app.post_message(events.Key(name, name if len(name) == 1 else None))
        await self.seen.pilot.pause()
        await self.settled()

    async def ended(self, number: int = 1) -> str:
        """Wait for the end of the attempt with this number; returns how it ended."""

        def is_over(state: Any) -> bool:
            attempt = state.feedback.attempt
            return attempt is not None and attempt.number >= number

        await self.seen.until(is_over)
        await self.until(lambda feedback: feedback.sending is None)
        await self.settled()
        assert self.state.attempt is not None and self.state.attempt.number == number
        return self.state.attempt.ending

    async def until(self, holds: Callable[[Feedback], object]) -> None:
        await self.seen.until(lambda state: holds(state.feedback))

    # What is seen

    def shown(self) -> str:
        lines: list[str] = []
        names = "Static, TreeList, ReportEditor, FeedbackLine"
        for widget in self.screen.query(names):
            if widget.display and widget.region:
                drawn = [widget.render_line(y).text for y in range(widget.size.height)]
                lines += [line.rstrip() for line in drawn]
        return "\n".join(lines)

    def at(self) -> str:
        """The line under the cursor of the one that has the keys."""
        pane = self.screen.pane
        rows = pane if pane.display and pane.has_cursor else self.screen.list
        return rows.render_line(rows._chosen - rows.scroll_offset.y).text.rstrip()

    def said(self) -> str:
        return " ".join(notice.text for notice in self.seen.state.notices)

    def rows(self) -> str:
        """What the pane shows as preview, its rows joined."""
        return "".join(text for row in self.screen._rows for text, _ in row)

    # What there is

    def disk(self, number: int = 1) -> Draft:
        return self.box.get(f"fb-{number}")

    def ids(self) -> list[str]:
        return [each.id for each in self.box.listing().drafts]

    @property
    def prepared(self) -> Prepared:
        found = self.screen._prepared
        assert found is not None
        return found

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.prepared.payload.data)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.screen.messages.messages


@asynccontextmanager
async def review(
    tmp_path: Path, *drafts: Draft, size: tuple[int, int] = (120, 40), opened: bool = True
) -> AsyncIterator[Review]:
    box = box_of(tmp_path)
    for each in drafts:
        box.add(each)
    async with window(tmp_path, size=size) as seen:
        found = Review(seen, box)
        await found.until(lambda feedback: feedback.is_read)
        if opened:
            await found.keys("f5")
        yield found
