"""Sends a draft in many child processes, each killed at another moment of it.

`python -m tests.fakes.dying_sender KIND URL BASE MOMENT…`: a child for each moment, a moment being
the number of a file event, of a step of the sink or of a piece handed over. With moment 0 it lives,
and the number of moments is left in BASE/0/moments.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from app.background.feedback.drafts import Draft
from app.background.feedback.outbox import Outbox
from app.background.feedback.payload import Payload, build
from app.background.feedback.sender import send
from app.background.feedback.services import GithubSink, HttpSink
from app.background.feedback.sinks import Outcome, Progress
from app.clock import SystemClock
from tests.fakes.moments import Moments

TOKEN = "t-0123456789"
EVENTS = frozenset({"open", "os.rename", "os.remove", "os.link", "os.mkdir", "fcntl.flock"})
BODY = "What I saw, line by line.\n" * 20


class TickingSink:
    """A sink that lets the process die before and after it, and after each piece."""

    def __init__(self, inner: HttpSink | GithubSink, moments: Moments) -> None:
        self._inner = inner
        self._moments = moments
        self.name = inner.name
        self.target = inner.target
        self.is_idempotent = inner.is_idempotent
        self.budget = inner.budget

    def encoded(self, payload: Payload) -> bytes:
        return self._inner.encoded(payload)

    def fault(self, payload: Payload) -> str:
        return self._inner.fault(payload)

    async def send(self, payload: Payload, progress: Progress, key: str) -> Outcome:
        def ticking(done: int, total: int) -> None:
            self._moments.tick()
            progress(done, total)

        self._moments.tick()
        outcome = await self._inner.send(payload, ticking, key)
        self._moments.tick()
        return outcome


def sink_of(kind: str, url: str) -> HttpSink | GithubSink:
    if kind == "http":
        return HttpSink(url, TOKEN, SystemClock())
    return GithubSink("shop/shop", TOKEN, SystemClock(), base_url=url)


def draft_of(moment: int) -> Draft:
    return Draft(id=f"fb-{moment}", created="2026-11-02T09:00:00.000Z", title="T", body=BODY)


def box_of(folder: Path) -> Outbox:
    return Outbox(folder / "feedback", SystemClock())


def child(kind: str, url: str, folder: Path, moment: int) -> None:
    moments = Moments(moment)
    box = box_of(folder)
    payload = build(draft_of(moment))

    def step(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "fcntl.flock" or (event in EVENTS and str(folder) in str(arguments)):
            moments.tick()

    sys.addaudithook(step)
    sink = TickingSink(sink_of(kind, url), moments)
    asyncio.run(send(box, payload, sink, SystemClock()))
    (folder / "moments").write_text(str(moments.passed))


def main() -> None:
    kind, url, base = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    import httpx2  # noqa: F401 - once for all children

    build(draft_of(0))
    for moment in map(int, sys.argv[4:]):
        folder = base / str(moment)
        box_of(folder).add(draft_of(moment))
        pid = os.fork()
        if pid == 0:
            child(kind, url, folder, moment)
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
