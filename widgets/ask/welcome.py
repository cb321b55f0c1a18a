"""The four ways to a model, shown while there is none (spec/cli.md, the last bullet)."""

from __future__ import annotations

from textual.content import Content

from app.state.model import Access, Server
from widgets.ask.choices import Choice, ChoiceBox


def welcome_box(access: Access) -> ChoiceBox:
    """The box for what is known now; values are `key`, `local`, `rehearsal`, `server:N`, `look`."""
    first, *others = _servers(access)
    choices = [
        Choice("1", "key            enter an Anthropic API key", "key", "key"),
        first,
        Choice(
            "3",
            "built-in       SmolLM2-135M on this machine: offline, chat, no tools",
            "local",
            "built-in",
        ),
        Choice(
            "4",
            "rehearsal      a scripted model that shows the app, no network",
            "rehearsal",
            "rehearsal",
        ),
        *others,
    ]
    body = [
        Content("Reverie works with Claude, or with any server that speaks the Messages API."),
        Content.styled("Choose how to reach a model; /connect comes back here.", "$r-muted"),
    ]
    return ChoiceBox("Welcome", body, choices, id="welcome")


def _servers(access: Access) -> list[Choice]:
    if not access.searched:
        return [Choice("2", "local server   looking…", "look", "server")]
    if not access.servers:
        return [
            Choice(
                "2",
                "local server   none found; start one and press 2 to look again",
                "look",
                "server",
            )
        ]
    keys = ("2", "5", "6", "7")
    return [
        Choice(key, f"local server   {_name(server)}", f"server:{number}", "server")
        for number, (key, server) in enumerate(zip(keys, access.servers, strict=False))
    ]


def _name(server: Server) -> str:
    models = f", {server.models[0]}" if server.models else ""
    return f"{server.name} at {server.base_url}{models}"


def trust_box(folder: str) -> ChoiceBox:
    """Asks whether the folder's own settings and instructions may count."""
    body = [
        Content("This folder has settings or instructions of its own:"),
        Content.styled(f"  {folder}", "bold"),
        Content.styled(
            "They can allow commands and tell the model what to do. They count only when you "
            "trust the folder.",
            "$r-muted",
        ),
    ]
    choices = [
        Choice("1", "Trust this folder", "trust", "trust"),
        Choice("2", "Not now", "not", "not now"),
    ]
    return ChoiceBox("Is this folder yours?", body, choices, id="trust")
