"""Intents about the tree of the session on screen: reading it, labels, comparing, exporting.

Everything slow runs in a thread. What changes the conversation or files is not done here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from app.agent.conversation import Conversation
from app.config import Settings
from app.errors import SessionNotFound
from app.installation import Installation
from app.models.spending import tariff_of
from app.plain_text import encodable
from app.session_desk import export_branch
from app.sessions.catalogue import find_transcript
from app.sessions.family import LABEL, Family, Member, branch_end, joined
from app.sessions.graph import GraphView, MessageGraph
from app.sessions.node_facts import Comparison, Facts, FilesAt, changes_files, compare, facts_of
from app.sessions.outline import Node, outline
from app.sessions.records import Record
from app.sessions.relatives import relatives
from app.state.model import Session

TreeAction: TypeAlias = Literal["switch", "rewind", "files", "fork"]


class TreeChoice(msgspec.Struct, frozen=True):
    """What is to be done with which node; `uuid` is the one that its session knows it by.

    To switch to the first line of another session is to open that session: `uuid` is empty then.
    """

    action: TreeAction
    session_id: str
    uuid: str


LONGEST_LABEL = 80
"""Characters."""

Restorable = Callable[[], frozenset[str] | None]
"""The prompts whose files can be brought back, by uuid; None where that is not known."""


def _nothing_known(_session_id: str, _uuid: str) -> None:
    return None


class TreeDesk:
    """The tree of one session and its relatives, read once and kept while it is looked at."""

    def __init__(
        self,
        here: Installation,
        settings: Callable[[], Settings],
        session: Callable[[], Session],
        conversation: Callable[[], Conversation],
        *,
        restorable: Restorable = lambda: None,
        files_at: FilesAt = _nothing_known,
    ) -> None:
        """`session` is the one on screen, `conversation` what writes to it."""
        self._here = here
        self._settings = settings
        self._session = session
        self._conversation = conversation
        self._restorable = restorable
        self._files_at = files_at
        self._known: frozenset[str] | None = None
        self._relatives: dict[str, Member] = {}
        self._facts: dict[tuple[str, str, int], Facts] = {}
        """By session, uuid and number of records of the turn: a turn that grows counts anew."""
        self._changed: dict[tuple[str, str, int], bool] = {}
        self._own = Member("", "", outline(GraphView(MessageGraph(), 0, None)))
        self.family = joined(self._own)

    @property
    def session(self) -> Session:
        """The session on screen."""
        return self._session()

    async def read(self) -> Family:
        """The tree of the session on screen as it is now, with the relatives known so far."""
        session = self.session
        if session.session_id != self._own.session_id:
            self._relatives, self._facts, self._changed = {}, {}, {}
        self._known = await asyncio.to_thread(self._restorable)
        found = self._own.outline
        if session.view is not found.view:
            found = await asyncio.to_thread(outline, session.view, session.session_id)
        self._own = Member(session.session_id, session.title, found)
        return await self.join()

    async def join(self) -> Family:
        """The same with the relatives that were found since."""
        others = list(self._relatives.values())
        self.family = await asyncio.to_thread(joined, self._own, others)
        return self.family

    async def find_relatives(self, found: Callable[[], None]) -> None:
        """Read the sessions that belong to the tree, calling `found` when one has joined it.

        Ends soon after it is cancelled.
        """
        loop, stopped = asyncio.get_running_loop(), threading.Event()
        first = self._own
        folder = self._folder(first.session_id)

        def work() -> None:
            for member in relatives(first, folder, lambda: not stopped.is_set()):
                self._relatives[member.session_id] = member
                loop.call_soon_threadsafe(found)

        try:
            await asyncio.to_thread(work)
        finally:
            stopped.set()

    def _folder(self, session_id: str) -> Path:
        here = self._here
        try:
            return find_transcript(here.places, here.folder, session_id).parent
        except SessionNotFound:
            return here.places.project(here.folder)

    # What nodes came to

    def known(self, node: Node) -> Facts | None:
        """The facts of a node, if they have been found out."""
        return self._facts.get(self._key(node))

    async def find_facts(self, nodes: Iterable[Node]) -> None:
        """Find out the facts of some nodes."""
        family, price = self.family, tariff_of(self._settings()).cost
        wanted = [node for node in nodes if self.known(node) is None]
        self._facts.update(
            await asyncio.to_thread(
                lambda: {self._key(node): facts_of(family, node, price) for node in wanted}
            )
        )

    def with_files(self, node: Node) -> bool:
        """Whether a node changed files, as far as `find_changes` has found out."""
        return self._changed.get(self._key(node), False)

    async def find_changes(self) -> None:
        """Find out which nodes changed files."""
        family = self.family
        wanted = {
            key: node for node in family.nodes if (key := self._key(node)) not in self._changed
        }
        self._changed.update(
            await asyncio.to_thread(
                lambda: {key: changes_files(family, node) for key, node in wanted.items()}
            )
        )

    def _key(self, node: Node) -> tuple[str, str, int]:
        member = self.family.members.get(node.session_id)
        here = None if member is None else member.outline.view.graph.position.get(node.own)
        turn = () if member is None or here is None else member.outline.turns.get(here, ())
        return node.session_id, node.own, len(turn)

    def records(self, node: Node) -> list[Record]:
        """The messages of a node's turn, its own first; of a fork those of its last turn."""
        if node.kind != "fork":
            return self.family.records(node)
        member = self.family.members[node.session_id]
        last = member.outline.last
        return [] if last is None else member.outline.records(member.outline.nodes[last].uuid)

    def choice(self, action: TreeAction, node: Node) -> TreeChoice:
        """An action on a node; where another session begins, on the last node of it."""
        uuid = node.own
        if node.kind == "fork" and action != "switch":
            found = self.family.members[node.session_id].outline
            uuid = "" if found.last is None else found.nodes[found.last].uuid
        return TreeChoice(action, node.session_id, uuid)

    def cannot_restore(self, node: Node) -> bool:
        """Whether it is known that the files of a prompt cannot be brought back any more."""
        if self._known is None or node.kind != "prompt":
            return False
        return node.session_id == self._own.session_id and node.own not in self._known

    async def compare(self, first: Node, second: Node) -> Comparison:
        """How two nodes differ, in what was said and in the files."""
        return await asyncio.to_thread(compare, self.family, first, second, self._files_at)

    # What is written

    def label(self, node: Node, text: str) -> None:
        """Name a node; an empty text takes its name away."""
        words = encodable(" ".join(text.split()))[:LONGEST_LABEL]
        conversation = self._conversation()
        fields = {"label": words, "messageUuid": node.own or node.uuid}
        conversation.append(conversation.envelope.metadata(LABEL, **fields))
        conversation.sync()

    async def export(self, node: Node) -> Path:
        """Write the branch through a node as Markdown into the working folder.

        Raises `StorageError` when it cannot be written, and `ReverieError` without a free name.
        """
        return await asyncio.to_thread(self._export, self.family, node)

    def _export(self, family: Family, node: Node) -> Path:
        member, leaf = branch_end(family, node)
        graph = member.outline.view.graph
        return export_branch(graph, leaf, member.title, member.session_id, self._here.folder)
