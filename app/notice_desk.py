"""Sentences for the person that belong to no message."""

from __future__ import annotations

from collections.abc import Callable

from app.errors import StorageError
from app.state.facts import Fact, NoticeDismissed, NoticePosted
from app.state.model import Notice, Severity

STORAGE_NOTICE = 0
"""The id of the one notice about saving."""


class NoticeDesk:
    """Posts and withdraws notices."""

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._posted = STORAGE_NOTICE

    def post(self, text: str, severity: Severity = "info") -> None:
        """Show one sentence."""
        self._posted += 1
        self._emit(NoticePosted(Notice(self._posted, text, severity)))

    def dismiss(self, notice_id: int) -> None:
        """A notice has been read."""
        self._emit(NoticeDismissed(notice_id))

    def storage_changed(self, error: StorageError | None) -> None:
        """Say why records cannot be saved; with None that all of them are again."""
        if error is None:
            self.dismiss(STORAGE_NOTICE)
        else:
            self._emit(NoticePosted(Notice(STORAGE_NOTICE, str(error), "error")))
