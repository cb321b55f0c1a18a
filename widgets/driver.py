"""The terminal driver with what Textual's lacks: enter with modifiers, and a clean exit."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

_ENTERS = {
    "\x1b\r": "alt+enter",
    "\x1b\n": "alt+enter",
    "\x1b[27;2;13~": "shift+enter",
    "\x1b[27;3;13~": "alt+enter",
    "\x1b[27;5;13~": "ctrl+enter",
}
"""Spellings of a modified enter that Textual takes for a plain one (cases/B32)."""


_TELLS_FOCUS = re.compile(r"\x1b\[\?1004;[13]\$y")
"""The terminal's answer that it will say when it gets or loses the focus."""
_KEEP_TITLE, _GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
_ASK_FOCUS = "\x1b[?1004$p"


class EnterAwareParser(XTermParser):
    """Knows every spelling of a modified enter, and whether the terminal tells of its focus."""

    def feed(self, data: str) -> Iterable[Message]:
        if _TELLS_FOCUS.search(data):
            yield events.AppFocus()  # whoever starts a program is in front of it
        yield from super().feed(data)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        key = _ENTERS.get(sequence)
        if key is not None:
            return [events.Key(key, None)]
        return super()._sequence_to_key_events(sequence, alt=alt)


def driver_for() -> type[Driver] | None:
    """The driver class for this platform, None for Textual's own choice."""
    if sys.platform == "win32":
        return None
    from textual.drivers import linux_driver

    # The driver makes its parser by this module's name for it.
    setattr(linux_driver, "XTermParser", EnterAwareParser)  # noqa: B010 - the name is not exported

    class CleanDriver(linux_driver.LinuxDriver):
        """Asks for news of the focus, and leaves no mouse mode behind (notes: 1016 stays on)."""

        def start_application_mode(self) -> None:
            super().start_application_mode()
            self.write(_KEEP_TITLE + _ASK_FOCUS)
            self.flush()

        def stop_application_mode(self) -> None:
            self.write(_GIVE_TITLE_BACK)
            super().stop_application_mode()

        def _disable_mouse_support(self) -> None:
            super()._disable_mouse_support()
            self.write("\x1b[?1016l")
            self.flush()

    return CleanDriver
