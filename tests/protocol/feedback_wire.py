from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.background.feedback.drafts import Draft
from app.background.feedback.outbox import Outbox
from app.background.feedback.payload import build
from app.background.feedback.sender import Result, send
from app.background.feedback.serve import Receiver
from app.background.feedback.services import GithubSink, HttpSink
from app.background.feedback.sinks import Sink
from tests.fakes.clock import FakeClock
from tests.unit.background.feedback.feedback_kit import draft

TOKEN = "t-0123456789"
SHORT = 2.0
"""Seconds: as few as a busy machine needs for an answer that does come."""
ISSUE = {"status": 201, "body": {"number": 7, "html_url": "https://git.invalid/7"}}


class Desk:
    """One outbox with one draft, and a clock."""

    def __init__(self, folder: Path, **fields: Any) -> None:
        self.clock = FakeClock()
        self.box = Outbox(folder / "feedback", self.clock)
        self.box.add(draft(**fields))

    @property
    def draft(self) -> Draft:
        return self.box.get("fb-1")

    def http(self, url: str, timeout: float = 5.0, token: str = TOKEN) -> HttpSink:
        return HttpSink(url, token, self.clock, timeout=timeout)

    def github(self, url: str, timeout: float = 5.0) -> GithubSink:
        return GithubSink("shop/shop", TOKEN, self.clock, base_url=url, timeout=timeout)

    async def send(self, sink: Sink, **more: Any) -> Result:
        return await send(self.box, build(self.draft), sink, self.clock, **more)


@contextmanager
def receiver(folder: Path, token: str = TOKEN, **limits: Any) -> Iterator[Receiver]:
    with Receiver(folder, token, **limits) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()
