"""An area in which Markdown is written: cheap at each key, whatever the text's size."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.widgets.text_area import DocumentNavigator, Edit, EditResult, Location

from app.plain_text import plain
from widgets.keys import bindings_of
from widgets.looks import palette_of
from widgets.memory.finding import pattern_of
from widgets.memory.markdown_lines import OUTSIDE, Kind, spans, state_after
from widgets.memory.wrapped import QuickWrapped
from widgets.palette import Palette
from widgets.prompt.graphemes import GraphemeArea
from widgets.ring import KeyRing

MOST_STEPS = 500
"""Steps that can be undone."""


class MarkdownArea(GraphemeArea):
    """One text. Keys go to the screen first, which hands them back when it is their turn."""

    SCREEN_KEYS: ClassVar[str]
    """How the ids of the keys begin that are the screen's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z,super+z,ctrl+underscore", "undo", "Undo", id="editor.undo"),
        Binding("ctrl+y,super+y", "redo", "Redo", id="editor.redo"),
        Binding("ctrl+home", "go_to_end(-1)", "Beginning of the document", id="editor.first"),
        Binding("ctrl+end", "go_to_end(1)", "End of the document", id="editor.last"),
    ]

    def __init__(self, ring: KeyRing, text: str) -> None:
        self._ring = ring
        self._whole: str | None = None
        self._states = [OUTSIDE]
        """The state before each line, as far as it is known."""
        self._styles: dict[Kind, Style] = {}
        self._palette: Palette | None = None
        self._sought = ""
        super().__init__(
            text,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="indent",
            highlight_cursor_line=False,
            compact=True,
            max_checkpoints=MOST_STEPS,
        )
        self.cursor_blink = False
        for key in ("f6", "f7"):  # function keys belong to the screens
            self._bindings.key_to_bindings.pop(key, None)

    # Text

    @property
    def text(self) -> str:
        """The whole text; put together once for each change, since drawing asks for it often."""
        if self._whole is None:
            self._whole = self.document.text
        return self._whole

    @text.setter
    def text(self, value: str) -> None:
        self.load_text(value)

    def load_text(self, text: str) -> None:
        self._forget(0)
        super().load_text(text)

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document(text, language)
        self.wrapped_document = QuickWrapped(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        if self.is_attached:
            self._on_resize()  # whatever follows from its width

    def follow_text(self, text: str) -> None:
        """Show another text, the cursor and what is in sight kept; nothing can be undone."""
        cursor, top = self.cursor_location, self.scroll_offset.y
        self.load_text(text)
        self.move_cursor(cursor)
        self.scroll_to(y=top, animate=False, immediate=True, force=True)

    def change_text(self, text: str) -> None:
        """Put another text in the place of the whole, as one step that can be undone."""
        cursor = self.cursor_location
        self.history.checkpoint()
        self.replace(text, self.document.start, self.document.end)
        self.history.checkpoint()
        self.move_cursor(cursor)

    def edit(self, edit: Edit) -> EditResult:
        self._forget(edit.top[0])
        return super().edit(edit)

    def undo(self) -> None:
        self._forget(0)
        super().undo()

    def redo(self) -> None:
        self._forget(0)
        super().redo()

    def _forget(self, row: int) -> None:
        self._whole = None
        del self._states[row + 1 :]

    # Drawing

    def seek(self, words: str) -> None:
        """Mark the words wherever they are in sight."""
        if words != self._sought:
            self._sought = words
            self.notify_style_update()
            self.refresh()

    def get_line(self, line_index: int) -> Text:
        line = self.document.get_line(line_index)
        text = Text(line, end="", no_wrap=True)
        styles = self._used_styles()
        before = self._state_before(line_index)
        after = state_after(before, line, line_index)
        for start, end, kind in spans(line, before, after):
            text.stylize(styles[kind], start, end)
        if self._sought and self._palette is not None:
            hit = Style(color=self._palette.accent, bold=True, underline=True)
            for match in pattern_of(self._sought).finditer(line):
                text.stylize(hit, *match.span())
        return text

    def _state_before(self, row: int) -> str:
        states = self._states
        for known in range(len(states) - 1, row):
            states.append(state_after(states[known], self.document.get_line(known), known))
        return states[row]

    def _used_styles(self) -> dict[Kind, Style]:
        palette = palette_of(self.app)
        if palette is not self._palette:
            self._palette = palette
            self._styles = {
                "heading": Style(color=palette.accent, bold=True),
                "strong": Style(bold=True),
                "emphasis": Style(italic=True),
                "code": Style(color=palette.tool),
                "mark": Style(color=palette.muted),
                "quote": Style(color=palette.muted),
                "link": Style(color=palette.accent, underline=True),
                "address": Style(color=palette.muted),
                "meta": Style(color=palette.dream),
            }
        return self._styles

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """None: it would look through the whole text at each step of the cursor."""
        return None

    # Keys

    def action_go_to_end(self, step: int) -> None:
        """To the beginning of the document, with 1 to its end."""
        self.move_cursor(self.document.end if step > 0 else self.document.start)

    async def _on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        await self._ring.deliver(event)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        await self._ring.deliver(event)

    async def typed(self, event: events.Key) -> None:
        """A key whose turn has come."""
        found = bindings_of(self).key_to_bindings.get(event.key, ())
        if found:
            binding = found[0]
            if (binding.id or "").startswith(self.SCREEN_KEYS):
                await self._ring.press(binding.action)
            else:
                await self.run_action(binding.action)
            return
        character = event.character
        if character is not None and unicodedata.category(character[:1]) in {"Cc", "Cs"}:
            if event.key in {"enter", "tab"}:
                await super()._on_key(event)
            return
        if character is not None and len(character) == 1 and not event.is_printable:
            self._insert(plain(character))  # joiners and hard spaces, which TextArea leaves out
        else:
            await super()._on_key(event)

    async def pasted(self, text: str) -> None:
        """A text that was pasted: control characters are shown, none is kept."""
        self._insert(plain(text, show_colours=True))

    def action_paste(self) -> None:
        self._insert(plain(self.app.clipboard, show_colours=True))

    def _insert(self, text: str) -> None:
        self.history.checkpoint()
        self.move_cursor(self.replace(text, *self.selection).end_location)
