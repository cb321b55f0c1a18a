"""One writer at a time, across processes: the kernel's own lock, which ends with its process."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import time
from collections.abc import Generator
from functools import lru_cache
from pathlib import Path
from typing import Final

from app.errors import StorageError
from app.paths import make_private_folder

PATIENCE: Final = 20.0
"""Seconds that a writer waits for another one; each needs milliseconds."""


@contextlib.contextmanager
def locked(file: Path, patience: float = PATIENCE) -> Generator[None, None, None]:
    """Hold the lock `file`, waiting for whoever has it. Blocking.

    The file names the holder for people who look; it stays, since the lock is not its existence.
    Raises `StorageError` when it cannot be made or another process does not let go.
    """
    make_private_folder(file.parent)
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(file, flags, 0o600)
    except OSError as error:
        raise StorageError(
            f"{file.parent} cannot be written: {error.strerror or error}.",
            kept="Nothing was changed.",
            todo="Check its permissions and free space.",
        ) from error
    try:
        _wait(descriptor, file, time.monotonic() + patience)
        with contextlib.suppress(OSError):  # a full disk: the lock holds without its holder's name
            os.pwrite(descriptor, _holder(os.getpid()), 0)
        yield
    finally:
        os.close(descriptor)


@lru_cache(maxsize=1)
def _holder(pid: int) -> bytes:
    """Pid and start time, as long as any other so that nothing of an earlier one stays."""
    import psutil

    started = psutil.Process(pid).create_time()
    return f"{json.dumps({'pid': pid, 'started': started}):<64}".encode()


def _wait(descriptor: int, file: Path, until: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise StorageError(
                    f"Another process is holding {file} and does not let go.",
                    kept="Nothing was changed.",
                    todo="End it (the file names its pid) and try again.",
                ) from None
            # Uneven pauses, so that many writers do not knock at the same moment.
            time.sleep(random.uniform(0.0005, 0.004))  # noqa: S311 - no secret
        else:
            return
