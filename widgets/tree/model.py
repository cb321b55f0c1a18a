"""What the tree screen shows of a family: folded, filtered, sought, and where the cursor is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec.structs import replace

from app.sessions.family import Family
from app.sessions.lanes import Children, Row, above, children_of, layout, only, side_branches
from app.sessions.outline import Node

Filter: TypeAlias = Literal["all", "prompts", "files", "labelled"]
FILTERS: tuple[Filter, ...] = ("all", "prompts", "files", "labelled")


def normalised(text: str) -> str:
    """A text as it is sought: case and the number of spaces make no difference."""
    return " ".join(text.split()).casefold()


class TreeModel:
    """The lines of a tree with one chosen; it stays chosen whatever comes and goes."""

    def __init__(self, changes_files: Callable[[Node], bool]) -> None:
        """`changes_files` says whether a node changed a file."""
        self.rows: list[Row] = []
        self.cursor = 0
        self.filter: Filter = "all"
        self.prompts = self.branches = self.deepest = 0
        self.labels: Mapping[str, str] = {}
        self.sought = ""
        self._changes_files = changes_files
        self._all: dict[str, Node] = {}
        self._end: Node | None = None
        """The last node of the branch in use."""
        self._nodes: Sequence[Node] = ()
        """Those that the filter lets through."""
        self._below: Children = {}
        self._is_old = False
        """Whether some of them hold more now than these tell."""
        self._folded: set[str] = set()
        self._place: dict[str, int] = {}
        self._chosen = ""
        self._order: list[Node] | None = None
        """All nodes as they are drawn when nothing is folded; None until they are needed."""
        self._texts: dict[str, str] = {}

    @property
    def chosen(self) -> Node | None:
        """The node under the cursor."""
        return self.rows[self.cursor].node if self.rows else None

    def node(self, uuid: str) -> Node | None:
        """A node of the family, also one that is not shown."""
        return self._all.get(uuid)

    def show(self, family: Family) -> None:
        """Show a family; the first time the cursor goes to the last prompt of the branch in use."""
        self._all = family.by_uuid()
        self._end = next((node for node in family.nodes if node.current), None)
        self.labels = family.labels
        self._texts = {}
        self._count()
        if self._chosen not in self._all:
            self._chosen = self._leaf()
        self._arrange()

    def recount(self, family: Family) -> None:
        """Show the same nodes, of which some hold more now."""
        for node in family.nodes:
            known = self._all.get(node.uuid)
            if known is not None and known is not node:
                self._all[node.uuid], self._is_old = node, True
                self._end = node if node.current else self._end
                place = self._place.get(node.uuid)
                if place is not None:
                    row = self.rows[place]
                    self.rows[place] = replace(row, node=replace(node, parent=row.node.parent))

    @property
    def is_at_beginning(self) -> bool:
        """Whether the conversation stands before the first prompt, as a rewind may leave it."""
        return bool(self._all) and self._end is None

    def _count(self) -> None:
        prompts = [node for node in self._all.values() if node.kind == "prompt"]
        followed: set[str] = set()
        for node in prompts:
            before = self._prompt(above(node, self._all))
            if before is not None:
                followed.add(before.uuid)
        end = self._prompt(self._end)
        went_back = end is not None and end.uuid in followed
        self.prompts, self.branches = len(prompts), len(prompts) - len(followed) + went_back

    def _prompt(self, node: Node | None) -> Node | None:
        """The node, or the nearest one before it, that is a prompt."""
        while node is not None and node.kind != "prompt":
            node = above(node, self._all)
        return node

    def _leaf(self) -> str:
        """The last prompt of the branch in use, what stands at its end where it has none."""
        found = self._prompt(self._end) or self._end or next(iter(self._all.values()), None)
        return found.uuid if found is not None else ""

    def _arrange(self) -> None:
        self._gather()
        self._lay_out()

    def _gather(self) -> None:
        nodes = list(self._all.values())
        self._nodes = nodes if self.filter == "all" else only(nodes, self._is_kept)
        self._below = children_of(self._nodes)
        self._order, self._is_old = None, False

    def _is_kept(self, node: Node) -> bool:
        if self.filter == "files":
            return self._changes_files(node)
        if self.filter == "labelled":
            return node.uuid in self.labels
        return node.kind == "prompt"

    def _lay_out(self) -> None:
        if self._is_old:
            self._gather()
        self.rows = layout(self._nodes, self._folded, self._below)
        self.deepest = max((row.lane for row in self.rows), default=0)
        self._place = {row.node.uuid: index for index, row in enumerate(self.rows)}
        here: str | None = self._chosen
        while here is not None and here not in self._place:
            node = self._all.get(here)
            here = None if node is None else node.parent
        self.cursor = self._place[here] if here is not None else 0

    # The cursor

    def choose(self, index: int) -> None:
        """Put the cursor on a line."""
        if self.rows:
            self.cursor = min(max(index, 0), len(self.rows) - 1)
            self._chosen = self.rows[self.cursor].node.uuid

    def go_to(self, uuid: str) -> None:
        """Put the cursor on a node, unfolding what it is in."""
        here, folded = self._all.get(uuid), len(self._folded)
        while here is not None:
            if here.uuid != uuid:
                self._folded.discard(here.uuid)
            here = above(here, self._all)
        self._chosen = uuid
        if len(self._folded) != folded:
            self._lay_out()
        elif uuid in self._place:
            self.cursor = self._place[uuid]

    def go_to_leaf(self) -> None:
        """Put the cursor on the last prompt of the branch in use."""
        self.go_to(self._leaf())

    def fork_point(self, step: int) -> None:
        """Go to the next or previous line at which a branch leaves; the first one is such a line
        where there are several beginnings.
        """
        index = self.cursor + step
        while 0 <= index < len(self.rows):
            if self.rows[index].sides or (index == 0 and self.rows[0].lead):
                self.choose(index)
                return
            index += step

    # Folding

    def fold(self) -> None:
        """Fold the branches that leave here, else the branch that the cursor is in."""
        if not self.rows:
            return
        open_heads = [uuid for uuid in self._sides_here() if uuid not in self._folded]
        if open_heads:
            self._folded.update(open_heads)
        elif head := self._head_here():
            self._folded.add(head)
            self._chosen = head
        self._lay_out()

    def unfold(self) -> None:
        """Unfold the branch under the cursor, or those that leave here."""
        if self.rows:
            self._folded.difference_update([self.rows[self.cursor].node.uuid, *self._sides_here()])
            self._lay_out()

    def toggle(self) -> None:
        """Unfold what is folded here, else fold."""
        if not self.rows:
            return
        here = [self.rows[self.cursor].node.uuid, *self._sides_here()]
        (self.unfold if self._folded.intersection(here) else self.fold)()

    def toggle_all(self) -> None:
        """Fold all side branches; where all of them are, unfold them."""
        heads = {row.node.uuid for row in layout(self._nodes, (), self._below) if row.lead}
        self._folded = set() if heads <= self._folded else heads
        self._lay_out()

    def _sides_here(self) -> list[str]:
        """The first nodes of the branches that leave the line under the cursor."""
        row = self.rows[self.cursor]
        if not row.sides:
            return []
        return [node.uuid for node in side_branches(row.node, self._below)]

    def _head_here(self) -> str:
        """The first node of the side branch that the cursor is in, empty in the first lane."""
        lane = self.rows[self.cursor].lane
        for index in range(self.cursor, -1, -1):
            row = self.rows[index]
            if row.lane == lane and row.lead:
                return row.node.uuid
            if row.lane < lane:
                break
        return ""

    # Filter and search

    def use_filter(self, chosen: Filter) -> None:
        """Show only some of the nodes."""
        self.filter = chosen
        self._arrange()

    def seek(self, text: str, start: str) -> None:
        """Go to the first node from `start` on that holds the text; empty: back to `start`."""
        self.sought = normalised(text)
        self._move_to_hit(start, 1, include=True)

    def next_hit(self, step: int) -> None:
        """Go to the next or previous node that holds what is sought."""
        node = self.chosen
        if node is not None and self.sought:
            self._move_to_hit(node.uuid, step, include=False)

    def _move_to_hit(self, start: str, step: int, *, include: bool) -> None:
        order = self._in_order()
        place = next((i for i, node in enumerate(order) if node.uuid == start), 0)
        if not self.sought:
            self.go_to(start)
            return
        for distance in range(0 if include else 1, len(order) + 1):
            node = order[(place + step * distance) % len(order)] if order else None
            if node is not None and self.holds(node):
                self.go_to(node.uuid)
                return

    def hits(self) -> int:
        """How many nodes hold what is sought."""
        return sum(1 for node in self._in_order() if self.holds(node)) if self.sought else 0

    def holds(self, node: Node) -> bool:
        """Whether a node's text or label holds what is sought."""
        text = self._texts.get(node.uuid)
        if text is None:
            label = self.labels.get(node.uuid, "")
            text = normalised(f"{node.text} {label}")
            self._texts[node.uuid] = text
        return bool(self.sought) and self.sought in text

    def _in_order(self) -> list[Node]:
        if self._order is None:
            self._order = [row.node for row in layout(self._nodes, (), self._below)]
        return self._order
