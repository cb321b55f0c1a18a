"""The one bridge between the store and Textual: selectors in, at most one call a frame out.

A burst of facts becomes one `apply` with the newest value; what did not change is not delivered
(ARCHITECTURE.md, The store). Delivery goes through the widget's own message queue, so that an
error in `apply` reaches the app and fails a test.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from app.state.store import Store

S = TypeVar("S")
V = TypeVar("V")

DEFAULT_FPS = 60


class Timing(Protocol):
    """When a flush happens."""

    def now(self) -> float:
        """Monotonic seconds."""
        ...

    def soon(self, flush: Callable[[], None]) -> None:
        """Call as soon as the event at hand is done."""
        ...

    def later(self, delay: float, flush: Callable[[], None]) -> None:
        """Call in `delay` seconds."""
        ...


class Node(Protocol):
    """The part of a Textual node that delivery needs."""

    def call_next(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> object:
        """Queue a callback in the node's own task."""
        ...


@dataclass(slots=True, eq=False)
class _Follower(Generic[S]):
    node: Node
    selector: Callable[[S], Any]
    apply: Callable[[Any], Awaitable[None] | None]
    value: Any
    queued: bool = False
    released: bool = False

    async def deliver(self) -> None:
        self.queued = False
        if self.released:
            return
        result = self.apply(self.value)
        if inspect.isawaitable(result):
            await result


class Frames(Generic[S]):
    """Groups the store's changes into frames and hands each follower its newest value.

    The first change is delivered at once, later ones at most `fps` times a second. With `fps`
    None every change is flushed synchronously, which makes tests deterministic.
    """

    def __init__(
        self, store: Store[S, Any], timing: Timing, *, fps: float | None = DEFAULT_FPS
    ) -> None:
        self._store = store
        self._timing = timing
        self._frame = None if fps is None else 1 / fps
        self._followers: list[_Follower[S]] = []
        self._flushed = float("-inf")
        self._scheduled = False
        self._unsubscribe = store.subscribe(self._changed)

    def follow(
        self,
        node: Node,
        selector: Callable[[S], V],
        apply: Callable[[V], Awaitable[None] | None],
    ) -> Callable[[], None]:
        """Call `apply` with the selected value now and whenever it is another object.

        Returns what ends that; a delivery that is already queued is then dropped.
        """
        follower: _Follower[S] = _Follower(node, selector, apply, selector(self._store.state))
        self._followers.append(follower)
        result = apply(follower.value)
        if inspect.isawaitable(result):
            node.call_next(partial(_wait, result))

        def release() -> None:
            follower.released = True
            if follower in self._followers:
                self._followers.remove(follower)

        return release

    def close(self) -> None:
        """Hear of no further change."""
        self._unsubscribe()

    def _changed(self, _state: S) -> None:
        if self._frame is None:
            self._flush()
        elif not self._scheduled:
            self._scheduled = True
            wait = self._flushed + self._frame - self._timing.now()
            if wait <= 0:
                self._timing.soon(self._flush)
            else:
                self._timing.later(wait, self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        self._flushed = self._timing.now()
        state = self._store.state
        for follower in tuple(self._followers):
            value = follower.selector(state)
            if value is follower.value:
                continue
            follower.value = value
            if not follower.queued:
                follower.queued = True
                follower.node.call_next(follower.deliver)


async def _wait(awaitable: Awaitable[None]) -> None:
    await awaitable


class AppTiming:
    """Frames timed by a running Textual app."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def now(self) -> float:
        return time.monotonic()

    def soon(self, flush: Callable[[], None]) -> None:
        self._app.call_later(flush)

    def later(self, delay: float, flush: Callable[[], None]) -> None:
        self._app.set_timer(delay, flush)


class Follow:
    """A widget mixin: `self.follow(selector, apply)` in `on_mount`, released on unmount."""

    _releases: list[Callable[[], None]] | None = None

    def follow(
        self, selector: Callable[[Any], V], apply: Callable[[V], Awaitable[None] | None]
    ) -> None:
        """Show what the selector finds in the shared state, now and after every change."""
        if self._releases is None:
            self._releases = []
        node: Any = self
        frames: Frames[Any] = node.app.frames
        self._releases.append(frames.follow(node, selector, apply))

    def _on_unmount(self) -> None:
        for release in self._releases or ():
            release()
        self._releases = None
