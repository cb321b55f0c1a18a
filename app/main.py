"""The Textual app: wiring and nothing else."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from app.config import Loaded
from app.controller import Controller
from app.errors import StorageError
from app.installation import Installation, Options
from app.state.model import State
from widgets.driver import driver_for
from widgets.follow import AppTiming, Frames
from widgets.glyphs import choose_glyphs
from widgets.looks import theme_of
from widgets.palette import PALETTES
from widgets.screens.chat import ChatScreen

if TYPE_CHECKING:
    from textual.command import Provider


def command_provider() -> type[Provider]:
    """What ctrl+p offers; imported when it is opened, for the sake of the start."""
    from widgets.screens.dialogs.palette import CommandProvider

    return CommandProvider


_ACTIVITY = (
    events.Key,
    events.Paste,
    events.MouseDown,
    events.MouseScrollUp,
    events.MouseScrollDown,
)
"""By these the person shows that they are there."""
HANGUP_WAIT = 1.0
"""Seconds that leaving may take once the terminal is gone."""


class ReverieApp(App[None]):
    """One window over one controller."""

    TITLE = "reverie"
    CSS_PATH = ["../styles/base.tcss", "../styles/chat.tcss"]  # noqa: RUF012 - Textual's own type
    COMMANDS: ClassVar[set[Any]] = {command_provider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Leave", id="app.leave", show=False),
    ]

    def __init__(
        self, controller: Controller, *, fps: float | None = 60, start: bool = True
    ) -> None:
        """`fps` None flushes every change at once; `start` False shows the state as it is."""
        super().__init__(driver_class=driver_for())
        self.animation_level = "none"
        self.controller = controller
        self.glyphs = choose_glyphs(controller.loaded.settings.glyphs, controller.here.environment)
        self.frames: Frames[State] = Frames(controller.store, AppTiming(self), fps=fps)
        self._start = start
        self._unsaved: StorageError | None = None
        for palette in PALETTES.values():
            self.register_theme(theme_of(palette))
        wanted = controller.loaded.settings.theme
        self._wear(wanted if wanted in self.available_themes else "dusk")
        controller.on_fault = self._fault

    def _wear(self, theme: str) -> None:
        """Put on the first theme; an assignment would have the style sheet parsed twice."""
        self.set_reactive(App.theme, theme)
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_default_screen(self) -> ChatScreen:
        return ChatScreen(self.controller)

    def on_mount(self) -> None:
        self.set_keymap(dict(self.controller.loaded.settings.keys))
        self.controller.store.adopt_thread()
        if not self.is_headless and os.name == "posix":
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                loop.add_signal_handler(number, self._stopped_by, number)
        if self._start:
            self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        gc.freeze()  # what was imported stays for good; no collection need look at it again
        gc.enable()
        wanted = self.controller.loaded.settings.theme
        if wanted not in self.available_themes:
            self.controller.notice(f"There is no theme {wanted}; /theme shows them.", "warning")
        self._starting = asyncio.create_task(self.controller.start())
        self._starting.add_done_callback(self._started)

    def on_app_focus(self) -> None:
        """The terminal is in front again."""
        self.controller.desks.background.focus(is_here=True)

    def on_app_blur(self) -> None:
        """Another window is in front."""
        self.controller.desks.background.focus(is_here=False)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, _ACTIVITY):
            self.controller.desks.background.pressed()
        await super().on_event(event)

    def write_terminal(self, sequence: str) -> None:
        """Send a sequence of ours to the terminal: its title, a bell."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()

    def _stopped_by(self, number: int) -> None:
        """Leave as after a quit: the terminal must be as it was, the draft must be kept."""
        self._leaving = asyncio.create_task(self._leave(number))

    async def _leave(self, number: int) -> None:
        # First what outlives the screen. Where the terminal itself is gone a write to it may block
        # the loop for ever: a thread then ends what has nothing left to lose.
        self._unsaved = await self.controller.close()
        if number == signal.SIGHUP:
            watchdog = threading.Timer(HANGUP_WAIT, os._exit, (128 + number,))
            watchdog.daemon = True
            watchdog.start()
        self.exit(return_code=128 + number)

    def _started(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fault(error)

    def _fault(self, error: BaseException) -> None:
        """A programming error in a task: end with the crash screen, nothing swallowed."""
        self.call_later(self._raise, error)

    def _raise(self, error: BaseException) -> None:
        raise error

    async def on_unmount(self) -> None:
        self._unsaved = await self.controller.close() or self._unsaved
        self.frames.close()

    @property
    def farewell(self) -> str:
        """What must still be said when the screen is gone; empty when all is well."""
        return "" if self._unsaved is None else str(self._unsaved)


def run_app(here: Installation, options: Options, loaded: Loaded, *, debug: bool) -> int:
    """Open the app and wait until the person leaves; returns the exit code."""
    app = ReverieApp(Controller(here, options, loaded))
    app.run()
    if app.farewell:
        sys.stderr.write(f"{app.farewell}\n")
        return app.return_code or 1
    return app.return_code or 0
