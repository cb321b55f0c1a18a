"""The error tree: every failure a person may meet says what happened, what was kept, what to do."""

from __future__ import annotations


class ReverieError(Exception):
    """An expected failure, told in three parts (ARCHITECTURE.md, Errors).

    `happened` is one sentence; `kept` says what is safe; `todo` names the next step.
    """

    def __init__(self, happened: str, *, kept: str = "", todo: str = "") -> None:
        super().__init__(happened)
        self.happened = happened
        self.kept = kept
        self.todo = todo

    def __str__(self) -> str:
        return " ".join(part for part in (self.happened, self.kept, self.todo) if part)


class UsageError(ReverieError):
    """The call itself is wrong: exit code 2 (spec/cli.md)."""


class SessionNotFound(ReverieError):
    """No session answers to the id that was asked for: exit code 1 (spec/cli.md)."""


class StorageError(ReverieError):
    """The data folder cannot be read or written."""


class SettingsError(ReverieError):
    """A settings file cannot be written or a value is not accepted."""
