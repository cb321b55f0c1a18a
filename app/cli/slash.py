"""Commands that need no screen, typed as a print prompt (spec/cli.md)."""

from __future__ import annotations

from app.agent.compactor import Compactor
from app.agent.loop import AgentLoop
from app.background.recap import recap
from app.commands import COMMANDS, looks_like_command, parse_command
from app.errors import ReverieError
from app.models.provider import Usage
from app.sessions.compact import compaction_in_words

PRINT_COMMANDS = tuple(command for command in COMMANDS if not command.screen)


def command_in(prompt: object) -> tuple[str, str] | None:
    """The name and argument of the command that a prompt is, None for a prompt to the model.

    Raises `ReverieError` for a command that needs a screen, and for a single `/word` that names
    none: it is surely meant as one.
    """
    if not isinstance(prompt, str):
        return None
    found = parse_command(prompt.strip())
    if found is not None and found[0] in PRINT_COMMANDS:
        return found[0].name, found[1]
    known = ", ".join(f"/{command.name}" for command in PRINT_COMMANDS)
    if found is not None:
        raise ReverieError(f"/{found[0].name} needs the app; print mode has {known}.")
    if looks_like_command(prompt):
        raise ReverieError(f"There is no command {prompt.strip()}; print mode has {known}.")
    return None


def answer(command: str, usage: Usage, cost_usd: float | None) -> str:
    """What a command says; usage and cost are those of the whole session."""
    if command == "cost":
        return cost_text(usage, cost_usd)
    width = max(len(each.name) for each in PRINT_COMMANDS)
    lines = [f"/{each.name:<{width}}  {each.description}" for each in PRINT_COMMANDS]
    return "\n".join([*lines, "Anything else goes to the model; `reverie --help` lists the flags."])


async def compact(compactor: Compactor, instructions: str) -> str:
    """Sum the session up at once; says what was done.

    Raises `SummaryFailed` and `ModelError`; the session is then as it was.
    """
    receipt = await compactor.draft(instructions)
    await compactor.accept(receipt.summary)
    records = compactor.conversation.view.graph.records
    boundary = next(record for record in reversed(records) if record.is_boundary)
    return f"Compacted: {compaction_in_words(boundary.data)}."


async def recap_text(loop: AgentLoop) -> str:
    """Where the session stands; raises `ReverieError` when that could not be said."""
    found = await recap(loop)
    if found.status != "ok":
        raise ReverieError(found.text)
    return found.text


def uncompact(compactor: Compactor) -> str:
    """Go back to before the last compaction; raises `ReverieError` when there is none to undo."""
    if not compactor.undo():
        raise ReverieError("This branch has no compaction that could be undone.")
    return "Back to before the last compaction; what came after it stays in its own branch."


def cost_text(usage: Usage, cost_usd: float | None) -> str:
    """Tokens by kind and the cost, which may be unknown but is then never shown as 0."""
    cost = "unknown (no price for the model)" if cost_usd is None else f"${cost_usd:.4f}"
    return "\n".join(
        [
            f"Cost: {cost}",
            f"Input: {usage.input:,} tokens",
            f"Output: {usage.output:,} tokens",
            f"Cache read: {usage.cache_read:,} tokens",
            f"Cache write: {usage.cache_write:,} tokens",
        ]
    )
