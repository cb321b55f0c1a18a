from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from app.state.store import Store
from widgets.follow import Frames


class FakeTiming:
    def __init__(self) -> None:
        self.time = 0.0
        self.planned: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> float:
        return self.time

    def soon(self, flush: Callable[[], None]) -> None:
        self.planned.append((self.time, flush))

    def later(self, delay: float, flush: Callable[[], None]) -> None:
        self.planned.append((self.time + delay, flush))

    def run_until(self, time: float) -> None:
        self.time = time
        due = [plan for plan in self.planned if plan[0] <= time]
        self.planned = [plan for plan in self.planned if plan[0] > time]
        for _, flush in due:
            flush()


class FakeNode:
    def __init__(self) -> None:
        self.queue: list[Callable[..., Any]] = []

    def call_next(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.queue.append(callback)

    async def work(self) -> None:
        while self.queue:
            result = self.queue.pop(0)()
            if inspect.isawaitable(result):
                await result


Pair = tuple[int, int]


def setting(state: Pair, fact: Pair) -> Pair:
    return state if fact == state else fact


def make(fps: float | None = 10) -> tuple[Store[Pair, Pair], FakeTiming, Frames[Pair], FakeNode]:
    store: Store[Pair, Pair] = Store((0, 0), setting)
    timing = FakeTiming()
    return store, timing, Frames(store, timing, fps=fps), FakeNode()


async def test_the_present_value_is_applied_at_once() -> None:
    _, _, frames, node = make()
    seen: list[int] = []
    frames.follow(node, lambda state: state[0], seen.append)
    assert seen == [0]


async def test_a_burst_becomes_the_first_and_the_last_value() -> None:
    store, timing, frames, node = make()
    seen: list[int] = []
    frames.follow(node, lambda state: state[0], seen.append)
    store.dispatch((1, 0))
    timing.run_until(0.0)
    await node.work()
    for number in range(2, 50):
        store.dispatch((number, 0))
    assert len(timing.planned) == 1
    timing.run_until(0.09)
    await node.work()
    assert seen == [0, 1]
    timing.run_until(0.1)
    await node.work()
    assert seen == [0, 1, 49]


async def test_a_slow_follower_gets_the_newest_value_and_no_backlog() -> None:
    store, timing, frames, node = make(fps=None)
    seen: list[int] = []
    frames.follow(node, lambda state: state[0], seen.append)
    for number in range(1, 6):
        store.dispatch((number, 0))
    assert len(node.queue) == 1
    await node.work()
    assert seen == [0, 5]
    assert timing.planned == []


async def test_a_follower_hears_nothing_of_other_slices() -> None:
    store, _, frames, node = make(fps=None)
    seen: list[int] = []
    frames.follow(node, lambda state: state[0], seen.append)
    store.dispatch((0, 1))
    assert node.queue == []
    assert seen == [0]


async def test_a_released_follower_gets_nothing_even_if_it_is_queued() -> None:
    store, _, frames, node = make(fps=None)
    seen: list[int] = []
    release = frames.follow(node, lambda state: state[0], seen.append)
    store.dispatch((1, 0))
    release()
    await node.work()
    store.dispatch((2, 0))
    await node.work()
    assert seen == [0]


async def test_an_async_apply_is_awaited_in_the_nodes_own_task() -> None:
    store, _, frames, node = make(fps=None)
    seen: list[int] = []

    async def apply(value: int) -> None:
        seen.append(value)

    frames.follow(node, lambda state: state[0], apply)
    await node.work()
    store.dispatch((3, 0))
    await node.work()
    assert seen == [0, 3]


async def test_closed_frames_hear_nothing() -> None:
    store, timing, frames, _ = make()
    frames.close()
    store.dispatch((1, 0))
    assert timing.planned == []
