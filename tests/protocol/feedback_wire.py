from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.background.feedback.serve import Receiver

TOKEN = "t-0123456789"


@contextmanager
def receiver(folder: Path, token: str = TOKEN) -> Iterator[Receiver]:
    with Receiver(folder, token) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()
