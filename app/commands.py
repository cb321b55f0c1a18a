"""The slash commands: one table for completion, the palette, help, and print mode."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command; `screen` says whether it needs one."""

    name: str
    description: str
    screen: bool = True
    argument: str = ""


COMMANDS = (
    Command("help", "every key and command", screen=False),
    Command("clear", "begin a new session; this one stays in the list"),
    Command("resume", "choose a session to go on with, or name one", argument="[id]"),
    Command(
        "compact",
        "sum the conversation up to make room; you see the summary first",
        screen=False,
        argument="[what to keep]",
    ),
    Command("uncompact", "go back to before the last compaction", screen=False),
    Command("recap", "where things stand, in a sentence or two", screen=False),
    Command("tree", "every branch: switch, go back, fork"),
    Command("rewind", "go back to an earlier prompt: conversation, files or both"),
    Command("undo", "take the last rewind back"),
    Command("memory", "what is remembered: read, edit, restore"),
    Command("dream", "put memory in order now"),
    Command("dreams", "what dreams have changed: look, accept, take back"),
    Command("feedback", "reports that wait for you, or a report of your own", argument="[text]"),
    Command("model", "choose the model", argument="[name]"),
    Command("mode", "choose the permission mode", argument="[mode]"),
    Command("theme", "choose the colours", argument="[name]"),
    Command("tasks", "show what runs in the background"),
    Command("cost", "what this session has used", screen=False),
    Command("copy", "copy the last reply"),
    Command("connect", "show the ways to a model again"),
    Command("quit", "leave; nothing is lost"),
)


def parse_command(text: str) -> tuple[Command, str] | None:
    """The command in a prompt and its argument; None when it is ordinary text.

    Only a first word that is a known name counts, so that a prompt may begin with a path.
    """
    if not text.startswith("/"):
        return None
    name, _, argument = text[1:].strip().partition(" ")
    for command in COMMANDS:
        if command.name == name:
            return command, argument.strip()
    return None


def looks_like_command(text: str) -> bool:
    """Whether a text is one word with a slash in front: probably a mistyped command."""
    word = text.strip()
    return word.startswith("/") and word[1:].isidentifier()
