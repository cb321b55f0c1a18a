"""The session as its turns see it: where its records go, and the graph they have grown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.errors import StorageError
from app.sessions.envelope import Envelope
from app.sessions.graph import GraphView
from app.sessions.journal import Journal
from app.sessions.records import Record
from app.state.facts import Fact, HeadMoved, RecordsAppended


@dataclass(slots=True)
class Conversation:
    """Owns one session's graph and journal.

    A turn keeps its conversation when another session comes on screen, so that whatever it still
    writes lands in its own file (cases/B10).
    """

    envelope: Envelope
    journal: Journal
    view: GraphView
    emit: Callable[[Fact], None]
    storage_changed: Callable[[StorageError | None], None]
    """Told why records can no longer be saved, and with None that all of them are again."""
    was_resumed: bool = False
    """Whether its records are of an earlier process, and no turn has begun since."""
    _failing: bool = field(init=False, default=False)

    @property
    def session_id(self) -> str:
        """The session's id, the name of its file."""
        return self.envelope.session_id

    @property
    def leaf(self) -> str | None:
        """The uuid that the next record hangs on."""
        return self.view.leaf_uuid

    def append(self, *records: Record) -> None:
        """Write records, then tell the store."""
        error = self.journal.append(*records)
        self._take(records)
        self._tell(error)

    def append_now(self, *records: Record) -> None:
        """Write records, then tell the store; without the disk they never were.

        Raises `StorageError`.
        """
        error = self.journal.append_now(*records)
        if error is not None:
            raise error
        self._take(records)
        self._tell(None)

    def _take(self, records: tuple[Record, ...]) -> None:
        for record in records:
            self.view = self.view.after(record)
        self.emit(RecordsAppended(self.session_id, records, self.view))

    def move(self, leaf: int | None) -> None:
        """Go on from another record of the graph, from before the first one for None."""
        self.view = GraphView(self.view.graph, self.view.length, leaf)
        self.emit(HeadMoved(self.view))

    def choose(self, leaf: str | None) -> Record:
        """The record that makes this the end of the branch in use when the session is resumed."""
        return self.envelope.metadata("last-prompt", leafUuid=leaf, explicit=True, rewound=True)

    def sync(self) -> None:
        """Make what was said survive a power cut."""
        self._tell(self.journal.sync())

    def _tell(self, error: StorageError | None) -> None:
        if (error is not None) != self._failing:
            self._failing = error is not None
            self.storage_changed(error)

    def unanswered(self) -> list[tuple[str, str]]:
        """Tool calls of the last reply without a result: `(tool_use id, assistant record uuid)`.

        A process that died in the middle of its tools leaves some (cases/B16).
        """
        graph = self.view.graph
        if self.view.leaf is None:
            return []
        for here in graph.walk(self.view.leaf):
            record = graph.records[here]
            if record.type == "assistant" and not record.is_synthetic:
                members = graph.messages.get(record.message_id or "", [here])
                return [
                    (tool_id, graph.records[member].uuid or "")
                    for member in members
                    for tool_id in graph.records[member].tool_uses
                    if not graph.results.get(tool_id) and tool_id not in graph.superseded
                ]
            if record.type == "user" and not record.tool_results:
                return []
        return []
