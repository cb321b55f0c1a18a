"""The ripgrep binary that the wheel `ripgrep` installs, and the files of a folder by it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import threading
from functools import lru_cache
from pathlib import Path
from typing import IO

TIME_LIMIT = 5.0
"""Seconds for one list of files; somebody waits for it."""
_PIECE = 1 << 16


@lru_cache(maxsize=1)
def find_ripgrep() -> str | None:
    """The `rg` of the running interpreter's environment, else the one on PATH, else None."""
    own = Path(sysconfig.get_path("scripts")) / "rg"
    if own.is_file() and os.access(own, os.X_OK):
        return str(own)
    return shutil.which("rg")


def list_files(root: Path, most: int) -> list[bytes] | None:
    """The names, relative to `root`, of its plain files that are not ignored; hidden ones too.

    Neither links nor what is behind them, nothing of `.git`, in no order. Of more than `most` the
    first ones, more than `most` of them. None when they cannot be listed, or not within
    `TIME_LIMIT`. Blocking.
    """
    program = find_ripgrep()
    if program is None:
        return None
    command = [
        program,
        "--no-config",
        "--threads=1",
        "--files",
        "--null",
        "--hidden",
        "--glob=!.git",
    ]
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
    }
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env=environment,
        )
    except OSError:
        return None
    limit = threading.Timer(TIME_LIMIT, process.kill)
    limit.start()
    with process:
        try:
            names, cut = _read_names(process.stdout, most)
            if cut:
                process.kill()
            code = process.wait()
        finally:
            limit.cancel()
    # A folder that may not be read is an error to ripgrep too; the others are listed all the same.
    return names if cut or code in {0, 1} or (code > 0 and names) else None


def _read_names(stream: IO[bytes] | None, most: int) -> tuple[list[bytes], bool]:
    """The whole names, and whether there are more."""
    pieces: list[bytes] = []
    count = 0
    while count <= most and stream is not None and (piece := os.read(stream.fileno(), _PIECE)):
        pieces.append(piece)
        count += piece.count(b"\0")
    return b"".join(pieces).split(b"\0")[:-1], count > most
