"""The line at the foot of the tree."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from widgets.ordered_input import KeyOwner
from widgets.resting_line import RestingLine


class TreeLine(RestingLine):
    """What is sought, or the label of a node."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "line_take", "Take", id="tree_line.take"),
        Binding("escape", "line_leave", "Leave", id="tree_line.leave"),
        Binding("up", "line_hit(-1)", "Hit before", id="tree_line.before"),
        Binding("down", "line_hit(1)", "Next hit", id="tree_line.next"),
    ]

    def __init__(self, owner: KeyOwner, keys: DOMNode) -> None:
        """`keys` has the bindings of the tree."""
        super().__init__(owner, keys, "tree.", "tree_line.")
