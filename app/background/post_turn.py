"""Where a turn has left things, told without a model (spec/background.md, Post-turn summary)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, cast

from app.background.reply_end import LONGEST, brief, question_in, short_reply, told_in
from app.background.run_outcome import last_run
from app.background.turn import Call, Turn, last_turn
from app.background.words import sentences
from app.sessions.graph import GraphView
from app.state.background import TurnSummary
from app.state.model import TurnEnd

_PLAN_TOOL: Final = "ExitPlanMode"
_QUESTION_TOOL: Final = "AskUserQuestion"
_PLAN_ITEMS: Final = 2
"""List items from which on a reply in plan mode counts as a plan."""
_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+\S|^#{1,4} ")
_SUBJECTS: Final = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "description",
)
"""Arguments that say what a call is about, the most telling first."""


def summarise_turn(
    view: GraphView,
    live_last: TurnEnd | None,
    *,
    running_tasks: int = 0,
    asking: bool = False,
) -> TurnSummary | None:
    """The summary of the last turn at a view, None where the one before still tells the truth.

    `live_last` is how the turn ended in this process; without it the records decide.
    `running_tasks` counts commands that go on in the background, `asking` says that a permission
    or a question waits for the person. Reads no record before the turn's prompt.
    """
    turn = last_turn(view)
    if turn is None:
        return TurnSummary("idle", "nothing asked yet")
    if asking:
        return _asking(turn)
    ended = _broken_off(turn, live_last)
    if ended is not None:
        return ended
    if not turn.calls and not turn.said:
        return None
    if live_last is not None and live_last.detail:  # the reply has no proper end
        return TurnSummary("waiting", _first_words(live_last.detail), needs_action=True)
    return _waiting(turn) or _held_up(turn, running_tasks) or _completed(turn)


def _asking(turn: Turn) -> TurnSummary:
    open_call = next((call for call in turn.calls if not call.answered), None)
    if open_call is None:
        return TurnSummary("blocked", "a permission is pending", needs_action=True)
    if open_call.name == _PLAN_TOOL:
        return TurnSummary("waiting", "the plan waits for approval", needs_action=True)
    if open_call.name == _QUESTION_TOOL:
        return TurnSummary("waiting", _asks(_asked(open_call.arguments)), needs_action=True)
    return TurnSummary("blocked", brief(f"permission: {_subject(open_call)}"), needs_action=True)


def _asked(arguments: Mapping[str, object]) -> str:
    """The first question of a call to AskUserQuestion."""
    questions = arguments.get("questions")
    if not isinstance(questions, list) or not questions:
        return ""
    first = cast("list[object]", questions)[0]
    text = cast("Mapping[str, object]", first).get("question") if isinstance(first, dict) else ""
    return text if isinstance(text, str) else ""


def _broken_off(turn: Turn, live_last: TurnEnd | None) -> TurnSummary | None:
    outcome = live_last.outcome if live_last is not None else turn.end
    words = live_last.detail if live_last is not None and live_last.detail else turn.trouble
    if outcome == "interrupted":
        return TurnSummary("idle", "stopped by you")
    if outcome == "cut_off":
        return TurnSummary("idle", "cut off before its end")
    if outcome == "stopped":
        return TurnSummary("idle", _first_words(words) or "stopped early")
    if outcome == "declined":
        return TurnSummary("failed", "the model declined", needs_action=True)
    if outcome == "failed":
        detail = _first_words(words) or "the request failed"
        return TurnSummary("failed", detail, needs_action=True)
    return None


def _waiting(turn: Turn) -> TurnSummary | None:
    last = turn.calls[-1] if turn.calls else None
    if last is not None and last.name == _PLAN_TOOL and not last.answered:
        return TurnSummary("waiting", "the plan waits for approval", needs_action=True)
    question = question_in(turn.reply)
    if question:
        return TurnSummary("waiting", _asks(question), needs_action=True)
    if turn.mode == "plan" and len(_ITEM.findall(turn.reply)) >= _PLAN_ITEMS:
        return TurnSummary("waiting", "the plan waits for approval", needs_action=True)
    return None


def _held_up(turn: Turn, running_tasks: int) -> TurnSummary | None:
    last = turn.calls[-1] if turn.calls else None
    if last is not None and last.denied:
        who = "you refused" if last.denied == "person" else "not allowed"
        return TurnSummary("blocked", brief(f"{who}: {_subject(last)}"))
    if running_tasks > 0:
        still = "command still runs" if running_tasks == 1 else "commands still run"
        return TurnSummary("working", f"{running_tasks} {still}")
    return None


def _completed(turn: Turn) -> TurnSummary:
    run = last_run(turn.calls)
    if run is not None and not run.passed:
        return TurnSummary("failed", run.words)
    told = brief(told_in(turn.reply))
    words = told or brief(short_reply(turn.reply))
    if words:
        return TurnSummary("completed", words, is_told=bool(told))
    return TurnSummary("completed", run.words if run is not None else _files_changed(turn))


def _files_changed(turn: Turn) -> str:
    files = {path for call in turn.calls if (path := _changed_file(call))}
    if not files:
        return ""
    more = "" if turn.is_whole else "+"
    return f"{len(files)}{more} file{'' if len(files) == 1 and not more else 's'} changed"


def _changed_file(call: Call) -> str:
    """The file that a call's result says was changed; empty for any other result."""
    path = call.details.get("filePath") or call.details.get("notebook_path")
    changes = call.details.get("structuredPatch") or call.details.get("type") in {
        "create",
        "update",
    }
    is_change = bool(changes) or call.name in {"MultiEdit", "NotebookEdit"}
    return path if isinstance(path, str) and is_change and not call.failed else ""


def _subject(call: Call) -> str:
    """What a call is about, in one line: its command, its file, or else the tool's name."""
    if call.name == _PLAN_TOOL:
        return "the plan"
    for key in _SUBJECTS:
        value = call.arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip().split("\n", 1)[0]
    return call.name


def _asks(question: str) -> str:
    return f"asks: {brief(question, LONGEST - len('asks: '))}".rstrip()


def _first_words(text: str) -> str:
    return brief(next(iter(sentences(text[:1_000])), ""))
