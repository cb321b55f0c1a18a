"""When the model is reminded that it can note something: by what the person said or what went
wrong before. It costs no call of its own."""

from __future__ import annotations

import re
from typing import Final

FAILURES: Final = 2
"""Failed or refused calls in a turn from which something may be learnt."""

_LASTING: Final = re.compile(
    r"\b(?:remember|don'?t forget|keep in mind|from now on|in (?:the )?future|next time|"
    r"always|never|prefer|as a rule|by convention|we (?:use|don'?t use|agreed|decided))\b"
    r"|\b(?:no|nope|wrong|actually)\b[,.!:]|\bthat'?s (?:wrong|not)\b|\bi (?:told|said)\b"
    r"|\b(?:merk(?:e)? dir|denk(?:e)? daran|ab jetzt|in zukunft|künftig|immer|niemals|nie wieder)\b"
    r"|\b(?:souviens-toi|retiens|désormais|toujours|jamais)\b"
    r"|\b(?:recuerda|de ahora en adelante|siempre|nunca)\b"
    r"|记住|以后|从现在起|总是|不要再|覚えて|今後|必ず",
    re.IGNORECASE,
)
_LONGEST: Final = 4_000
"""Characters of a prompt that are looked at: a pasted log says always and never all the time."""

SAID: Final = (
    "If the message above holds something that later sessions should know (a decision, a "
    "preference, a correction), note it with the memory tool together with your other calls, "
    "unless it is noted already. Say nothing of this remark."
)
LEARNT: Final = (
    "Several calls failed or were refused in the work before. If the reason would help later "
    "sessions, note it with the memory tool together with your other calls, unless it is noted "
    "already. Say nothing of this remark."
)


def reminder(prompt: str, failures: int) -> str:
    """What the model is told behind a prompt; empty as a rule.

    `failures` is how many calls of the turn before failed or were refused.
    """
    if len(prompt) <= _LONGEST and _LASTING.search(prompt):
        return SAID
    return LEARNT if failures >= FAILURES else ""
