"""A memory folder without a disk: documents in a dictionary, every change in a history."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import msgspec

from app.errors import ReverieError
from app.memory.entry import gauge
from app.memory.merge import merge
from app.memory.pages import Clash, Found, Merged, Page, PastVersion
from app.patch import structured_patch
from app.state import facts as f
from app.state.model import Memory, MemoryDocument

Who = Literal["you", "assistant", "dream", "other"]
ENTRY = "MEMORY.md"
NOW = 1_793_610_000.0
"""Seconds since the epoch of `tests.fakes.clock.START`."""


def version_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class FakeMemoryDesk:
    """The screen's desk; `refuses` makes every write fail with its sentence, `unreadable` names
    documents that cannot be read, and `slow` is waited for before a merge.
    """

    def __init__(
        self,
        emit: Callable[[f.Fact], None],
        texts: dict[str, str] | None = None,
        *,
        orphans: Sequence[str] = (),
        ages: dict[str, float] | None = None,
        writers: dict[str, Who] | None = None,
        **fields: Any,
    ) -> None:
        self._emit = emit
        self.texts = dict(texts or {})
        self.trashed: list[str] = []
        self.refuses = ""
        self.unreadable: set[str] = set()
        self.slow: Callable[[], Awaitable[None]] | None = None
        self.asked: list[str] = []
        self.aside: list[tuple[str, str]] = []
        self.changes: dict[str, list[tuple[PastVersion, str]]] = {}
        self.sections: list[tuple[str, list[tuple[str, str, int]]]] = []
        self.is_open = False
        self._orphans = orphans
        self._ages = dict(ages or {})
        self._writers: dict[str, Who] = dict(writers or {})
        self._fields = fields
        self._count = 0
        for name, text in self.texts.items():
            self._note(name, "", text, self._writers.get(name, "you"), "created")

    # What tests do

    def write_as(self, who: Who, name: str, text: str, why: str = "") -> None:
        """Another one writes the document."""
        self._note(name, self.texts.get(name, ""), text, who, "changed", why)
        self.texts[name] = text
        self._writers[name] = who
        self._seen()

    def delete_as_other(self, name: str) -> None:
        """Another program deletes the document."""
        self._note(name, self.texts.pop(name), "", "other", "deleted", deletion=True)
        self._seen()

    def announce(self) -> None:
        """Show what is there, as the watcher does."""
        self._seen()

    def _note(
        self, name: str, old: str, new: str, who: Who, what: str, why: str = "", **flags: bool
    ) -> None:
        self._count += 1
        hunks = structured_patch(old, new)
        lines = [line for hunk in hunks for line in hunk["lines"]]
        past = PastVersion(
            id=f"c{self._count}",
            at=f"2026-11-02T08:{self._count:02d}:00Z",
            who=who,
            what=what,
            why=why,
            session_id="",
            name=name,
            added=sum(line.startswith("+") for line in lines),
            removed=sum(line.startswith("-") for line in lines),
            is_current=False,
            is_deletion=flags.get("deletion", False),
        )
        self.changes.setdefault(name, []).insert(0, (past, new))

    def _seen(self) -> None:
        names = sorted(self.texts, key=lambda name: (name != ENTRY, name))
        lines, units = gauge(self.texts.get(ENTRY, ""))
        memory = Memory(
            folder="/home/you/memory",
            documents=tuple(self._document(name) for name in names),
            trashed=tuple(self._document(name) for name in reversed(self.trashed)),
            lines=lines,
            code_units=units,
            **self._fields,
        )
        self._emit(f.MemorySeen(memory))

    def _document(self, name: str) -> MemoryDocument:
        text = self.texts.get(name, "")
        age = self._ages.get(name, 3_600.0)
        made = sum(past.what != "set_aside" for past, _ in self.changes.get(name, ()))
        return MemoryDocument(
            name,
            len(text.encode("utf-8", "surrogatepass")),
            NOW - age + made,
            self._writers.get(name, "you"),
            name in self._orphans,
        )

    def _check(self) -> None:
        if self.refuses:
            raise ReverieError(self.refuses, kept="Your text is still in the editor.")

    # What the screen asks

    async def open(self) -> None:
        self.is_open = True
        self._seen()

    async def close(self) -> None:
        self.is_open = False

    async def read(self, name: str) -> Page:
        self.asked.append(name)
        if name in self.unreadable:
            raise ReverieError(f"{name} cannot be used: it holds NULs, so it is no text.")
        if name not in self.texts:
            raise ReverieError(f"There is no document {name}.")
        text = self.texts[name]
        return Page(name, text, version_of(text))

    async def save(self, page: Page, text: str) -> Page | Clash:
        self._check()
        now = self.texts.get(page.name)
        version = "new" if now is None else version_of(now)
        if version != page.version:
            if page.name in self.unreadable:
                return Clash(Page(page.name, "", version), f"{page.name} holds NULs.")
            return Clash(Page(page.name, now or "", version))
        self.unreadable.discard(page.name)
        self.write_as("you", page.name, text)
        return Page(page.name, text, version_of(text))

    async def merge(self, page: Page, text: str, theirs: Page) -> Merged:
        if self.slow is not None:
            await self.slow()
        return merge(page.text, text, theirs.text)

    async def set_aside(self, name: str, text: str) -> None:
        self._check()
        self.aside.append((name, text))
        self._note(name, self.texts.get(name, ""), text, "you", "set_aside")

    async def create(self, name: str) -> Page:
        if ".." in name or name in self.texts:
            raise ReverieError(f"{name} cannot be a document's name.")
        return Page(name, "", "new")

    async def rename(self, name: str, new: str) -> str:
        self._check()
        if new in self.texts:
            raise ReverieError(f"There is a document {new} already.")
        self.texts[new] = self.texts.pop(name)
        self.changes[new] = self.changes.pop(name, [])
        self._relink(f"]({name})", f"]({new})")
        self._seen()
        return new

    def _relink(self, old: str, new: str) -> None:
        """Change the entry as the real desk does when a document is renamed."""
        before = self.texts.get(ENTRY, "")
        if old in before:
            self._note(ENTRY, before, before.replace(old, new), "you", "changed")
            self.texts[ENTRY] = before.replace(old, new)

    async def trash(self, name: str) -> None:
        self._check()
        self._note(name, self.texts.pop(name), "", "you", "deleted", deletion=True)
        self.trashed.append(name)
        self._seen()

    async def restore(self, name: str, change_id: str) -> Page:
        text = await self.past_text(name, change_id)
        if name in self.trashed:
            self.trashed.remove(name)
        self.write_as("you", name, text, "restored")
        return Page(name, text, version_of(text))

    async def history(self, name: str) -> list[PastVersion]:
        found = [past for past, _ in self.changes.get(name, [])]
        written = (past.id for past in found if past.what != "set_aside")
        current = next(written, "") if name in self.texts else ""
        return [msgspec.structs.replace(past, is_current=past.id == current) for past in found]

    async def diff(self, name: str, change_id: str) -> list[dict[str, Any]]:
        found = self.changes[name]
        place = next(i for i, (past, _) in enumerate(found) if past.id == change_id)
        old = found[place + 1][1] if place + 1 < len(found) else ""
        return structured_patch(old, found[place][1])

    async def past_text(self, name: str, change_id: str) -> str:
        found = self.changes[name]
        place = next(i for i, (past, _) in enumerate(found) if past.id == change_id)
        if found[place][0].is_deletion:  # what it held before
            older = found[place + 1 :]
            return next((text for past, text in older if past.what != "set_aside"), "")
        return found[place][1]

    async def search(self, query: str) -> list[Found]:
        self.asked.append(f"/{query}")
        words = query.strip().casefold()
        found = [Found(name, 0, name) for name in self.texts if words in name.casefold()]
        for name, text in self.texts.items():
            lines = enumerate(text.split("\n"), 1)
            found += [Found(name, n, line) for n, line in lines if words in line.casefold()]
        return found

    async def check(self) -> list[tuple[str, list[tuple[str, str, int]]]]:
        return self.sections
