from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.main import ReverieApp
from app.models.provider import Usage
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from app.state import facts as f
from app.state.model import Session
from app.tree_desk import TreeDesk
from tests.fakes.sessions import Made
from tests.pilot.trees import edit
from tests.snapshot.states import chat_app
from tests.unit.sessions.families import forked
from widgets.screens.tree import TreeScreen

Compare = Callable[..., bool]
Keys = tuple[str, ...]
SIZES = {"wide": (120, 40), "small": (80, 24), "tiny": (20, 5)}


def shop() -> Made:
    """A morning's work: a side branch, a rewind, a compaction, labels, and a recap."""
    made = Made(1).user("the checkout test fails about one run in five")
    edit(made, "t1", "/w/src/cart/expiry.py", "-deadline = time.time()", "+deadline = now()")
    made.calls("t2", "Bash", command="pytest -q").result("t2", "50 passed")
    made.says("It is the **clock**. I'll replace it.\n\n- 50 runs pass\n- nothing else changed")
    made.talk("also run the whole suite", "All pass.")
    start = made.leaf
    made.user("use freezegun instead, wherever a test still looks at the wall clock itself")
    edit(made, "t3", "/w/tests/conftest.py", *["+from freezegun import freeze_time"] * 3, "-x")
    made.says("Done.").talk("now remove the helper").talk("and its docs")
    made.leaf = start
    rewind = {"target": "x", "mode": "both", "undoes": None}
    made.add(
        "system", subtype="rewind", rewind=rewind, content="Rewound to “use freezegun instead”."
    )
    made.talk("日本語のテストも直して 👍🏽", "はい。")
    made.add("system", subtype="away_summary", content="The suite passes; next is session.py.")
    sizes = {"preTokens": 182_000, "postTokens": 9_000}
    before = made.leaf
    made.add(
        "system", None, subtype="compact_boundary", logicalParentUuid=before, compactMetadata=sizes
    )
    made.user("It was the clock.", isCompactSummary=True)
    made.talk("fix the same clock in session.py", "Fixed.").titled("Fix the flaky checkout test")
    made.raw(type="label", label="good", messageUuid=f"{made.id[:8]}-u1", sessionId=made.id)
    return made


def relative() -> Made:
    return (
        forked(shop(), 2).talk("try asyncio timers", "They keep the same clock.").titled("Timers")
    )


def branchy(branches: int) -> Made:
    made = Made(1).talk("begin")
    start = made.leaf
    for number in range(1, branches):
        made.leaf = start
        made.talk(f"way {number}").talk(f"way {number}, further").talk(f"way {number}, the end")
    return made.titled("Many ways")


def deep(levels: int) -> Made:
    """Each branch leaves the one before it."""
    made = Made(1).talk("begin")
    starts: list[str | None] = []
    for level in range(1, levels):
        starts.append(made.leaf)
        made.talk(f"level {level}, where the next branch leaves")
    for level in range(levels - 1, 0, -1):
        made.leaf = starts[level - 1]
        made.talk(f"straight on from level {level}")
    return made.titled("Deep")


def app_with(tmp_path: Path, *made: Made, **settings: Any) -> ReverieApp:
    app = chat_app(tmp_path, (), **settings)
    controller = app.controller
    session = Session(folder="/w", root="/w", title="Fix the flaky checkout test")
    if made:
        for each in made:
            each.keep(controller.here.places, controller.here.folder)
        view = open_view(parse_transcript(made[0].text().encode()).records)
        session = Session(made[0].id, "/w", "/w", view, session.title)
    controller.emit(f.SessionOpened(session, Usage(), 0.0, 1_000_000))
    controller.emit(f.TrustSettled(True))
    controller.emit(f.AccessChanged(True))
    return app


async def shown(pilot: Pilot[Any], keys: Keys = (), known: frozenset[str] | None = None) -> None:
    app = pilot.app
    assert isinstance(app, ReverieApp)
    controller = app.controller

    def files_at(_: str, uuid: str) -> dict[str, bytes | None]:
        return {
            "src/cart/expiry.py": f"def expire():\n    return {len(uuid) * uuid[-1]}\n".encode()
        }

    desk = TreeDesk(
        controller.here,
        lambda: controller.loaded.settings,
        lambda: controller.state.session,
        lambda: controller._need_runtime().conversation,
        restorable=lambda: known,
        files_at=files_at,
    )
    await app.push_screen(TreeScreen(controller, desk))
    await settled(pilot)
    for key in keys:
        await pilot.press(key)
        await settled(pilot)
    await settled(pilot)


async def settled(pilot: Pilot[Any]) -> None:
    for _ in range(3):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


def pressing(*keys: str, known: frozenset[str] | None = None) -> Callable[..., Awaitable[None]]:
    async def act(pilot: Pilot[Any]) -> None:
        await shown(pilot, keys, known)

    return act


VIEWS: dict[str, Keys] = {
    "opened": (),
    "side": ("g", "down", "down"),
    "fork": ("G",),
    "folded": ("z", "g", "down", "down"),
    "searched": ("slash", *"clock"),
    "labelling": ("l",),
    "marked": ("c", "up"),
    "compared": ("c", "g", "down", "down", "c"),
    "with_files": ("full_stop", "full_stop"),
    "nothing_labelled": ("full_stop", "full_stop", "full_stop"),
    "reading": ("g", "tab"),
    "help": ("f1",),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", VIEWS)
def test_view(snap_compare: Compare, tmp_path: Path, size: str, name: str) -> None:
    app = app_with(tmp_path, shop(), relative())
    act = pressing(*VIEWS[name])
    assert snap_compare(app, terminal_size=SIZES[size], run_before=act)


def restarted() -> Made:
    """Went back to before the first prompt and began anew; what was said before is a branch."""
    made = Made(1).talk("look for the leak").talk("and stop it")
    made.add("system", subtype="rewind", content="Went back to before “look for…”.", rewind={})
    made.leaf = None
    return made.talk("mend the pump first").titled("The leak")


def gone_back() -> Made:
    """Went back to before the first prompt and has said nothing since."""
    made = Made(1).talk("look for the leak").talk("and stop it").titled("The leak")
    return made.raw(type="last-prompt", leafUuid=None, explicit=True)


def big() -> Made:
    """Numbers that have no room for all of their digits."""
    made = Made(1)
    for number, lines in enumerate((7, 1_234, 12_345)):
        made.user(f"rewrite part {number}")
        edit(made, f"t{number}", "/w/a.py", *["+x"] * lines, *["-y"] * (lines // 2))
        for each in range(lines // 10):
            made.calls(f"s{number}-{each}", "Bash", command="ls")
        made.says("Done.")
    return made.titled("Big numbers")


MADE: dict[str, tuple[Made, ...]] = {
    "one_branch": (Made(1).talk("one").talk("two").talk("three"),),
    "twelve_branches": (branchy(12),),
    "deep": (deep(22),),
    "two_beginnings": (restarted(),),
    "before_the_first": (gone_back(),),
    "big_numbers": (big(),),
    "empty": (),
    "hostile": (Made(1).talk("[red]x[/] \x1b[2J\u202eabc", "[b]y[/b] \x1b]0;x\x07"),),
}


@pytest.mark.parametrize("size", ["wide", "small"])
@pytest.mark.parametrize("name", MADE)
def test_shape(snap_compare: Compare, tmp_path: Path, size: str, name: str) -> None:
    app = app_with(tmp_path, *MADE[name])
    assert snap_compare(app, terminal_size=SIZES[size], run_before=pressing())


def test_what_cannot_be_restored(snap_compare: Compare, tmp_path: Path) -> None:
    act = pressing("g", known=frozenset({f"{shop().id[:8]}-u7"}))
    app = app_with(tmp_path, shop(), relative())
    assert snap_compare(app, terminal_size=SIZES["wide"], run_before=act)


@pytest.mark.parametrize("theme", ["dawn", "ember", "ink"])
def test_theme(snap_compare: Compare, tmp_path: Path, theme: str) -> None:
    app = app_with(tmp_path, shop(), relative(), theme=theme)
    act = pressing("g", "down", "down")
    assert snap_compare(app, terminal_size=SIZES["wide"], run_before=act)


def test_ascii_signs(snap_compare: Compare, tmp_path: Path) -> None:
    app = app_with(tmp_path, shop(), relative(), glyphs="ascii")
    assert snap_compare(app, terminal_size=SIZES["wide"], run_before=pressing("z"))
