"""The one shared store: facts go in, the state comes out, listeners hear that it changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")
F = TypeVar("F")


class Store(Generic[S, F]):
    """Holds the state and folds facts into it, synchronously.

    Belongs to the thread that made it: other threads use `loop.call_soon_threadsafe`. A dispatch
    from inside a reducer is refused; one from inside a listener is folded after the listeners have
    heard of the first.
    """

    def __init__(self, state: S, reducer: Callable[[S, F], S]) -> None:
        self._state = state
        self._reducer = reducer
        self._listeners: list[Callable[[S], None]] = []
        self._thread = threading.get_ident()
        self._reducing = False

    @property
    def state(self) -> S:
        """The state as it is now."""
        return self._state

    def adopt_thread(self) -> None:
        """Belong to the calling thread from now on."""
        self._thread = threading.get_ident()

    def dispatch(self, fact: F) -> None:
        """Fold a fact; listeners hear of it only when the state changed.

        Raises `RuntimeError` from another thread or from inside a reducer.
        """
        if threading.get_ident() != self._thread:
            raise RuntimeError("facts are dispatched on the store's own thread")
        if self._reducing:
            raise RuntimeError("a reducer may not dispatch")
        before = self._state
        self._reducing = True
        try:
            after = self._reducer(before, fact)
        finally:
            self._reducing = False
        if after is before:
            return
        self._state = after
        for listener in tuple(self._listeners):
            listener(self._state)

    def subscribe(self, listener: Callable[[S], None]) -> Callable[[], None]:
        """Hear of every change with the state after it; returns what ends that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe
