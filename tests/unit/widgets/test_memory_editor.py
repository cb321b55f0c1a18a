from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual import events
from textual.app import App, ComposeResult

from widgets.memory.editor import Editor


class Alone(App[None]):
    """An editor that gets all keys back at once."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._begun = text
        self.pressed: list[str] = []

    def compose(self) -> ComposeResult:
        yield Editor(self, self._begun)

    async def press(self, action: str) -> None:
        self.pressed.append(action)

    async def deliver(self, event: events.Key | events.Paste) -> None:
        editor = self.query_one(Editor)
        if isinstance(event, events.Paste):
            await editor.pasted(event.text)
        else:
            await editor.typed(event)


@asynccontextmanager
async def alone(text: str) -> AsyncIterator[tuple[Alone, Editor, object]]:
    app = Alone(text)
    async with app.run_test(size=(60, 20)) as pilot:
        editor = app.query_one(Editor)
        editor.focus()
        await pilot.pause()
        yield app, editor, pilot


def colours(editor: Editor, row: int) -> set[str]:
    spans = editor.get_line(row).spans
    return {str(span.style) for span in spans}


async def test_the_text_is_up_to_date_after_every_kind_of_change() -> None:
    async with alone("one\ntwo") as (app, editor, _):
        await app.deliver(events.Key("x", "x"))
        assert editor.text == "xone\ntwo"
        await app.deliver(events.Key("enter", "\r"))
        await app.deliver(events.Paste("p\x1bq"))
        assert editor.text == "x\np␛qone\ntwo"
        for _ in range(3):
            await app.deliver(events.Key("ctrl+z", None))
        assert editor.text == "one\ntwo"
        await app.deliver(events.Key("ctrl+y", None))
        assert editor.text == "xone\ntwo"
        editor.text = "new"
        assert editor.text == "new"


async def test_a_fence_that_is_typed_above_colours_the_lines_below() -> None:
    async with alone("a\n# b\n") as (app, editor, _):
        heading = colours(editor, 1)
        for _ in range(3):
            await app.deliver(events.Key("grave_accent", "`"))
        editor.replace("```\n", (0, 0), (0, 3))
        code = colours(editor, 2)
        assert heading and code and heading != code
        editor.undo()
        editor.replace("", (0, 0), (0, 3))
        assert colours(editor, 1) == heading


async def test_keys_of_the_screen_are_handed_over_and_its_own_are_not() -> None:
    async with alone("one two") as (app, editor, _):
        for key in ("ctrl+s", "escape", "ctrl+f", "ctrl+e", "f1"):
            await app.deliver(events.Key(key, None))
        assert app.pressed == ["save", "leave_editor", "find", "external", "help"]
        await app.deliver(events.Key("end", None))
        await app.deliver(events.Key("ctrl+w", None))
        await app.deliver(events.Key("f7", None))
        assert editor.text == "one " and not editor.selected_text


async def test_the_cursor_steps_over_whole_characters() -> None:
    async with alone("👩‍💻x") as (app, editor, _):
        await app.deliver(events.Key("right", None))
        await app.deliver(events.Key("backspace", None))
        assert editor.text == "x"


async def test_a_text_that_follows_keeps_cursor_and_place() -> None:
    text = "\n".join(f"line {n}" for n in range(200))
    async with alone(text) as (_, editor, pilot):
        editor.move_cursor((100, 2))
        await pilot.pause()  # pyright: ignore[reportAttributeAccessIssue] - a Pilot
        top = editor.scroll_offset.y
        editor.follow_text(text + "\nmore")
        assert editor.cursor_location == (100, 2) and editor.scroll_offset.y == top > 0
        assert editor.wrapped_document.height == 201


async def test_a_text_that_is_put_in_its_place_is_one_step_back() -> None:
    async with alone("one\ntwo") as (app, editor, _):
        await app.deliver(events.Key("x", "x"))
        editor.change_text("three")
        editor.undo()
        assert editor.text == "xone\ntwo"


async def test_ctrl_home_and_ctrl_end_go_to_the_ends_of_the_document() -> None:
    async with alone("one\ntwo\nthree") as (app, editor, _):
        await app.deliver(events.Key("ctrl+end", None))
        assert editor.cursor_location == (2, 5)
        await app.deliver(events.Key("ctrl+home", None))
        assert editor.cursor_location == (0, 0)
