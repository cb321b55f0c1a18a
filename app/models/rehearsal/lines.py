"""The rehearsal's words."""

from __future__ import annotations

from typing import Final

GREETING: Final = """\
Hello! This is the **rehearsal**: I am a script, not a model, and nothing leaves this machine.

I can show you around:

- ask me to *look at the files* to see tools, a permission question and a diff;
- write `!bash` or *run the tests* to see a shell command;
- say *feedback* to see a report queued as a draft, which nobody sends but you;
- ask for something *long* to watch a reply stream in;
- press `esc` while I write, or type the next prompt meanwhile: it waits its turn.

With a key or a local server the same screen works with a real model."""

FIRST_THOUGHT: Final = (
    "The folder is not known to me yet. I list it first, then read what explains it best, "
    "and only then propose a change."
)
OPENING: Final = "I will start with the **working folder** and see what is there."
SECOND_THOUGHT: Final = (
    "A small file of its own is the safest change: it shows the permission question and the diff, "
    "and it is easily thrown away again."
)
PROPOSAL: Final = (
    "Next I would like to write a small note beside your files. "
    "You will be asked first, and you can decline."
)
SHELL_START: Final = "I will run one harmless command."
SHELL_DONE: Final = (
    "That was `ls -la`. Its output is in the card above; a real model would now work with it."
)
SHELL_FAILED: Final = "The command did not run, and that is fine: nothing was changed."
FEEDBACK_THOUGHT: Final = (
    "That is about the app and not about the files. A draft can wait for its reader, so it goes "
    "into the queue beside the work."
)
FEEDBACK_DONE: Final = (
    "The work goes on where it was: name a file or a command. `f5` shows what waits for you."
)
FEEDBACK_FAILED: Final = (
    "The report was not queued, which changes nothing here: tell me what is next."
)
FEEDBACK_BODY: Final = """\
Expected: the rehearsal answers any prompt.
Happened: it knows a handful of words and takes every other prompt for a wish to see the files.

Steps:
1. Start with `--demo`.
2. Write "tell me a joke".
3. It lists the working folder."""

NO_TOOLS: Final = (
    "The tools I would show are switched off here, so this is all there is to see: "
    "a reply in **Markdown**, with `code` in it."
)
LONG_THOUGHT: Final = "A long text with something of everything: headings, lists, tables and code."

RECAP: Final = (
    "You were trying the rehearsal: it looked through the working folder and proposed a small "
    "note; next, keep that note or delete it."
)
SUGGESTION: Final = "show me the files in this folder"
SUMMARY: Final = """\
## Goal
See what Reverie can do without a model.

## Done
- The working folder was listed and one file was read.
- A note, `reverie-rehearsal.md`, was proposed.

## Open
- Nothing that cannot wait; go on with any prompt."""

NOTE_LINE: Final = "This file was written by the rehearsal."
NOTE_EDITED: Final = "This file was written by the rehearsal, and edited by it later."

_NAMES_IN_NOTE = 5
_LONG_REPLY = 8_000
"""Characters, about 120 screen lines."""


def found(count: int, name: str) -> str:
    """What is said between listing and reading."""
    return f"There are {count} files at the top. `{name}` should explain most, so I read it."


def note(names: list[str]) -> str:
    """The content of the file that the rehearsal writes."""
    listed = "\n".join(f"- {name}" for name in names[:_NAMES_IN_NOTE]) or "- (no files)"
    return f"# Rehearsal\n\n{NOTE_LINE}\n\nSeen in this folder:\n\n{listed}\n"


def declined() -> str:
    """The answer to a change that was not allowed, or did not work."""
    return (
        "All right, I leave the file alone; nothing was changed.\n\n"
        "Tell me what you would rather have, or ask again and allow it this time."
    )


def summing_up(rows: list[tuple[str, str]], target: str) -> str:
    """The end of the turn: a table, a list and a code fence."""
    table = "\n".join(f"| {number} | `{name}` | {how} |" for number, (name, how) in _numbered(rows))
    return f"""\
Done. This is what happened in this turn:

| step | tool | outcome |
|---:|---|---|
{table}

What you can try next:

1. Ask again: the **note** is then changed, and the card shows the difference.
2. Write `!bash` or *run the tests* for a shell command.
3. Press `tab` to walk through the conversation, `enter` opens a card.

The note is an ordinary file:

```bash
cat {target}
```"""


def long_reply() -> str:
    """About 8 kB of varied Markdown, the same each time."""
    parts = ["# A long reply\n"]
    size, number = 0, 0
    while size < _LONG_REPLY:
        number += 1
        parts.append(_section(number))
        size += len(parts[-1])
    return "\n".join(parts)


def _section(number: int) -> str:
    values = [number * factor % 97 for factor in (7, 31, 58)]
    return f"""\
## Part {number}

Each part has a paragraph like this one, long enough to wrap on a narrow terminal, with *emphasis*,
**weight**, `code` and a little of the rest of the world: naïve, Ελλάδα, 東京, 🌙.

- first point of part {number}
  - with a point below it
- second point, which says {values[0]}

| column | a | b |
|---|---:|---:|
| part {number} | {values[1]} | {values[2]} |

```python
def part_{number}() -> int:
    return {values[0]} + {values[1]} * {values[2]}
```

> And a quotation, to be seen in its own colour.
"""


def _numbered(rows: list[tuple[str, str]]) -> list[tuple[int, tuple[str, str]]]:
    return list(enumerate(rows, start=1))
