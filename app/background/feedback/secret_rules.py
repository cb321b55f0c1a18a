"""What a secret looks like: our own patterns, and those of detect-secrets (Apache-2.0).

A pattern with a group `secret` means that group, else the whole match. Each of ours reads a text
in time that grows with its length: bounded repeats, possessive ones, or a start that is rare.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

SENSITIVE_NAME: Final = (
    r"(?:api[_-]?key|apikey|access[_-]?key|private[_-]?key|account[_-]?key|secret|token(?!s)"
    r"|passw(?:or)?d|passphrase|pwd|credential|session[_-]?key)"
)
"""A part of a name that says what it names is secret."""

SENSITIVE_KEY: Final = re.compile(
    rf"(?i)(?:{SENSITIVE_NAME}(?:s|[_-]?(?:value|text|base64))?|authorization|cookie)$"
)
"""A key of an object whose value is secret, whatever it looks like."""

KINDS: Final = (
    "private key", "environment", "key", "token", "header", "password", "e-mail address",
    "home path", "base64 of a secret",
)  # fmt: skip
"""All kinds of secrets there are."""

BASE64_KIND: Final = KINDS[-1]

MARK: Final = re.compile(rf"\[redacted: (?:{'|'.join(KINDS)})\]")
"""What stands where a secret was; other words in such brackets are a text like any other."""

_MARKS = rf"(?:{MARK.pattern}){{0,20}}+"
"""Marks at the beginning of a value, which hide nothing of what stands behind them."""

_HARMLESS = (
    r"(?!(?:true|false|null|none|nil|undefined|str|string|int|integer|number|bool|boolean|bytes"
    r"|object|any|required|optional|pass|return|\d{1,6})\b(?![-_/+=.]))"
)


class Rule(NamedTuple):
    """One kind of secret."""

    kind: str
    pattern: re.Pattern[str]


def _rule(kind: str, pattern: str) -> Rule:
    return Rule(kind, re.compile(pattern))


_ASSIGNED: Final = (
    rf"(?i){SENSITIVE_NAME}s?(?-i:(?![a-z]))[\w.-]{{0,40}}?\\?[\"']?\]?"
    r"[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}"
)

OWN_RULES: Final = (
    _rule(
        "private key",
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<secret>.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    _rule(
        "environment",
        r"(?m)^(?P<secret>(?:(?:export |declare -x )?[A-Z_][A-Z0-9_]{0,80}+=[^\n]{0,8192}+"
        r"(?:\n|\Z)){6,}+)",
    ),
    _rule("key", r"\bsk-ant-[A-Za-z0-9_-]{6,}+"),
    _rule("key", r"\b(?:sk|pk|rk)[-_](?:live_|test_|proj-)?[A-Za-z0-9_-]{20,}+"),
    _rule("key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    _rule("key", r"\bAIza[0-9A-Za-z_-]{30,}+"),
    _rule("token", r"\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|pypi-)[A-Za-z0-9_-]{16,}+"),
    _rule("token", r"\bxox[abeoprs]-[A-Za-z0-9-]{8,}+"),
    _rule("token", r"\beyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]{0,}+)?"),
    _rule(
        "header",
        r"(?i)\b(?:proxy-)?authorization\\?[\"']?[ \t]{0,8}[:=][ \t]{0,8}\\?[\"']?"
        r"(?:(?:bearer|basic|digest|token|negotiate)[ \t]{1,8})?+"
        + _MARKS
        + r"(?P<secret>[^\s\"'\\\[,;}][^\n\"'\\\[,;}]{3,1024}+)",
    ),
    _rule(
        "header",
        r"(?i)\b(?:bearer|basic)[ \t]{1,8}" + _MARKS + r"(?P<secret>[A-Za-z0-9._~+/=-]{12,}+)",
    ),
    _rule(
        "header",
        r"(?i)\b(?:x-api-key|x-auth-token|api-key|set-cookie|cookie)\\?[\"']?[ \t]{0,8}:[ \t]{0,8}"
        r"\\?[\"']?" + _MARKS + r"(?P<secret>[^\s\"'\\\[][^\n\"'\\]{3,4096}+)",
    ),
    _rule("password", r"://(?P<secret>[^/\s:@'\"\[\]]{0,256}+:[^/\s@'\"\[\]]{1,1024}+)@"),
    _rule("password", r"://(?P<secret>[^/\s:@'\"\[\]]{12,256}+)@"),
    _rule(
        "token",
        rf"(?i)[?&#;][\w.-]{{0,40}}?(?:{SENSITIVE_NAME}|\bkey|\bcode|\bsig|signature|\bauth)[\w-]{{0,20}}="
        r"(?P<secret>[^&\s'\"#;\[\])>]{4,}+)",
    ),
    # A value in quotes, in escaped quotes, and one whose closing quote was cut off with the text.
    _rule(
        "password",
        rf"{_ASSIGNED}(?P<quote>[\"'`])"
        r"(?P<secret>(?:\\[^\n]|(?!(?P=quote))[^\n\\]){1,4096}+)(?P=quote)",
    ),
    _rule(
        "password",
        rf"{_ASSIGNED}\\(?P<quote>[\"'])"
        r"(?P<secret>(?:(?!\\(?P=quote))[^\n]){1,4096}+)\\(?P=quote)",
    ),
    _rule("password", rf"{_ASSIGNED}\\?[\"'`](?P<secret>(?![)\]}},;])[^\n\"'`]{{4,4096}}+)\Z"),
    # A value without quotes: a word, all there is behind a variable's `=`, or the rest of a line.
    _rule(
        "password",
        rf"{_ASSIGNED}(?:\\?[\"'`])?+{_MARKS}{_HARMLESS}"
        r"(?P<secret>[^\s,;\"'`&()\[\]{}<>\\$]"
        rf"(?:[^\s,;\"'`&()\[\]{{}}<>\\]|{MARK.pattern}){{3,}}+)(?![(\[])",
    ),
    _rule(
        "password",
        r"\b[A-Z0-9_]{0,60}?(?:KEY|SECRET|TOKEN(?!S)|PASSW(?:OR)?D|PASSPHRASE|PWD|CREDENTIAL)"
        rf"[A-Z0-9_]{{0,40}}+={_MARKS}"
        r"(?P<secret>[^\s\"'`$\[(][^\s\"'`]{3,}+)",
    ),
    _rule(
        "password",
        rf"(?im)^[ \t-]{{0,40}}+[\w.-]{{0,60}}?{SENSITIVE_NAME}[\w.-]{{0,20}}:[ \t]{{1,8}}+"
        rf"{_MARKS}{_HARMLESS}"
        r"(?P<secret>[^\s\"'`|>&*\[(][^\s\[\]()]{3,}+)[ \t]*$",
    ),
    _rule(
        "password",
        r"(?i)(?<!\w)--?(?:password|passwd|token|secret|api-?key)[ \t=]{1,4}"
        + _MARKS
        + r"(?P<secret>[^\s\"'`\[$<-][^\s\"'`]{3,}+)",
    ),
    _rule(
        "e-mail address",
        r"(?<![\w.%+-])(?!git@)[\w.%+-]{1,64}+@(?:[\w-]{1,63}+\.){1,8}[A-Za-z][\w-]{1,62}+",
    ),
    _rule("home path", r"(?<![\w.-])/(?:home|Users)/(?P<secret>[^/\s'\":;,()<>\[\]|&`\\]{1,64}+)"),
    _rule("home path", r"(?i)\b[a-z]:\\{1,2}Users\\{1,2}(?P<secret>[^\\/\s'\":;,<>\[\]|]{1,64}+)"),
    _rule("home path", r"(?<![\w-])-(?:home|Users)-(?P<secret>[A-Za-z0-9.]{1,64}+)"),
)

_LIBRARY_RULES: Final = {
    "aws": ("AWSKeyDetector", "key"),
    "azure_storage_key": ("AzureStorageKeyDetector", "key"),
    "discord": ("DiscordBotTokenDetector", "token"),
    "github_token": ("GitHubTokenDetector", "token"),
    "gitlab_token": ("GitLabTokenDetector", "token"),
    "mailchimp": ("MailchimpDetector", "key"),
    "pypi_token": ("PypiTokenDetector", "token"),
    "sendgrid": ("SendGridDetector", "key"),
    "slack": ("SlackDetector", "token"),
    "square_oauth": ("SquareOAuthDetector", "key"),
    "stripe": ("StripeDetector", "key"),
    "telegram_token": ("TelegramBotTokenDetector", "token"),
    "twilio": ("TwilioKeyDetector", "key"),
}
"""Module, class and kind of what is taken from `detect_secrets.plugins`: those whose patterns stand
for one vendor's keys. Not taken are those that read a line over and over (npm, JWT, OpenAI), that
mark any word (Artifactory) or no secret (IP addresses), and those that ours replace.
"""


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """All rules. The first call imports detect-secrets, 0.12 s; it opens no file or connection."""
    found = list(OWN_RULES)
    for module, (name, kind) in _LIBRARY_RULES.items():
        plugin: Any = importlib.import_module(f"detect_secrets.plugins.{module}")
        patterns: list[re.Pattern[str]] = list(getattr(plugin, name)().denylist)
        found += [Rule(kind, pattern) for pattern in patterns]
    return tuple(found)
