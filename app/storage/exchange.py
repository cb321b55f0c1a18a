"""Two names change places in one step, so that what was replaced can be looked at afterwards."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import lru_cache
from typing import Any

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP})


@lru_cache(maxsize=1)
def _renameat2() -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


def exchange(folder: int, first: str, second: str) -> bool:
    """Swap two names in the open folder `folder`; False where the system cannot.

    Raises `OSError`, `FileNotFoundError` when one of them is gone.
    """
    call = _renameat2()
    if call is None:
        return False
    done = call(folder, os.fsencode(first), folder, os.fsencode(second), _EXCHANGE)
    if done == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), first)
