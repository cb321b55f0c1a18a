from __future__ import annotations

from pathlib import Path

import pytest

from app.controller import Controller
from tests.fakes.sessions import Made, session_id
from tests.pilot.trees import shop, tree
from tests.unit.sessions.families import forked


async def test_a_node_of_the_branch_in_use_never_leaves_the_session(tmp_path: Path) -> None:
    origin = Made(1).talk("early")
    origin.add("system", None, subtype="compact_boundary", logicalParentUuid=origin.leaf)
    origin.user("It was early.", isCompactSummary=True).talk("late")
    async with tree(tmp_path, forked(origin, 2).talk("elsewhere"), origin) as shown:
        await shown.press("g")
        assert (shown.node.text, shown.node.session_id) == ("early", session_id(1))
        await shown.press("enter")
        assert shown.chosen == [None] and "You are on this branch already." in shown.notices()


@pytest.mark.parametrize("key", ["enter", "r", "f", "n"])
async def test_what_a_turn_forbids_is_refused_where_one_is(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("k")
        monkeypatch.setattr(Controller, "is_busy", property(lambda _: True))
        await shown.press(key)
        assert shown.chosen == [] and shown.node.text == "side two"
        assert "The turn is still going on" in shown.notices()


@pytest.mark.parametrize("key", ["r", "f"])
async def test_one_cannot_go_back_in_another_session(tmp_path: Path, key: str) -> None:
    async with tree(tmp_path, shop(), forked(shop(), 2).talk("elsewhere")) as shown:
        await shown.press("G", key)
        assert shown.chosen == [] and shown.node.text == "elsewhere"
        assert "That is in another session" in shown.notices()


def restarted() -> Made:
    """Two beginnings; the conversation is in the second one."""
    made = Made(1).talk("one").talk("two")
    made.add("system", subtype="rewind", content="Went back to before “one”.", rewind={})
    made.leaf = None
    return made.talk("again")


async def test_a_second_beginning_is_a_branch(tmp_path: Path) -> None:
    async with tree(tmp_path, restarted()) as shown:
        lines = ["├─○ one", "│ ○ two", "│ ↺ Went back to before “one”.", "● again"]
        assert shown.texts() == lines and "2 branches" in shown.said("head")
        await shown.press("left_square_bracket")
        assert shown.node.text == "one"
        await shown.press("left")
        assert shown.texts() == ["├─○ one", "● again"] and "▸ 2 more" in shown.lines()[0]
        await shown.press("z")
        assert shown.texts() == lines


async def test_before_the_first_prompt_it_is_said_where_one_is(tmp_path: Path) -> None:
    made = Made(1).talk("one").raw(type="last-prompt", leafUuid=None, explicit=True)
    async with tree(tmp_path, made) as shown:
        assert "← here: before the first prompt" in shown.said("said")
        assert "← here" not in "".join(shown.lines())
    async with tree(tmp_path, shop()) as shown:
        assert "← here" not in shown.said("said")


async def test_what_was_left_again_is_a_branch(tmp_path: Path) -> None:
    made = Made(1).talk("one")
    start = made.leaf
    made.talk("two").raw(type="last-prompt", leafUuid=start, explicit=True)
    async with tree(tmp_path, made) as shown:
        assert shown.texts() == ["● one", "╰─○ two"] and "2 branches" in shown.said("head")
        await shown.press("x")
        assert "two" not in (tmp_path / "work" / "one.md").read_text()
