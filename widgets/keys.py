"""The keys that are in force: the bindings of a node with the person's own keymap over them."""

from __future__ import annotations

from textual.binding import BindingsMap
from textual.dom import DOMNode

_SPELLINGS = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "slash": "/",
    "full_stop": ".",
    "escape": "esc",
    "ctrl+underscore": "ctrl+_",
}


def bindings_of(node: DOMNode) -> BindingsMap:
    """A node's bindings as they hold now; Textual has no public way to ask for them."""
    bindings = node._bindings.copy()
    bindings.apply_keymap(node.app._keymap)
    return bindings


def action_of(node: DOMNode, key: str, prefix: str) -> str | None:
    """The action of a key in a node, among the bindings whose id begins with `prefix`."""
    found = bindings_of(node).key_to_bindings.get(key, ())
    return next((b.action for b in found if (b.id or "").startswith(prefix)), None)


def keys_by_description(node: DOMNode) -> dict[str, list[str]]:
    """Description to keys, of every binding that has an id."""
    rows: dict[str, list[str]] = {}
    for key, bindings in bindings_of(node).key_to_bindings.items():
        for binding in bindings:
            if binding.description and binding.id:
                rows.setdefault(binding.description, []).append(spelt(key))
    return rows


def hint(node: DOMNode, binding_id: str, words: str = "") -> str:
    """`key Action` for a footer; empty when no key is bound to it."""
    for key, bindings in bindings_of(node).key_to_bindings.items():
        for binding in bindings:
            if binding.id == binding_id:
                return f"{spelt(key)} {words or binding.description}"
    return ""


def spelt(key: str) -> str:
    """A key as it is written on the screen."""
    return _SPELLINGS.get(key, key)
