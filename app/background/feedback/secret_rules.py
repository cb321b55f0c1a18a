"""What a secret looks like: our own patterns, and those of detect-secrets (Apache-2.0).

A pattern with a group `secret` means that group, else the whole match. Each of ours reads a text
in time that grows with its length: bounded repeats, possessive ones, or a start that is rare.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from app.background.feedback.marks import MARK
from app.secret_names import ANYWHERE

_SENSITIVE: Final = rf"(?:{ANYWHERE}|token(?!s)|pwd)"
_MARKS: Final = rf"(?:{MARK.pattern})*+"
"""Marks at the beginning of a value, which hide nothing of what stands behind them."""


class Rule(NamedTuple):
    """One kind of secret."""

    kind: str
    pattern: re.Pattern[str]


def _rule(kind: str, pattern: str) -> Rule:
    return Rule(kind, re.compile(pattern))


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
    _rule("key", r"\b(?:whsec_|gsk_|xai-|r8_|lin_api_|ntn_|figd_|shp(?:at|ca|pa|ss)_)[\w-]{16,}+"),
    _rule("key", r"\b(?:GOCSPX-|tskey-|dop_v1_|dckr_pat_|ATATT3|hv[sb]\.)[A-Za-z0-9_=-]{12,}+"),
    _rule("key", r"\b(?:dapi[0-9a-zA-Z]{28,}+|AGE-SECRET-KEY-1[0-9A-Z]{20,}+)"),
    _rule("token", r"\b(?:ya29\.|xapp-\d-)[A-Za-z0-9_-]{16,}+"),
    _rule(
        "token",
        r"\bdiscord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,25}/(?P<secret>[\w-]{20,}+)",
    ),
    _rule(
        "private key",
        r"(?s)---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
        r"(?P<secret>.*?)(?:---- END SSH2 ENCRYPTED PRIVATE KEY ----|\Z)",
    ),
    _rule(
        "private key",
        r"Private-Lines: \d{1,4}"
        r"(?P<secret>(?:(?:\s|\\[nr]){1,4}[A-Za-z0-9+/=]{1,80}(?![:\w-])){1,400}+)",
    ),
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
    _rule(
        "password",  # with the signs in it that an address would write otherwise
        r"://(?P<secret>[^/\s:@'\"\[\]<>]{0,64}+:(?!\d{1,5}[/?#])"
        r"(?:(?!://|[\"'],)[^\s\"<>`]){1,200})@(?=[\w.-]{1,200}(?:[:/?#\s\"'),]|\Z))",
    ),
    _rule("password", r"://(?P<secret>[^/\s:@'\"\[\]]{12,256}+)@"),
    _rule(
        "token",
        rf"(?i)[?&#;][\w.-]{{0,40}}?(?:{_SENSITIVE}|\bkey|\bcode|\bsig|signature|\bauth)[\w-]{{0,20}}="
        r"(?P<secret>[^&\s'\"#;\[\])>]{4,}+)",
    ),
    # An option with its value, as words of a command or as a list of strings.
    _rule(
        "password",
        r"(?i)(?<![\w-])--?(?:[\w-]{1,30}-)?(?:password|passwd|pass|token|secret|api-?key)"
        rf"[ \t=]{{1,4}}['\"]?{_MARKS}(?P<secret>[^\s\"'`\[$<-][^\s\"'`]{{3,}}+)",
    ),
    _rule(
        "password",
        r"(?i)[\"']--?(?:[\w-]{1,30}-)?(?:password|passwd|pass|token|secret|api-?key)\\{0,15}[\"'],"
        r"\s{0,20}\\{0,15}[\"'](?P<secret>[^\"'\\\n]{1,1024}+)",
    ),
    _rule(
        "password",
        r"\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]{0,2}[\"']?"
        r"(?P<secret>[^\s\"':$]{0,64}:[^\s\"']{1,256}+)",
    ),
    _rule(
        "header",
        r"\bcurl\b[^\n|;]{0,300}?\s(?:-b|--cookie)[ =]{1,2}[\"']?"
        r"(?P<secret>[\w.-]{1,64}=[^\s\"']{1,512}+)",
    ),
    _rule(
        "password",
        r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?\s-p(?P<secret>[^\s\"'$]{3,}+)",
    ),
    _rule("password", r"\bsshpass[ ]{1,4}-p[ ]{0,4}[\"']?(?P<secret>[^\s\"'$]{3,}+)"),
    _rule("password", r"\bredis-cli\b[^\n|;]{0,100}?\s-a[ ]{1,4}(?P<secret>[^\s\"'$]{3,}+)"),
    _rule("password", r"-pass(?:in|out)[ ]{1,4}pass:(?P<secret>[^\s\"'$]{3,}+)"),
    _rule(
        "password",
        r"\b(?:login|account|machine)\s{1,8}\S{1,128}\s{1,20}password\s{1,8}(?P<secret>\S{3,256}+)",
    ),
    _rule(
        "e-mail address",
        r"(?<![\w.%+-])(?!git@)[\w.%+-]{1,64}+@(?:[\w-]{1,63}+\.){1,8}[A-Za-z][\w-]{1,62}+",
    ),
    _rule(
        "home path",
        r"(?<![\w.-])(?:/(?:var|export|usr|mnt/[a-z]|[a-z]))?/(?:home|Users)/"
        r"(?P<secret>[^/\s'\":;,()<>\[\]|&`\\]{1,64}+(?:[ ][A-Z][\w-]{1,30}(?=/))?)",
    ),
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
