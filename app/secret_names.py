"""Names that say that what they name is secret: of variables, of members, of options, in prose.

Parts of patterns, for any case; what a program of its own adds to them stays with it.
"""

from __future__ import annotations

from typing import Final

ANYWHERE: Final = (
    r"secret|passw(?:or)?[dt]|pass[_-]?(?:phrase|code|key)|credential"
    r"|(?:api|access|private|account|session|secret)[_-]?key|conn(?:ection)?[_-]?str(?:ing)?"
)
"""A name with one of these in it, wherever it stands."""

AS_A_WORD: Final = r"pass|pw|pin|pat|auth|jwt|sas|dsn|cookies?|creds?|otp"
"""A name whose last word is one of these; in longer words they mean nothing (`author`, `pinned`)"""

HARMLESS_LAST: Final = (
    "types? counts? length len limits? url uri endpoint files? path dir fields? env var labels? "
    "hint policy required min max size usage budget expires expiry expiration ttl age algorithm "
    "index position enabled class provider source error prompt help names? format regex patterns? "
    "kind strength manager helper scopes? total python py js ts tsx md txt json go rs html css yml "
    "yaml toml java rb sh lock"
).replace(" ", "|")
"""Last words that say that a name is about a secret and does not hold it: `token_type`,
`password.py`."""
