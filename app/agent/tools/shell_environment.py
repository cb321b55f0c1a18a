"""The environment of shell commands: the user's own, without secrets and without traps."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.secret_names import ANYWHERE, AS_A_WORD

_SECRET_NAME = re.compile(
    rf"""ANTHROPIC_.* | AWS_.* | .*(?:{ANYWHERE}).* | .*_(?:{AS_A_WORD}) | .*TOKENS? | .*TOKEN_.*
    | (?!.*ASKPASS).*PASS(ES)? | .*PASS_(FILE|B64|BASE64) | PGPASS.* | (?!(OLD)?PWD$).*PWD
    | .*CREDS? | .*_KEYS? | .*_WEBHOOK(_.*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET_VALUE = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)
"""An address with a password in it, as DATABASE_URL often is."""
_CHANGES_THE_SHELL = re.compile(
    r"BASH_ENV|ENV|CDPATH|GLOBIGNORE|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|OLDPWD|PS4|BASH_FUNC_.*"
)
"""With these a command would mean something else than what the permission check has read."""


def shell_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What of `environment` a command started for the model gets."""
    return {
        name: value
        for name, value in environment.items()
        if not _SECRET_NAME.fullmatch(name)
        and not _CHANGES_THE_SHELL.fullmatch(name)
        and not _SECRET_VALUE.search(value)
    }
