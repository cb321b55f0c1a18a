"""Where a turn has left things, by rules or by the small model, and who hears of it."""

from __future__ import annotations

from pathlib import Path

from app.background_settings import PostTurnSettings
from app.models.errors import Overloaded
from app.models.provider import Usage
from app.state import facts as f
from app.state.background import TurnSummary
from tests.fakes.background import background, told

LLM = PostTurnSettings(engine="llm")
GOOD = '{"category": "waiting", "detail": "which clock to use", "needs_action": true}'
SMALL = Usage(input=100, output=20)


async def test_the_old_summary_is_cleared_before_the_new_one_is_set(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        seen: list[TurnSummary | None] = []
        await desk.turn("look", "Summary: the cart is mended.")
        desk.controller.store.subscribe(lambda state: seen.append(state.summary))
        await desk.turn("and the clock", "Which clock do you mean?")
        changes = [each for i, each in enumerate(seen) if i == 0 or each != seen[i - 1]]
        assert [each and each.category for each in changes] == ["completed", None, "waiting"]


async def test_the_small_model_is_asked_where_it_is_wanted(tmp_path: Path) -> None:
    async with background(tmp_path, post_turn=LLM) as desk:
        desk.queue(told(GOOD, SMALL))
        await desk.turn("look", "I looked.")
        assert desk.state.summary == TurnSummary("waiting", "which clock to use", needs_action=True)
        request = desk.provider.requests[-1]
        assert (request.model, request.thinking) == ("claude-haiku-5-5", "off")
        assert request.extra["output_config"]["format"]["type"] == "json_schema"
        (spend,) = desk.state.background.spend
        assert (spend.mechanism, spend.calls, spend.usage) == ("post_turn", 1, SMALL)


async def test_a_second_try_says_what_was_wrong(tmp_path: Path) -> None:
    async with background(tmp_path, post_turn=LLM) as desk:
        desk.queue(told('{"category": "fine"}', SMALL), told(GOOD, SMALL))
        await desk.turn("look", "I looked.")
        first, second = desk.provider.requests[-2:]
        assert second.messages[: len(first.messages)] == first.messages
        assert len(second.messages) == len(first.messages) + 2
        assert desk.state.summary is not None and desk.state.summary.category == "waiting"


async def test_after_two_bad_answers_the_rules_word_stays(tmp_path: Path) -> None:
    async with background(tmp_path, post_turn=LLM) as desk:
        desk.queue(told("no JSON", SMALL), told("[]", SMALL))
        await desk.turn("look", "Summary: the cart is mended.")
        assert desk.state.summary is not None
        assert desk.state.summary.detail == "the cart is mended"
        assert len(desk.provider.requests) == 3
        (task,) = desk.tasks("post_turn")
        assert task.status == "aborted" and "two tries" in task.detail


async def test_a_failed_call_leaves_the_rules_word(tmp_path: Path) -> None:
    async with background(tmp_path, post_turn=LLM) as desk:
        desk.queue([Overloaded("The service is busy.", status=529)])
        await desk.turn("look", "Summary: the cart is mended.")
        assert desk.state.summary is not None and desk.state.summary.category == "completed"
        assert desk.mechanism("post_turn").trouble == "The service is busy"
        await desk.turn("again", "Summary: the cart is mended.")
        assert len(desk.provider.requests) == 3


async def test_another_branch_has_its_own_summary(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await desk.turn("look", "Summary: the cart is mended.")
        view = desk.state.session.view
        await desk.turn("and the clock", "Which clock do you mean?")
        assert desk.state.summary is not None and desk.state.summary.category == "waiting"
        desk.controller.emit(f.HeadMoved(view))
        assert desk.state.summary.category == "completed"
