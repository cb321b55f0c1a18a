"""`reverie sessions request`: the exact messages that the next call of the model would carry."""

from __future__ import annotations

from typing import Any

from app.agent.remembering import briefing_of, session_memory
from app.agent.request import build_request
from app.agent.tools.registry import offered_tools
from app.assembly import choose_provider, make_caller
from app.cli.output import JsonObject, print_json, print_lines
from app.cli.transcript import Transcript
from app.installation import Installation, Options, model_name
from app.models.clean import clean
from app.plain_text import cut


def request(here: Installation, transcript: Transcript, model: str | None, *, as_json: bool) -> int:
    """Print the next request of a session; returns the exit code."""
    options = Options(model=model)
    settings = here.settings(options).settings
    provider = choose_provider(model_name(settings), here, settings, None)
    memory = session_memory(here, settings, transcript.session_id)
    briefing = briefing_of(here, memory)
    briefing.look()
    feedback = settings.feedback.drafts == "on"
    tools = offered_tools(None, memory=memory is not None, feedback=feedback)
    caller = make_caller(here, options, model_name(settings), provider, tools, briefing.blocks)
    built = build_request(
        transcript.view,
        model=caller.model,
        system=caller.system,
        tools=caller.tools,
        max_tokens=caller.max_tokens,
    )
    messages: list[Any] = clean(list(built.messages))
    if as_json:
        print_json(
            {
                "session_id": transcript.session_id,
                "model": built.model,
                "system": clean(list(built.system)),
                "tools": list(built.tools),
                "messages": messages,
            }
        )
        return 0
    print_lines(*(line for message in messages for line in _message_lines(message)))
    return 0


def _message_lines(message: JsonObject) -> list[str]:
    lines = [f"{message['role']}:"]
    for block in message["content"]:
        kind = str(block["type"])
        shown = {
            "text": block.get("text"),
            "tool_use": f"{block.get('name')} {block.get('input')}",
            "tool_result": block.get("content"),
        }.get(kind, "")
        lines.append(f"  {kind}  {cut(' '.join(str(shown).split()), 100)}".rstrip())
    return lines
