"""The line at the foot of the memory screen, with the keys of all that is asked there."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from widgets.keys import bindings_of, spelt
from widgets.ring_line import RingLine


class KeyLine(RingLine):
    """Names, what is sought, what takes its place; the keys of what asks for them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open_hit", "Open", id="memory_search.open"),
        Binding("up", "move_hit(-1)", "Before", id="memory_search.before"),
        Binding("down", "move_hit(1)", "Next", id="memory_search.next"),
        Binding("pageup", "page_hits(-1)", "Page up", id="memory_search.page_up"),
        Binding("pagedown", "page_hits(1)", "Page down", id="memory_search.page_down"),
        Binding("escape", "leave_line", "Leave", id="memory_search.leave"),
        Binding("enter", "take_name", "Take", id="memory_name.take"),
        Binding("escape", "leave_line", "Leave", id="memory_name.leave"),
        Binding("enter,down", "next_place(1)", "Next", id="memory_find.next"),
        Binding("up", "next_place(-1)", "Before", id="memory_find.before"),
        Binding("ctrl+r", "replace_words", "Replace", id="memory_find.replace"),
        Binding("ctrl+s", "save", "Save", id="memory_find.save"),
        Binding("escape", "leave_line", "Leave", id="memory_find.leave"),
        Binding("enter", "replace_one", "Replace this", id="memory_replace.one"),
        Binding("ctrl+a", "replace_all", "Replace all", id="memory_replace.all"),
        Binding("down", "next_place(1)", "Next", id="memory_replace.next"),
        Binding("up", "next_place(-1)", "Before", id="memory_replace.before"),
        Binding("ctrl+f", "find", "Other words", id="memory_replace.find"),
        Binding("ctrl+s", "save", "Save", id="memory_replace.save"),
        Binding("escape", "leave_line", "Leave", id="memory_replace.leave"),
        Binding("up,k", "move_version(-1)", "Newer", id="memory_history.newer"),
        Binding("down,j", "move_version(1)", "Older", id="memory_history.older"),
        Binding("home,g", "end_version(-1)", "Newest", id="memory_history.newest"),
        Binding("end,G", "end_version(1)", "Oldest", id="memory_history.oldest"),
        Binding("enter,d", "against_now", "Diff against now", id="memory_history.diff"),
        Binding("R", "restore_version", "Restore", id="memory_history.restore"),
        Binding("pageup", "page_diff(-1)", "Scroll up", id="memory_history.page_up"),
        Binding("pagedown", "page_diff(1)", "Scroll down", id="memory_history.page_down"),
        Binding("f1", "help", "Help", id="memory_history.help"),
        Binding("escape,h", "leave_history", "Back", id="memory_history.back"),
        Binding("enter", "take_choice", "Choose", id="memory_choice.take"),
        Binding("up,left,shift+tab", "move_choice(-1)", "Before", id="memory_choice.before"),
        Binding("down,right,tab", "move_choice(1)", "Next", id="memory_choice.next"),
        Binding("escape", "give_up", "Cancel", id="memory_choice.cancel"),
    ]


def key_rows(node: DOMNode, prefix: str) -> list[tuple[str, str]]:
    """Keys and what they do, of the bindings whose id begins so."""
    rows: dict[str, list[str]] = {}
    for key, bindings in bindings_of(node).key_to_bindings.items():
        for binding in bindings:
            if binding.description and (binding.id or "").startswith(prefix):
                rows.setdefault(binding.description, []).append(spelt(key))
    return [(", ".join(keys), words) for words, keys in rows.items()]
