"""What the chat does with a choice made in the tree: another branch, going back, a fork."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from app.agent.compaction import Part
from app.errors import SessionNotFound
from app.rewind_desk import BUSY, Outlook
from app.sessions.catalogue import find_transcript
from app.sessions.family import branch_end
from app.sessions.outline import Node
from app.tree_desk import ELSEWHERE, TreeChoice
from widgets.prompt.prompt import Prompt
from widgets.screens.dialogs.rewind import Answer, RewindAnswer, RewindDialog
from widgets.screens.tree import TreeScreen

if TYPE_CHECKING:
    from app.controller import Controller


class TreeActions:
    """Carries out what was chosen, for one chat screen."""

    def __init__(self, screen: Screen[None], controller: Controller) -> None:
        self._screen = screen
        self._controller = controller
        self._desks = controller.desks

    def open(self) -> None:
        """Show the tree."""
        undo = self._desks.rewinds.undo
        tree = TreeScreen(self._controller, self._desks.tree, undo)
        self._screen.app.push_screen(tree, self._chosen)

    async def _chosen(self, choice: TreeChoice | None) -> None:
        if choice is None:
            return
        if self._controller.is_busy:
            self._controller.notice(BUSY, "warning")
        elif choice.action == "fork":
            await self._fork(choice)
        elif choice.session_id != self._controller.state.session.session_id:
            if choice.action == "switch":
                await self._switch_session(choice)
            else:
                self._controller.notice(ELSEWHERE, "warning")
        elif choice.action == "switch":
            self._switch(choice)
        else:
            await self.ask(choice.uuid, "files" if choice.action == "files" else "conversation")

    def _switch(self, choice: TreeChoice) -> None:
        node = self._node(choice)
        if node is not None:
            self._desks.rewinds.switch(branch_end(self._desks.tree.family, node)[1])

    def _node(self, choice: TreeChoice) -> Node | None:
        for node in self._desks.tree.family.nodes:
            if node.own == choice.uuid and node.session_id == choice.session_id:
                return node
        return None

    async def _switch_session(self, choice: TreeChoice) -> None:
        """Open the other session, at the end of the branch that was chosen."""
        node, leaf = self._node(choice), None
        if node is not None:
            member, here = branch_end(self._desks.tree.family, node)
            leaf = None if here is None else member.outline.view.graph.records[here].uuid
        await self._open_session(choice)
        session = self._controller.state.session
        if leaf is not None and session.session_id == choice.session_id:
            self._desks.rewinds.switch(session.view.graph.position.get(leaf))

    async def _open_session(self, choice: TreeChoice, *, fork_at: str | None = None) -> None:
        here = self._controller.here
        try:
            file = find_transcript(here.places, here.folder, choice.session_id)
        except SessionNotFound as error:
            self._controller.notice(str(error), "error")
            return
        await self._controller.open_transcript(file, fork_at=fork_at)

    async def _fork(self, choice: TreeChoice) -> None:
        """A new session that begins with everything up to the end of the node's turn."""
        member = self._desks.tree.family.members.get(choice.session_id)
        if member is None:
            return
        outline = member.outline
        here = outline.view.graph.position.get(choice.uuid)
        end = None if here is None else outline.view.graph.records[outline.turns[here][-1]].uuid
        if end is not None:
            await self._open_session(choice, fork_at=end)

    async def ask(self, uuid: str, first: Answer) -> None:
        """Show what going back to a node would do, and let the person choose."""
        outlook = await self._desks.rewinds.outlook(uuid)
        if outlook is not None:
            dialog = RewindDialog(outlook, lambda row: self._desks.rewinds.diff(row.step), first)
            self._screen.app.push_screen(dialog, partial(self._answered, outlook))

    def _answered(self, outlook: Outlook, answer: RewindAnswer | None) -> None:
        if answer is not None:  # beside the keys, which go on meanwhile
            self._screen.run_worker(self._carry_out(outlook, answer))

    async def _carry_out(self, outlook: Outlook, answer: RewindAnswer) -> None:
        if answer.what in ("from", "upto"):
            part = Part(outlook.uuid, onwards=answer.what == "from")
            self._controller.compact(part=part)
            return
        text = await self._desks.rewinds.rewind(
            outlook,
            answer.what,
            with_shell=answer.with_shell,
            force=answer.force,
            without=answer.without,
        )
        self._screen.query_one(Prompt).put_back(text or "")
