"""Keeps what files held before a session's tools change them, and records it in the transcript.

The bytes are safe and their record is written before a tool's own change happens; what a shell
command changed is recorded when it has ended (spec/checkpoints.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import threading
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from msgspec import structs

from app.agent.caller import Tell
from app.agent.conversation import Conversation
from app.agent.file_records import load_history
from app.agent.tools.base import CALL, ToolFailure
from app.checkpoints.blobs import BlobStore
from app.checkpoints.history import Change, FileHistory, delta_data, gap_data, snapshot_data
from app.checkpoints.states import FileState, open_file
from app.checkpoints.watch import FolderWatch
from app.clock import Clock, timestamp
from app.errors import StorageError
from app.sessions.foreign.companions import copy_backups
from app.sessions.records import Record, new_record
from app.state.model import Severity

BROKEN_OFF = "A command was broken off before it was seen what it had changed."


class FileTracker:
    """The file history of one open session; one writer, on the event loop."""

    def __init__(
        self,
        conversation: Conversation,
        store: BlobStore,
        clock: Clock,
        watch: FolderWatch | None,
        tell: Tell,
        source: Path | None = None,
    ) -> None:
        """`watch` is None where no shell is offered; `source` is another program's transcript
        whose backups have not been copied yet.
        """
        self.store = store
        self._conversation = conversation
        self._clock = clock
        self._watch = watch
        self._tell = tell
        self._message = ""
        self._told: set[str] = set()
        self._source = source
        self._history: FileHistory | None = None
        self._loading = threading.Lock()
        self._preparing: asyncio.Task[None] | None = None
        self._shell = asyncio.Lock()

    @property
    def history(self) -> FileHistory:
        """What is known of files; read from the transcript when it is first asked for.

        Any thread may ask: there is one history, whoever comes first.
        """
        with self._loading:
            if self._history is None:
                self._history = load_history(self._conversation.view.graph)
            return self._history

    async def fetch(self) -> None:
        """Copy what another program kept of the session's files; what cannot be is told."""
        source, self._source = self._source, None
        if source is not None:
            try:
                await asyncio.to_thread(copy_backups, source, self.store.folder)
            except StorageError as error:
                self._source = source  # another time there may be room
                self._tell_once(f"Backups of files were not copied. {error.happened}", "warning")

    async def begin(self, prompt: Record) -> None:
        """Write a prompt to the transcript: what changes from here on belongs to it."""
        await self.fetch()
        if self._watch is not None and self._preparing is None:
            # The model takes longer to answer than this takes as a rule.
            work = asyncio.to_thread(self._watch.prepare)
            self._preparing = asyncio.create_task(work)
        history = await asyncio.to_thread(lambda: self.history)
        if history.horizon >= 0:
            await asyncio.to_thread(self.store.keep_only, history.blobs())
        self._message = prompt.uuid or ""
        session_id = self._conversation.session_id
        data = snapshot_data(self._message, session_id, timestamp(self._clock.now()))
        self._conversation.append(new_record(data), prompt)
        history.add_point(self._message, self._conversation.view.length - 2)

    async def close(self) -> None:
        """End what still looks through the project."""
        if self._watch is not None:
            self._watch.give_up()
        if self._preparing is not None:
            await asyncio.wait([self._preparing])

    async def keep(self, target: Path, new: bytes, *, what: str, old: bytes | None) -> None:
        """Keep what the resolved `target` holds, `old`, before `new` is written to it.

        `old` is None where there is no file yet. Raises `ToolFailure` when it cannot be kept or
        holds something else by now; then it must not be changed.
        """
        change = await asyncio.to_thread(_saved, self.store, target, new, what, old)
        self.record(structs.replace(change, message=self._message))

    @contextlib.asynccontextmanager
    async def around(self, command: str) -> AsyncGenerator[None, None]:
        """Record what the project's files went through while a shell command ran."""
        watch = self._watch
        if watch is None:
            yield
            return
        async with self._shell:
            message, call = self._message, CALL.get()
            why = await asyncio.to_thread(watch.before)
            try:
                yield
            finally:
                try:
                    found = () if why else await asyncio.to_thread(watch.after)
                except asyncio.CancelledError:
                    self._note_gap(message, command, BROKEN_OFF)
                    raise
                self._note_gap(message, command, why or watch.gap)
                self.record(
                    *(
                        Change(
                            message,
                            each.path,
                            each.before,
                            each.before.sha256 or None,
                            each.left,
                            "shell",
                            command,
                        )
                        for each in found
                    ),
                    call=call,
                )

    def _note_gap(self, message: str, command: str, reason: str) -> None:
        """Write down that it is not known what a command changed, and tell it once."""
        if not reason:
            return
        self._tell_once(reason, "info")
        conversation = self._conversation
        now = timestamp(self._clock.now())
        session_id = conversation.session_id
        data = gap_data(message, command, reason, session_id=session_id, timestamp=now)
        conversation.append(new_record(data))
        self.history.add_gap(command, conversation.view.length - 1)

    def _tell_once(self, sentence: str, severity: Severity) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._tell(sentence, severity)

    def record(self, *changes: Change, call: str = "", then: Sequence[Record] = ()) -> None:
        """Write what changed to the transcript in one go, with `then` the rewind that did it.

        Raises `StorageError` when a rewind cannot be written; then nothing of it is.
        """
        now = timestamp(self._clock.now())
        first = self._conversation.view.length
        records = [
            new_record(
                delta_data(
                    change,
                    message=call or CALL.get() or change.message,
                    session_id=self._conversation.session_id,
                    version=self.history.version(change.path) + 1,
                    timestamp=now,
                )
            )
            for change in changes
        ]
        if then:
            self._conversation.append_now(*records, *then)
        elif records:
            self._conversation.append(*records)
        for number, change in enumerate(changes):
            self.history.add(structs.replace(change, position=first + number))


def _saved(store: BlobStore, target: Path, new: bytes, what: str, old: bytes | None) -> Change:
    path = str(target)
    descriptor, before = open_file(path)
    blob = None
    if descriptor is not None:
        with os.fdopen(descriptor, "rb") as file:
            try:
                blob = store.put_from(file)
                store.sync()
            except StorageError as error:
                raise ToolFailure(f"{error} It was not changed.") from error
        before = structs.replace(before, sha256=blob)
    expected = None if old is None else hashlib.sha256(old).hexdigest()
    if blob != expected or before.kind not in ("file", "absent"):
        raise ToolFailure(f"{path} has changed since it was read. Read it again first.")
    left = FileState("file", hashlib.sha256(new).hexdigest(), len(new), before.mode)
    folders = tuple(str(folder) for folder in reversed(target.parents) if not folder.exists())
    return Change("", path, before, blob, left, "tool", what, folders)
