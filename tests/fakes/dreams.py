"""Dreams as a log may hold them, and a desk that has them in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from app.background.dream.publish import with_hunks
from app.background.dream.record import Dream, DreamFile
from app.errors import ReverieError
from app.models.provider import Usage

ENTRY = """# Shop

- [Clock](clock.md): rules for time
- [Clock](clock.md): which clock
- [Deploy](deploy.md): how to ship
- [Review](review.md): what is looked at
- [Tests](tests.md): how they run
- [Old](old.md): nothing
"""
ENTRY_AFTER = """# Shop

- [Clock](clock.md): which clock, and when
- [Deploy](deploy.md): how to ship
- [Review](review.md): what is looked at
- [Tests](tests.md): how they run
"""
FILES = (
    DreamFile(
        "MEMORY.md",
        ENTRY,
        ENTRY_AFTER,
        evidence=("the entry names clock.md twice", "session 7f3a: old.md is not used any more"),
    ),
    DreamFile(
        "clock.md",
        "# Clock\n\nUse the wall clock for deadlines, always and everywhere, as was said "
        "yesterday.\n",
        "# Clock\n\nUse the monotonic clock for deadlines (2026-10-30); the wall clock is for what "
        "people read. 日本語のメモ\n",
        evidence=("src/cart/expiry.py line 41 uses clock.monotonic()",),
    ),
    DreamFile("old.md", "# Old\n\nNothing of use.\n", None, evidence=("nothing links to it",)),
)
HELD = Dream(
    id="20261102-021000-aaaa",
    started="2026-11-02T02:10:00.000Z",
    ended="2026-11-02T02:14:12.000Z",
    status="held",
    reason="It would remove 61 % of what is remembered.",
    sessions=tuple(f"session {i}" for i in range(6)),
    daily_logs=("log-2026-11-01.md",),
    files=FILES,
    model="claude-haiku-5-5",
    turns=9,
    usage=Usage(12_400, 840, 180_000, 6_000),
    cost_usd=0.04,
    said="I merged the two notes on the clock and took out what nothing links to.",
)


def as_state(dream: Dream, *states: str) -> Dream:
    """The dream with its documents in these states."""
    pairs = zip(dream.files, states, strict=True)
    return replace(dream, files=tuple(replace(file, state=state) for file, state in pairs))


COMPLETED = replace(
    as_state(HELD, "published", "published", "published"), status="completed", reason=""
)
PARTLY = as_state(COMPLETED, "published", "reverted", "published")
CONFLICT = replace(
    as_state(HELD, "published", "conflict", "refused"),
    status="completed",
    reason="Left as they are, since somebody changed the memory meanwhile: clock.md.",
)
FAILED = replace(
    HELD,
    status="failed",
    reason="It took longer than 10 minutes. Nothing was changed.",
    files=(),
    said="",
    turns=0,
    cost_usd=None,
)
ABORTED = replace(FAILED, status="aborted", reason="It was stopped.", cost_usd=0.01)


def night(dream: Dream, day: int) -> Dream:
    """The same in the night of another day of October."""
    at = f"2026-10-{day:02}T02:10:00.000Z"
    return replace(dream, id=f"202610{day:02}-021000-aaaa", started=at, ended=at)


class Dreams:
    """Keeps dreams and does with them what the real desk does, but touches no memory."""

    def __init__(self, dreams: Sequence[Dream] = ()) -> None:
        self.kept = list(dreams)
        self.asked: list[tuple[object, ...]] = []
        """What was asked of it, in order."""
        self.conflicts: set[str] = set()
        """Documents that somebody else has changed since."""
        self.trouble = ""
        """What every call says that it fails with."""
        self.reads = 0

    def _find(self, dream_id: str) -> Dream:
        if self.trouble:
            raise ReverieError(self.trouble, kept="Nothing was changed.")
        return next(dream for dream in self.kept if dream.id == dream_id)

    def _keep(self, made: Dream) -> Dream:
        self.kept = [made if dream.id == made.id else dream for dream in self.kept]
        return made

    async def dreams(self) -> list[Dream]:
        self.reads += 1
        if self.trouble:
            raise ReverieError(self.trouble, kept="Nothing was changed.")
        return list(self.kept)

    async def accept(
        self, dream_id: str, hunks: Mapping[str, Collection[int]] | None = None
    ) -> Dream:
        self.asked.append(("accept", dream_id, hunks))
        dream = self._find(dream_id)
        files: list[DreamFile] = []
        for file in dream.files:
            made = file if hunks is None else with_hunks(file, hunks.get(file.name, ()))
            if made.state == "staged":
                state = "conflict" if file.name in self.conflicts else "published"
                made = replace(made, state=state)
            files.append(made)
        names = ", ".join(self.conflicts)
        reason = f"Left as they are, since somebody changed the memory meanwhile: {names}."
        return self._keep(
            replace(
                dream,
                status="completed",
                files=tuple(files),
                reason=reason if self.conflicts else "",
            )
        )

    async def discard(self, dream_id: str) -> Dream:
        self.asked.append(("discard", dream_id))
        return self._keep(replace(self._find(dream_id), status="discarded"))

    async def revert(self, dream_id: str, *names: str) -> tuple[Dream, list[str]]:
        self.asked.append(("revert", dream_id, *names))
        dream = self._find(dream_id)
        left: list[str] = []
        files: list[DreamFile] = []
        for file in dream.files:
            wanted = file.state == "published" and (not names or file.name in names)
            if wanted and file.name in self.conflicts:
                left.append(f"{file.name} was changed at the same place since.")
                files.append(file)
            else:
                files.append(replace(file, state="reverted") if wanted else file)
        status = dream.status if any(f.state == "published" for f in files) else "reverted"
        return self._keep(replace(dream, files=tuple(files), status=status)), left
