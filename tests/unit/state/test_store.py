from __future__ import annotations

import threading

import pytest

from app.state.store import Store


def counting() -> Store[int, int]:
    return Store(0, lambda state, fact: state + fact)


def test_a_listener_hears_every_change_once() -> None:
    store = counting()
    heard: list[int] = []
    store.subscribe(heard.append)
    store.dispatch(2)
    store.dispatch(3)
    assert (store.state, heard) == (5, [2, 5])


def test_a_fact_that_changes_nothing_is_no_notice() -> None:
    store = counting()
    heard: list[int] = []
    store.subscribe(heard.append)
    store.dispatch(0)
    assert heard == []


def test_a_released_listener_hears_nothing_more() -> None:
    store = counting()
    heard: list[int] = []
    release = store.subscribe(heard.append)
    release()
    release()
    store.dispatch(1)
    assert heard == []


def test_a_reducer_may_not_dispatch() -> None:
    store: Store[int, int]

    def reducer(state: int, fact: int) -> int:
        store.dispatch(1)
        return state + fact

    store = Store(0, reducer)
    with pytest.raises(RuntimeError, match="reducer"):
        store.dispatch(1)
    assert store.state == 0


def test_a_dispatch_from_another_thread_is_refused() -> None:
    store = counting()
    errors: list[BaseException] = []

    def elsewhere() -> None:
        try:
            store.dispatch(1)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(errors) == 1
    assert store.state == 0


def test_an_adopted_thread_may_dispatch() -> None:
    store = counting()

    def elsewhere() -> None:
        store.adopt_thread()
        store.dispatch(4)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert store.state == 4


def test_a_listener_may_dispatch() -> None:
    store = counting()
    store.subscribe(lambda state: store.dispatch(1) if state < 3 else None)
    store.dispatch(1)
    assert store.state == 3
