"""Commands that need no screen, typed as a print prompt (spec/cli.md)."""

from __future__ import annotations

from app.commands import COMMANDS, looks_like_command, parse_command
from app.errors import ReverieError
from app.models.provider import Usage

PRINT_COMMANDS = tuple(command for command in COMMANDS if not command.screen)


def command_in(prompt: object) -> str | None:
    """The name of the command that a prompt is, None for a prompt to the model.

    Raises `ReverieError` for a command that needs a screen, and for a single `/word` that names
    none: it is surely meant as one.
    """
    if not isinstance(prompt, str):
        return None
    found = parse_command(prompt.strip())
    if found is not None and found[0] in PRINT_COMMANDS:
        return found[0].name
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
    lines = [f"/{each.name}  {each.description}" for each in PRINT_COMMANDS]
    return "\n".join([*lines, "Anything else goes to the model; `reverie --help` lists the flags."])


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
