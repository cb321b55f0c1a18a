"""What holds for all tests: the same examples at every run, so that a failure is the change's own.

To look further, raise `max_examples` and run with `HYPOTHESIS_PROFILE=search`.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
