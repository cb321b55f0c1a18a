"""What stands where a secret was."""

from __future__ import annotations

import re
from typing import Final

KINDS: Final = (
    "private key", "environment", "key", "token", "header", "password", "e-mail address",
    "home path", "base64 of a secret",
)  # fmt: skip
"""All kinds of secrets there are."""

MARK: Final = re.compile(rf"\[redacted: (?:{'|'.join(KINDS)})\]")
"""Other words in such brackets are a text like any other."""
