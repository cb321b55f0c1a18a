"""Runs one turn in many child processes, each killed at another moment of it.

`python -m tests.fakes.killed FOLDER MOMENT…`: a child for each moment, a moment being the number of
a stream event, fact or write. Prints how many moments a whole turn has.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from app.models.provider import BlockGrew, BlockStarted, BlockStopped, ModelRequest, StreamEvent
from app.storage.local import FileLog
from tests.fakes.moments import Moments
from tests.fakes.provider import ScriptedProvider, called, ended, said, started
from tests.fakes.stage import stage

THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "s"}


def scripts() -> list[list[Any]]:
    """Two rounds of tools, two of them at once, and an answer."""
    thought = [
        BlockStarted(0, "thinking"),
        BlockGrew(0, "thinking", "Let me see."),
        BlockStopped(0, THOUGHT),
    ]
    return [
        [
            started(1),
            *thought,
            *said("I look first.", 1, pieces=4),
            *called("LS", {"path": "."}, "t1", 2),
            *called("Glob", {"pattern": "*"}, "t2", 3),
            ended("tool_use"),
        ],
        [started(2), *called("Bash", {"command": "echo made"}, "t3", 0), ended("tool_use")],
        [started(3), *said("Everything is there.", 0, pieces=8), *said("Bye.", 1), ended()],
    ]


class CountingProvider(ScriptedProvider):
    """Tells of each event before the loop hears it, and notes which blocks were whole."""

    def __init__(self, moments: Moments, notes: Path, *scripts: Sequence[Any]) -> None:
        super().__init__(*scripts)
        self.moments = moments
        self.notes = notes

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        async for event in super().stream(request):
            self.moments.tick()
            yield event
            if isinstance(event, BlockStopped):
                with self.notes.open("a") as out:
                    out.write("whole\n")


async def turn(folder: Path, moments: Moments) -> None:
    play = await stage(folder)
    provider = CountingProvider(moments, folder / "notes", *scripts())
    play.runtime.loop.caller.provider = provider
    play.runtime.gate.set_mode("bypassPermissions")
    emit = play.runtime.loop.emit

    def counting_emit(fact: Any) -> None:
        moments.tick()
        emit(fact)

    play.runtime.loop.emit = counting_emit
    play.runtime.runner._emit = counting_emit
    append = FileLog.append

    def counting_append(self: FileLog, lines: Sequence[bytes]) -> None:
        moments.tick()
        append(self, lines)
        moments.tick()

    FileLog.append = counting_append
    await play.turn("Look at everything.")
    await play.runtime.close()


def child(folder: Path, deadly: int) -> None:
    moments = Moments(deadly)
    asyncio.run(turn(folder, moments))
    (folder / "moments").write_text(str(moments.passed))


def main() -> None:
    base = Path(sys.argv[1])
    for moment in map(int, sys.argv[2:]):
        folder = base / str(moment)
        folder.mkdir()
        pid = os.fork()
        if pid == 0:
            child(folder, moment)
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
