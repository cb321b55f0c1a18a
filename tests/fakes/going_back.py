"""A session over a folder, in which a test plays the model, the shell and the person."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from app.agent.conversation import Conversation
from app.agent.file_tracker import FileTracker
from app.agent.rewinder import FilesPart, Rewinder, Rewound
from app.agent.tools.atomic_write import write_atomic
from app.checkpoints.blobs import BlobStore
from app.checkpoints.plan import Plan
from app.checkpoints.watch import FolderWatch
from app.sessions.envelope import Envelope
from app.sessions.graph import GraphView, MessageGraph
from app.sessions.journal import Journal
from tests.fakes.clock import FakeClock

T = TypeVar("T")


def files_below(root: Path) -> list[bytes]:
    """The plain files of a folder, as a `list_files` without a process."""
    found: list[bytes] = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                found.append(os.fsencode(path.relative_to(root)))
    return found


class _Here(ThreadPoolExecutor):
    """Does at once what it is given, so that there is no thread: a fork then harms nobody."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - handed on to the caller, as a thread would
            done.set_exception(error)
        return done


class GoingBack:
    """Prompts, edits, commands and rewinds over the folder `root`; `data` is the session's."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.data = data
        self.told: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_Here())
        clock = FakeClock()
        view = GraphView(MessageGraph([]), 0, None)
        envelope = Envelope("s", clock, cwd=lambda: str(self.root), branch=lambda: "")
        self.talk = Conversation(envelope, Journal("s", None), view, lambda _: None, lambda _: None)
        self.store = BlobStore(data / "file-history")
        watch = FolderWatch(self.root, data / "baseline", self.store, files_below)
        self.tracker = FileTracker(
            self.talk, self.store, clock, watch, lambda words, _: self.told.append(words)
        )
        self.note = data / "rewind.json"
        self.rewinder = Rewinder(self.talk, self.tracker, (self.root,), self.note)

    def close(self) -> None:
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    def prompt(self, text: str = "go on") -> str:
        """Say something; returns the prompt's uuid."""
        record = self.talk.envelope.prompt(
            self.talk.leaf, text, prompt_id="p", permission_mode="default"
        )
        self.run(self.tracker.begin(record))
        return record.uuid or ""

    def write(self, name: str, content: bytes) -> None:
        """The model writes a file."""
        target = self.root / name
        old = target.read_bytes() if target.exists() else None
        self.run(self.tracker.keep(target, content, what="Write", old=old))
        write_atomic(target, content)

    def shell(self, act: Callable[[], object], command: str = "make") -> None:
        """A command of the model's does something."""

        async def work() -> None:
            async with self.tracker.around(command):
                act()

        self.run(work())

    def plan(self, message: str) -> Plan:
        return self.run(self.rewinder.plan(message))

    def files(self, message: str, *, with_shell: bool = False, force: bool = False) -> Rewound:
        """Files back to before a message."""
        part = FilesPart(self.plan(message), with_shell, force)
        return self.run(self.rewinder.rewind(message, "files", part))

    def undo(self) -> Rewound:
        return self.run(self.rewinder.undo())

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Every file's mode and bytes, by its relative name; links with their target."""
        found: dict[str, tuple[int, bytes]] = {}
        for folder, folders, names in os.walk(self.root):
            for name in [*names, *folders]:
                path = Path(folder) / name
                key = str(path.relative_to(self.root))
                if path.is_symlink():
                    found[key] = (0, b"-> " + os.fsencode(path.readlink()))
                elif path.is_file():
                    found[key] = (path.stat().st_mode & 0o7777, path.read_bytes())
        return found
