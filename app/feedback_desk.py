"""Intents about feedback: drafts are looked at, changed, sent, exported, discarded.

Nothing here opens a connection but `send`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Coroutine
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from app.background.feedback.configured import NoSink, configured_sink
from app.background.feedback.drafts import (
    LIFETIME,
    MOST_DRAFTS,
    Draft,
    has_same_texts,
    new_draft,
)
from app.background.feedback.outbox import REMOVED, Outbox
from app.background.feedback.payload import Choice, Payload, build
from app.background.feedback.sender import STOPPED, Refused, Result, send
from app.background.feedback.sinks import Failed, Sent, Sink, export
from app.background.feedback.transcript import Transcript, load_transcript, read_transcript
from app.background.frame import Frame
from app.background.registry import Job, Skip
from app.errors import ReverieError
from app.plain_text import cut, plain_line
from app.sessions.catalogue import find_transcript
from app.state.background import Gate, Mechanism
from app.state.facts import FeedbackSeen
from app.state.feedback import Attempt, DraftSeen, Ending, Feedback, Sending
from app.state.model import Severity

NAME: Final = "feedback"
TOO_LARGE: Final = 413
MOST_TITLE: Final = 80
"""Characters of a report's first line that become its title."""


class Prepared(msgspec.Struct, frozen=True):
    """What would leave, to the byte, and where to."""

    payload: Payload
    data: bytes
    sink: Sink | None = None
    trouble: str = ""
    """Why nothing can be sent, as sentences; empty when there is a sink."""

    @property
    def target(self) -> str:
        """The address, repository or file; empty where there is none."""
        return "" if self.sink is None else self.sink.target


class FeedbackDesk:
    """The outbox of this installation."""

    def __init__(
        self,
        frame: Frame,
        notice: Callable[[str, Severity], None],
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        """`spawn` runs a coroutine that ends with the app."""
        self._frame = frame
        self._scene = frame.scene
        self._notice = notice
        self._spawn = spawn
        here = frame.scene.here
        self._outbox = Outbox(here.places.data / "feedback", here.clock)
        self._looking = asyncio.Lock()
        """One after the other, so that what is told last is what was seen last."""
        self._attempts = 0
        self._told: set[str] = set()
        """Damaged files that were told of."""

    # What is known

    @property
    def _seen(self) -> Feedback:
        return self._scene.state().feedback

    def _emit(self, **fields: Any) -> None:
        self._scene.emit(FeedbackSeen(replace(self._seen, **fields)))

    async def look(self) -> None:
        """Find out anew what lies in the outbox."""
        async with self._looking:
            listing = await asyncio.to_thread(self._outbox.listing)
            self._emit(
                drafts=tuple(_seen(draft) for draft in reversed(listing.drafts)),
                damaged=listing.damaged,
                trouble=listing.trouble,
                is_read=True,
            )
        self._gone(listing.expired, f"older than {LIFETIME.days} days")
        for name in listing.damaged:
            if name not in self._told:
                self._told.add(name)
                self._notice(
                    f"A draft of feedback cannot be read and is kept as {name}.", "warning"
                )

    def look_soon(self) -> None:
        """The same beside everything else."""
        self._spawn(self.look())

    def queued(self, _draft: Draft, evicted: tuple[Draft, ...]) -> None:
        """The model has queued a draft; `evicted` made room for it."""
        self._gone(evicted, f"only {MOST_DRAFTS} are kept")
        self.look_soon()

    def _gone(self, drafts: tuple[Draft, ...], why: str) -> None:
        """Show in the panel that drafts have left unsent."""
        for draft in drafts:
            title = f"“{cut(plain_line(draft.title), MOST_TITLE)}”"

            async def tell(_job: Job, title: str = title) -> str:
                return f"removed, {why}: {title}; for a while in {self._outbox.folder / REMOVED}"

            self._frame.run(NAME, title, tell)

    @property
    def mechanism(self) -> Mechanism:
        """Whether the model may queue drafts, for the panel."""
        is_on = self._scene.settings().feedback.drafts == "on"
        words = "on; nothing leaves unless you send it" if is_on else "switched off in the settings"
        gate = Gate("enabled", is_on, words)
        return Mechanism(NAME, "Feedback drafts", "feedback.drafts", is_on, (gate,))

    # Drafts

    async def write(self, text: str) -> Draft:
        """A draft of the person's own about the session on screen. Raises `ReverieError`."""
        first = next((line for line in text.splitlines() if line.strip()), "")
        title = cut(plain_line(first).strip(), MOST_TITLE)
        session, here = self._scene.state().session, self._scene.here
        draft = new_draft(
            here.clock,
            title,
            "" if text.strip() == title else text,
            session_id=session.session_id,
            project=str(here.folder),
        )
        await self.put_back(draft)
        return draft

    async def put_back(self, draft: Draft) -> None:
        """Store a draft, as after it was discarded. Raises `ReverieError`."""
        self.queued(draft, await asyncio.to_thread(self._outbox.add, draft))
        await self.look()

    async def read(self, draft_id: str) -> Draft:
        """A draft as it stands on disk. Raises DraftNotFound."""
        return await asyncio.to_thread(self._outbox.get, draft_id)

    async def save(self, before: Draft, title: str, body: str, evidence: str) -> Draft:
        """Give a draft other texts, where it still has those of `before`.

        Raises DraftNotFound, DraftTooLarge, `ReverieError` when somebody else has changed it, and
        `StorageError` also while it is being sent.
        """

        def changed(draft: Draft) -> Draft:
            if not has_same_texts(draft, before):
                raise ReverieError("Another program has changed this draft meanwhile.")
            return replace(draft, title=title, body=body, evidence=evidence)

        draft = await asyncio.to_thread(self._outbox.change, before.id, changed)
        await self.look()
        return draft

    async def set_aside(self, draft_id: str, text: str) -> Path:
        """Keep a text that its draft cannot take in a file. Raises `StorageError`."""
        return await asyncio.to_thread(self._outbox.set_aside, draft_id, text)

    async def discard(self, draft_id: str) -> Draft:
        """Delete a draft; returns it, so that it can be put back. Raises `ReverieError`."""
        draft = await self.read(draft_id)
        await asyncio.to_thread(self._outbox.discard, draft_id)
        await self.look()
        return draft

    # What would leave

    async def transcript(self, draft: Draft) -> Transcript:
        """The branch in use of the draft's session. Raises `ReverieError` where there is none."""
        session, here = self._scene.state().session, self._scene.here
        if not draft.session_id:
            raise ReverieError("This draft is about no session, so it has no transcript.")
        if draft.session_id == session.session_id:
            return await asyncio.to_thread(read_transcript, session.session_id, session.view)

        def load() -> Transcript:
            folder = Path(draft.project) if draft.project else here.folder
            return load_transcript(find_transcript(here.places, folder, draft.session_id))

        return await asyncio.to_thread(load)

    async def prepare(
        self,
        draft: Draft,
        transcript: Transcript | None = None,
        chosen: Choice | None = None,
        restored: Collection[str] = (),
    ) -> Prepared:
        """What `send` would send; a transcript goes along only where it is given and chosen."""
        here = self._scene.here
        sink, trouble = None, ""
        settings = self._scene.settings().feedback
        try:
            sink = configured_sink(settings, here.places, here.home, here.clock)
        except NoSink as error:
            trouble = str(error)
        budget = settings.budget_bytes if sink is None else sink.budget

        def made() -> Prepared:
            payload = build(draft, transcript, chosen, budget=budget, restored=restored)
            data = payload.data if sink is None else sink.encoded(payload)
            return Prepared(payload, data, sink, trouble)

        return await asyncio.to_thread(made)

    # Leaving

    def send(self, prepared: Prepared, *, again: bool = False) -> None:
        """Send exactly what was prepared, in one request; how it ended is told by the state.

        `again` is the person's word where it may have arrived before.
        """
        sink, payload = prepared.sink, prepared.payload
        if sink is None:
            self._ended(payload.draft.id, "refused", prepared.trouble)
            return
        if self._seen.sending is not None:
            self._notice("Another report is being sent; wait until it is done.", "warning")
            return

        async def work(job: Job) -> str:
            def progress(done: int, total: int) -> None:
                self._emit(sending=Sending(payload.draft.id, job.id, done, total))
                job.enter(f"{done * 100 // max(total, 1)} %")

            clock = self._scene.clock
            try:
                result = await send(
                    self._outbox, payload, sink, clock, again=again, progress=progress
                )
            except ReverieError as error:
                self._ended(payload.draft.id, "refused", str(error))
                raise
            except asyncio.CancelledError:
                self._ended(payload.draft.id, "aborted", self._why_stopped(payload.draft))
                raise
            return self._told_of(payload.draft, sink, result)

        title = cut(plain_line(payload.draft.title), MOST_TITLE)
        job_id = self._frame.run(NAME, f"sends “{title}” to {plain_line(sink.target)}", work)
        self._emit(sending=Sending(payload.draft.id, job_id, 0, len(prepared.data)))
        self._frame.registry.task(job_id).add_done_callback(lambda _: self._over(job_id))

    def _over(self, job_id: str) -> None:
        """The attempt's job has ended, perhaps before it began."""
        if self._seen.sending is not None and self._seen.sending.task_id == job_id:
            self._emit(sending=None)

    def _why_stopped(self, draft: Draft) -> str:
        """What a stopped attempt has come to; the file is small, and the loop may be ending."""
        try:
            return self._outbox.get(draft.id).reason or STOPPED.reason
        except ReverieError:
            return STOPPED.reason

    def stop(self) -> None:
        """Stop the attempt that goes on; what it has handed over may have arrived."""
        if self._seen.sending is not None:
            self._frame.registry.kill(self._seen.sending.task_id)

    def _told_of(self, draft: Draft, sink: Sink, result: Result) -> str:
        """The end of an attempt in a few words. Raises `ReverieError` or `Skip` where it failed."""
        match result:
            case Sent():
                words = f"Sent: {result.remote_id}. {result.note}".strip()
                self._ended(draft.id, "sent", words)
                return words
            case Refused():
                self._ended(draft.id, "refused", result.reason, needs_word=result.is_unclear)
                raise Skip(result.reason)
            case Failed():
                is_open = result.is_unclear and not sink.is_idempotent
                ending = "unclear" if is_open else "failed"
                is_too_large = result.status == TOO_LARGE
                self._ended(draft.id, ending, result.reason, is_too_large=is_too_large)
                raise ReverieError(result.reason)

    def _ended(self, draft_id: str, ending: Ending, words: str, **more: bool) -> None:
        self._attempts += 1
        attempt = Attempt(draft_id, ending, words, self._attempts, **more)
        self._emit(sending=None, attempt=attempt)
        self._notice(words, "info" if ending == "sent" else "warning")
        self.look_soon()

    async def export(self, prepared: Prepared, name: str) -> Path:
        """Write what would leave to a file; the draft stays. Raises `ReverieError`."""
        payload, here = prepared.payload, self._scene.here
        path = here.home / name[2:] if name.startswith("~/") else here.folder / name
        if name.startswith("~") and not name.startswith("~/"):
            raise ReverieError(f"{name} names no folder here; your own is ~/.")
        return await asyncio.to_thread(export, path, payload.draft.id, payload.data)


def _seen(draft: Draft) -> DraftSeen:
    return DraftSeen(
        draft.id,
        draft.title,
        draft.created,
        draft.size,
        draft.status,
        draft.reason,
        draft.retry_after,
        hashlib.sha256(f"{draft.title}\0{draft.body}\0{draft.evidence}".encode()).hexdigest(),
    )
