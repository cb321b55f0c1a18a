r"""Reads a bash script for the permission check.

tree-sitter-bash finds the commands, at any depth. It is no bash, though: it takes `cat <a .env` as
one redirect to two files, and `cat a\<newline>b` as two words. So every word is read a second time
from the source by the rules of bash's own quoting, and where the two disagree, or something else
than plain commands occurs, `Script.trouble` says so: then nothing is allowed by itself.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from app.agent.shell_words import Word, read_word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_BYTES = 20_000
"""Longer scripts are not read; nobody could check them in a dialog either."""

_PLAIN_NODES = frozenset({"program", "list", "pipeline", "redirected_statement", "negated_command"})
_PLAIN_TOKENS = frozenset({";", "&&", "||", "|", "|&", "\n", "!"})
_SUBSTITUTIONS = frozenset(
    {"command_substitution", "process_substitution", "expansion", "arithmetic_expansion"}
)
_WORD_ENDS_COMMENT = b" \t\n;&|("
_AS_LETTERS = bytes(byte if byte < 0x80 else ord("x") for byte in range(256))
"""The grammar's scanner looks letters up in a table for ASCII and crashes the process on others
("{" and an emoji will do): it gets a copy of the same length. Bash has no syntax beyond ASCII."""
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_SPOKEN = {
    "compound_statement": "a group in braces",
    "subshell": "a subshell",
    "heredoc_redirect": "a here-document",
    "herestring_redirect": "a here-string",
    "function_definition": "a function",
    "for_statement": "a loop",
    "while_statement": "a loop",
    "if_statement": "a condition",
    "case_statement": "a condition",
    "test_command": "a test",
    "declaration_command": "a declaration",
    "variable_assignment": "a variable assignment",
    "&": "a command in the background",
}


@dataclass(frozen=True, slots=True)
class Redirect:
    """`>`, `2>&1`, `< file`: the operator without its number, and where it leads."""

    operator: str
    target: Word | None


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One simple command: its words, name first, and its text in the source."""

    words: tuple[Word, ...]
    text: str
    substitutes: bool = False
    """A word is made by running another command or by a computed expansion."""
    assigns: bool = False
    """Variables are set in front of the name."""

    @property
    def name(self) -> str | None:
        """What is run; None where that is computed."""
        return None if not self.words or self.words[0].computed else self.words[0].text


@dataclass(slots=True)
class Script:
    """All commands of a script, nested ones too; `trouble` says why it is not a plain list."""

    commands: list[ShellCommand] = field(default_factory=list[ShellCommand])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    trouble: str | None = None

    def trip(self, why: str) -> None:
        """Note the first reason."""
        self.trouble = self.trouble or why


@lru_cache(maxsize=64)
def parse_script(text: str) -> Script:
    """Read `text`; never raises. The result is shared: do not change it."""
    script = Script()
    hidden = hidden_character(text)
    if hidden is not None:
        script.trip(f"it holds a hidden character, U+{ord(hidden):04X}")
    source = text.encode("utf-8", "replace")
    if len(source) > MOST_BYTES:
        script.trip("it is too long to check")
        return script
    root = _parser().parse(source.translate(_AS_LETTERS)).root_node
    if root.has_error:
        script.trip("it cannot be read as a shell command")
    _collect(root, source, script)
    if not script.commands:
        script.trip("there is no command in it")
    return script


def hidden_character(text: str) -> str | None:
    """The first character that a screen would not show as what it is, if there is one."""
    for letter in text:
        if letter in " \n\t" or "!" <= letter <= "~":
            continue
        if unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}:
            return letter
    return None


@lru_cache(maxsize=1)
def _parser() -> Parser:
    # Late: the two take 20 ms, and a session without a shell command needs neither.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _collect(root: Node, source: bytes, script: Script) -> None:
    """Walks the tree with a list instead of calls, since a hostile one may be very deep."""
    spans: list[tuple[int, int]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command":
            waiting += _command(node, source, script, spans)
        elif node.type == "file_redirect":
            waiting += _redirect(node, source, script, spans)
        elif node.type in _PLAIN_NODES:
            waiting += reversed(node.children)
        elif node.type == "comment":
            before = source[node.start_byte - 1 : node.start_byte]
            if before and before not in _WORD_ENDS_COMMENT:
                script.trip("it cannot be read with certainty")
            spans.append((node.start_byte, node.end_byte))
        else:
            if node.type not in _PLAIN_TOKENS:
                script.trip(f"it contains {_SPOKEN.get(node.type, 'more than plain commands')}")
            spans.append((node.start_byte, node.end_byte))
            waiting += node.children
    _check_gaps(spans, source, script)


def _command(node: Node, source: bytes, script: Script, spans: list[tuple[int, int]]) -> list[Node]:
    words: list[Word] = []
    inner: list[Node] = []
    assigns = substitutes = False
    for child in node.children:
        if child.type == "variable_assignment":
            assigns = True
            spans.append((child.start_byte, child.end_byte))
            inner += child.children
        elif child.type.endswith("_redirect"):
            inner.append(child)
        else:
            words.append(_word(child, source, script, spans))
            nested = _nested(child)
            substitutes = substitutes or bool(nested)
            inner += nested
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if assigns:
        script.trip("it sets variables for the command")
    if not words:
        script.trip("there is no command in it")
    elif words[0].computed:
        script.trip("the name of the command is computed")
    script.commands.append(ShellCommand(tuple(words), text, substitutes, assigns))
    return [part for part in inner if part.is_named]


def _word(node: Node, source: bytes, script: Script, spans: list[tuple[int, int]]) -> Word:
    spans.append((node.start_byte, node.end_byte))
    word, end = read_word(source, node.start_byte)
    if word.computed:
        shown = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return Word(shown, computed=True)
    if end != node.end_byte:
        script.trip("it cannot be read with certainty")
    return word


def _nested(node: Node) -> list[Node]:
    """The substitutions below a word, outermost first."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.type in _SUBSTITUTIONS:
            found.append(part)
        else:
            waiting += part.children
    return found


def _redirect(
    node: Node, source: bytes, script: Script, spans: list[tuple[int, int]]
) -> list[Node]:
    targets = node.children_by_field_name("destination")
    operator = ""
    inner: list[Node] = []
    for child in node.children:
        if child in targets:
            continue
        spans.append((child.start_byte, child.end_byte))
        if child.type != "file_descriptor":
            operator = child.type
    words = [_word(target, source, script, spans) for target in targets]
    for target in targets:
        inner += _nested(target)
    if len(words) > 1:
        script.trip("it cannot be read with certainty")
    script.redirects += [Redirect(operator, word) for word in words] or [Redirect(operator, None)]
    return inner


def _check_gaps(spans: list[tuple[int, int]], source: bytes, script: Script) -> None:
    """Between what was understood there may be nothing but blanks."""
    place = 0
    for start, end in sorted(spans):
        if start > place and not _GAP.fullmatch(source, place, start):
            script.trip("it cannot be read with certainty")
            return
        place = max(place, end)
    if not _GAP.fullmatch(source, place):
        script.trip("it cannot be read with certainty")
