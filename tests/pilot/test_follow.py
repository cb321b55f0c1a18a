from __future__ import annotations

import asyncio

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from app.state.store import Store
from widgets.follow import AppTiming, Follow, Frames


class Number(Follow, Static):
    def __init__(self, seen: list[int], breaks_at: int | None = None) -> None:
        super().__init__()
        self.seen = seen
        self.breaks_at = breaks_at

    def on_mount(self) -> None:
        self.follow(lambda state: state, self.apply)

    def apply(self, value: int) -> None:
        if value == self.breaks_at:
            raise ValueError("apply broke")
        self.seen.append(value)


class Host(App[None]):
    def __init__(self, *widgets: Number) -> None:
        super().__init__()
        self.store: Store[int, int] = Store(0, lambda state, fact: fact)
        self.frames: Frames[int] = Frames(self.store, AppTiming(self), fps=None)
        self.hosted = widgets

    def compose(self) -> ComposeResult:
        yield from self.hosted


async def test_two_widgets_with_one_selector_both_follow() -> None:
    first: list[int] = []
    second: list[int] = []
    app = Host(Number(first), Number(second))
    async with app.run_test() as pilot:
        app.store.dispatch(1)
        await pilot.pause()
    assert first == second == [0, 1]


async def test_unmounting_releases_the_follow() -> None:
    seen: list[int] = []
    widget = Number(seen)
    app = Host(widget)
    async with app.run_test() as pilot:
        await widget.remove()
        app.store.dispatch(1)
        await pilot.pause()
        assert app.frames._followers == []
    assert seen == [0]


async def test_an_error_in_apply_reaches_the_test() -> None:
    app = Host(Number([], breaks_at=2))
    with pytest.raises(ValueError, match="apply broke"):
        async with app.run_test() as pilot:
            app.store.dispatch(2)
            await pilot.pause()


async def test_threads_dispatch_through_the_app() -> None:
    seen: list[int] = []
    app = Host(Number(seen))
    async with app.run_test() as pilot:
        await asyncio.to_thread(app.call_from_thread, app.store.dispatch, 5)
        await pilot.pause()
    assert seen == [0, 5]
