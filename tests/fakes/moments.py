"""A process that ends at a chosen moment."""

from __future__ import annotations

import os
import signal


class Moments:
    """Counts what happens, and ends the process without a word at the chosen moment."""

    def __init__(self, deadly: int) -> None:
        self.deadly = deadly
        self.passed = 0

    def tick(self) -> None:
        self.passed += 1
        if self.passed == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
