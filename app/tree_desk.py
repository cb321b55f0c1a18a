"""Intents about the tree of the session on screen: reading it, labels, comparing, exporting.

Everything slow runs in a thread. What changes the conversation or files is not done here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
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
from app.sessions.family import LABEL, Family, Member, branch_end, joined, with_turn
from app.sessions.graph import GraphView, MessageGraph
from app.sessions.node_facts import Comparison, Facts, FilesAt, changes_files, compare, facts_of
from app.sessions.outline import Node, Outline, grown, outline
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


ELSEWHERE = "That is in another session: enter opens it, then you can go back in it."

LONGEST_LABEL = 80
"""Characters."""

Restorable = Callable[[], frozenset[str] | None]
"""The prompts whose files can be brought back, by uuid; None where that is not known."""


ShellFiles = Callable[[], Mapping[str, int]]
"""By the uuid of a prompt the number of files that shell commands changed in its turn."""


def _nothing_known(_session_id: str, _uuid: str) -> None:
    return None


_Key: TypeAlias = tuple[str, str, int, tuple[str, str] | None]
"""What the facts of a node are kept by: its session, its uuid there, the number of records of its
turn, which grows, and where it was said first, which a relative may tell."""


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
        shell_files: ShellFiles = dict,
    ) -> None:
        """`session` is the one on screen, `conversation` what writes to it."""
        self._here = here
        self._settings = settings
        self._session = session
        self._conversation = conversation
        self._restorable = restorable
        self._files_at = files_at
        self._shell_files = shell_files
        self._reading = asyncio.Lock()
        """One reading at a time, so that none puts back what another one has found."""
        self._known: frozenset[str] | None = None
        self._by_shell: Mapping[str, int] = {}
        self._relatives: dict[str, Member] = {}
        self._facts: dict[_Key, Facts] = {}
        self._changed: dict[_Key, bool] = {}
        self._own = Member("", "", outline(GraphView(MessageGraph(), 0, None)))
        self.family = joined(self._own)

    @property
    def session(self) -> Session:
        """The session on screen."""
        return self._session()

    async def read(self) -> Family:
        """The tree of the session on screen as it is now, with the relatives known so far."""
        async with self._reading:
            session = self.session
            if session.session_id != self._own.session_id:
                self._relatives, self._facts, self._changed = {}, {}, {}
            self._read_marks()
            self._own = Member(session.session_id, session.title, await self._outlined(session))
            return await self._join()

    async def _outlined(self, session: Session) -> Outline:
        known = self._own.outline
        if session.view is known.view:
            return known
        added = await asyncio.to_thread(grown, known, session.view)
        if added is not None:
            return added
        return await asyncio.to_thread(outline, session.view, session.session_id)

    def _read_marks(self) -> None:
        """In no thread: a turn that runs may be changing what these look at."""
        self._known, self._by_shell = self._restorable(), self._shell_files()

    async def follow(self) -> bool:
        """Take in what the last turn came to since; False where that does not do and the tree has
        to be read anew. Costs what was added, however long the session is.
        """
        async with self._reading:
            session, before = self.session, self._own.outline.view
            if session.session_id != self._own.session_id or session.title != self._own.title:
                return False
            found = await asyncio.to_thread(grown, self._own.outline, session.view)
            added = session.view.graph.records[before.length : session.view.length]
            if found is None or any(record.type == LABEL for record in added):
                return False
            self._read_marks()
            self._own = Member(session.session_id, session.title, found)
            self.family = await asyncio.to_thread(with_turn, self.family, self._own)
            return True

    async def join(self) -> Family:
        """The same with the relatives that were found since."""
        async with self._reading:
            return await self._join()

    async def _join(self) -> Family:
        others = list(self._relatives.values())
        self.family = await asyncio.to_thread(joined, self._own, others)
        return self.family

    async def find_relatives(self, found: Callable[[], None]) -> None:
        """Read the sessions that belong to the tree, calling `found` when one has joined it, or has
        gone since they were read last.

        Ends soon after it is cancelled.
        """
        loop, stopped = asyncio.get_running_loop(), threading.Event()
        first = self._own
        folder = self._folder(first.session_id)

        there: set[str] = set()

        def work() -> None:
            for member in relatives(first, folder, lambda: not stopped.is_set()):
                there.add(member.session_id)
                self._relatives[member.session_id] = member
                loop.call_soon_threadsafe(found)

        try:
            await asyncio.to_thread(work)
        finally:
            stopped.set()
        gone = self._relatives.keys() - there
        if gone and first.session_id == self._own.session_id:
            for session_id in gone:
                del self._relatives[session_id]
            found()

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
        wanted = {key: node for node in nodes if (key := self._key(node)) not in self._facts}
        self._facts.update(
            await asyncio.to_thread(
                lambda: {key: facts_of(family, node, price) for key, node in wanted.items()}
            )
        )

    def with_files(self, node: Node) -> bool:
        """Whether a node changed files, as far as `find_changes` has found out."""
        return self._changed.get(self._key(node), False) or self.shell_files(node) > 0

    def shell_files(self, node: Node) -> int:
        """How many files the shell commands of a node's turn changed, as far as that is known."""
        is_own = node.kind == "prompt" and node.session_id == self._own.session_id
        return self._by_shell.get(node.own, 0) if is_own else 0

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

    def _key(self, node: Node) -> _Key:
        member = self.family.members.get(node.session_id)
        here = None if member is None else member.outline.view.graph.position.get(node.own)
        turn = () if member is None or here is None else member.outline.turns.get(here, ())
        return node.session_id, node.own, len(turn), self.family.origins.get(node.uuid)

    def records(self, node: Node) -> list[Record]:
        """The messages of a node's turn, its own first; of a fork those of its last turn."""
        return self.family.records(node)

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
        """How two nodes differ, in what was said and in the files after their turns."""
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
