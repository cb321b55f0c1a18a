"""Where a conversation stands, in one or two sentences: for `/recap` and for whoever comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from app.agent.caller import Purpose
from app.agent.loop import AgentLoop
from app.agent.side_call import ask
from app.background.away import MOST_WORDS
from app.background.conversation_look import look
from app.background.forked_call import forked_request
from app.background.words import count_words, sentences
from app.errors import ReverieError
from app.models.errors import ModelError
from app.models.rehearsal.markers import RECAP_MARKER
from app.models.retry import RetryPolicy
from app.plain_text import plain_line

ONCE: Final = RetryPolicy(attempts=1, broken_attempts=1)
"""Nobody waits for the answer: a call that fails is not repeated."""
MOST_SENTENCES: Final = 2
MOST_READ: Final = 2_000
"""Characters of a reply that are looked at; some servers keep to no limit."""
INSTRUCTION: Final = f"""\
{RECAP_MARKER}: say in one or two sentences, in fewer than {MOST_WORDS} words, what was being \
done here and what comes next. Name the files, the result, and what waits for the person's word, \
if anything does. Write in the person's language, as plain text without headings, lists or \
quotation marks. Call no tools; what you write is shown to the person and is no part of the \
conversation."""


class NoTurn(ReverieError):
    """There is nothing to recap yet."""


@dataclass(frozen=True, slots=True)
class Recap:
    """What came of a recap that the person asked for (spec/background.md, `/recap`)."""

    status: Literal["ok", "api_error", "no_turn", "aborted", "failed"]
    text: str
    """The recap, else what went wrong in a sentence."""


async def make_recap(loop: AgentLoop, purpose: Purpose, *, patient: bool = False) -> str:
    """The recap of the conversation as it is now.

    `patient` repeats a call that failed, as in a turn. Raises `NoTurn` and `ModelError`.
    """
    view = loop.conversation.view
    if not look(view).answered:
        raise NoTurn("There is nothing to recap yet.", todo="Ask something first.")
    caller = loop.caller
    request = forked_request(
        view, caller, loop.last_request, INSTRUCTION, strip_thinking=loop.strips_thinking
    )
    retry = caller.retry if patient else ONCE
    reply = await ask(request, caller, purpose, loop.clock, loop.measure, retry, reads_cache=True)
    return shortened(reply)


def shortened(reply: str) -> str:
    """The first two sentences of a reply as one line of fewer than 40 words."""
    line = plain_line(" ".join(reply[:MOST_READ].split())).strip(" \"'“”„«»*#`")
    text = ""
    for sentence in sentences(line)[:MOST_SENTENCES]:
        longer = f"{text} {sentence}".strip()
        if count_words(longer) >= MOST_WORDS:
            break
        text = longer
    return text or _first_words(line)


def _first_words(line: str) -> str:
    if count_words(line) < MOST_WORDS:
        return line
    fits, fails = 0, len(line)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if count_words(line[:middle]) < MOST_WORDS else (fits, middle)
    words = line[:fits]
    return (words.rsplit(" ", 1)[0] if " " in words else words) + "…"


async def recap(loop: AgentLoop) -> Recap:
    """What `/recap` says. Nothing of it becomes a record."""
    try:
        text = await make_recap(loop, "recap", patient=True)
    except NoTurn as error:
        return Recap("no_turn", str(error))
    except ModelError as error:
        return Recap("api_error", f"No recap was made. {error}")
    if not text:
        return Recap("failed", "No recap was made: the model wrote nothing.")
    return Recap("ok", text)
