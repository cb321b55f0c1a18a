"""The line at the foot of the tasks screen."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from widgets.ordered_input import KeyOwner
from widgets.resting_line import RestingLine


class FilterLine(RestingLine):
    """Words by which tasks are filtered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "line_take", "Keep filter", id="tasks_line.take"),
        Binding("escape", "line_leave", "Show all", id="tasks_line.leave"),
        Binding("up", "move(-1)", "Before", id="tasks_line.before"),
        Binding("down", "move(1)", "Next", id="tasks_line.next"),
    ]

    def __init__(self, owner: KeyOwner, keys: DOMNode) -> None:
        """`keys` has the bindings of the tasks screen."""
        super().__init__(owner, keys, "tasks.", "tasks_line.")
