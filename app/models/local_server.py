"""The child process of the built-in small model: llama.cpp's server on a free loopback port.

Run as `python -m app.models.local_server WEIGHTS CONTEXT THREADS`. Prints one JSON line,
`{"url": …}` or `{"error": …}`, and ends when its standard input does, that is with its parent,
however the parent ends.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, Final

MODEL_ALIAS: Final = "smollm2-135m"


def main(arguments: list[str]) -> int:
    """Serve until standard input ends, then leave with 0; 1 when the server cannot start."""
    weights, context, threads = arguments
    try:
        server = _start(weights, int(context), int(threads))
    except (ImportError, RuntimeError, OSError) as error:
        _report({"error": f"{type(error).__name__}: {error}"})
        return 1
    _report({"url": str(server.listening_address)})
    while os.read(sys.stdin.fileno(), 4096):
        pass
    # llama.cpp's server waits for ever when it is taken down before its loop began, and there is
    # nothing here to take down in order.
    os._exit(0)


def _start(weights: str, context: int, threads: int) -> Any:
    library: Any = importlib.import_module("xllamacpp")
    settings = library.CommonParams()
    settings.model.path = weights
    settings.n_ctx = context
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.use_jinja = True
    settings.n_parallel = 1
    settings.cpuparams.n_threads = threads
    settings.verbosity = 0
    settings.warmup = False
    settings.ui = False
    settings.model_alias = {MODEL_ALIAS}
    return library.Server(settings)


def _report(line: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
