"""Secrets that are known by the name before them: `password = …`, `DB_PASS=…`, `"pass": "…"`.

A name is looked for once, and the values only right behind one, so that the many forms of a value
cost nothing in a text without such names. Repeats are bounded or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from app.background.feedback.marks import MARK
from app.secret_names import ANYWHERE, AS_A_WORD, HARMLESS_LAST

_MARKS: Final = rf"(?:{MARK.pattern})*+"
"""Marks at the beginning of a value, which hide nothing of what stands behind them."""

_WORDS: Final = (
    r"(?:true|false|null|none|nil|undefined|str|string|int|integer|number|bool|boolean|bytes"
    r"|object|any|required|optional|pass|return|await|final|new|not|from|with|when|which|this|that"
    r"|these|those|others?|tokens?|secrets?|passwords?|credentials?)\b(?![-_/+=.@])"
    r"|(?:self|this|cls|os|process|config|settings|args|options|request|env|props)\."
)
_HARMLESS: Final = rf"(?!{_WORDS}|\d{{1,6}}\b(?![-_/+=.]))"
"""Types, constants and places of a program, and numbers that count."""

_MADE: Final = (
    r"(?!(?:base\d\d|sha\d|md5|utf|oauth|https?:|\d{1,4}(?:[-.,:]|\b))|[\w.]{0,60}\()"
    r"(?=[^\s\"'`,;<>\\]{0,100}?(?:[0-9]|[!@#$%^*+~&]\w))"
)
"""A word that nobody would write in a sentence: it has a digit or a sign inside."""

_CLOSED: Final = r"\\{0,15}[\"'`]?\]?"
_EQUALS: Final = r"[ \t]{0,40}(?:=>|:=|->|=(?!=)|:(?![:=])|\uff1a)[ \t\u00a0]{0,40}+"
_TAIL: Final = r"[\w.-]{0,40}?"
_ASSIGNED: Final = _TAIL + _CLOSED + _EQUALS
_PLAIN: Final = r"[^\s,;\"'`&()\[\]{}<>\\"

_STRONG_VALUES: Final = (
    # In quotes, in escaped quotes, and with the closing quote cut off with the text.
    rf"{_ASSIGNED}[a-zA-Z]?(?P<quote>\"\"\"|''')(?P<secret>(?s:.){{1,4096}}?)(?P=quote)",
    (
        rf"{_ASSIGNED}[a-zA-Z@$]?(?P<quote>[\"'`])"
        r"(?P<secret>(?:\\[^\n]|(?!(?P=quote))[^\n\\]){1,4096}+)(?P=quote)"
    ),
    (
        rf"{_ASSIGNED}(?P<quote>\\{{1,15}}[\"'])"
        r"(?P<secret>(?:(?!(?P=quote))[^\n]){1,4096}+)(?P=quote)"
    ),
    rf"{_ASSIGNED}\\{{0,15}}[\"'`](?P<secret>(?![)\]}},;])[^\n\"'`]{{4,4096}}+)\Z",
    # Without quotes: a word, or the rest of a line.
    (
        rf"{_ASSIGNED}(?:\\{{0,15}}[\"'`])?+{_MARKS}{_HARMLESS}"
        rf"(?P<secret>{_PLAIN}$](?:{_PLAIN}]|{MARK.pattern}){{3,}}+)(?![(\[])"
    ),
    (
        rf"[\w.-]{{0,20}}:[ \t]{{1,8}}+{_MARKS}{_HARMLESS}(?![A-Z]\w*[<|])"
        r"(?P<secret>[^\s\"'`|>&*\[(<{][^\s\[\]()]{3,}+)[ \t]*(?:\n|\Z)"
    ),
    # On the lines below, in a list, one level deeper.
    (
        r"[\w.-]{0,40}?:[ \t]{0,8}[|>][-+]?[ \t]{0,8}\n(?P<ind>[ \t]{1,40})"
        r"(?P<secret>\S[^\n]{2,1024}(?:\n(?P=ind)[^\n]{1,1024}){0,40})"
    ),
    rf"[\w.-]{{0,40}}?:[ \t]{{0,8}}\n[ \t]{{1,40}}{_MADE}(?P<secret>[^\s:#]{{5,}})[ \t]*(?:\n|\Z)",
    rf"{_ASSIGNED}\[\s{{0,20}}(?P<secret>(?:[\"'][^\"'\n]{{1,1024}}[\"'],?\s{{0,20}}){{1,20}}+)",
    (
        rf"{_ASSIGNED}\{{\s{{0,20}}\\{{0,15}}[\"']?value\\{{0,15}}[\"']?\s{{0,8}}[:=]\s{{0,8}}"
        r"\\{0,15}[\"'](?P<secret>[^\"'\\\n]{1,1024}+)"
    ),
    # Of an element, of a form, of a list of settings.
    r"[\w.-]{0,20}>(?P<secret>[^<>\n]{1,1024}+)</",
)
_PAIR: Final = (
    rf"{_TAIL}\\{{0,15}}[\"']?[\s,]{{1,40}}+\\{{0,15}}[\"']?value\\{{0,15}}[\"']?\s{{0,8}}[:=]"
    r"\s{0,8}+"
)
_PAIRS: Final = (
    rf"{_PAIR}\\{{0,15}}[\"'](?P<secret>[^\"'\\\n]{{1,4096}}+)",
    rf"{_PAIR}{_MARKS}{_HARMLESS}(?P<secret>[^\s\"'\\,}}<>\[{{][^\s\"'\\,}}<>]{{2,1024}}+)",
)
_SAID: Final = (
    (
        r"[ ]{1,2}(?:for [\w .]{1,30}? )?(?:(?:is|was)[ ]?:?|=|:)[ ]{0,2}[\"'`]?"
        rf"{_MARKS}{_MADE}"
        r"(?P<secret>[^\s\"'`,;<>\\\[\]()]{5,}+)"
    ),
    (
        rf"[ ]{{1,2}}(?:(?:is|was)[ ]?:?[ ]{{0,2}})?(?P<quote>[\"'`]){_MADE}"
        r"(?P<secret>[^\s\"'`]{4,128}+)(?P=quote)"
    ),
)
_NUMBERS: Final = (rf"[\w-]{{0,20}}?{_CLOSED}{_EQUALS}[\"']?(?P<secret>\d{{4,16}})(?![\w.-])",)
_FOLDER: Final = r"(?:~|/[a-z][\w.-]{0,40}(?:[/\s\"']|\Z))"
_UPPER_VALUES: Final = (
    (
        rf"(?:_[A-Z0-9_]{{0,40}}+|S|\d{{1,3}})?=[\"']?{_MARKS}"
        rf"(?P<secret>[^\s\"'`$\[(/](?:[^\s\"'`\[]|{MARK.pattern}){{3,}}+)"
    ),
)
_WEAK_VALUES: Final = (
    (
        rf"\d{{0,2}}{_CLOSED}{_EQUALS}\\{{0,15}}[\"']?{_MARKS}{_MADE}"
        r"(?P<secret>[^\s\"'`,;&()<>\[\]{}\\]{4,}+)(?![(\[])"
    ),
    (
        rf"\d{{0,2}}{_CLOSED}{_EQUALS}\\{{0,15}}[\"']{_MARKS}"
        r"(?P<secret>[A-Za-z0-9+/_-]{6,}={1,2})(?=\\{0,15}[\"'])"
    ),
)


class _Named(NamedTuple):
    names: re.Pattern[str]
    values: tuple[re.Pattern[str], ...]


def _named(names: str, *values: str) -> _Named:
    return _Named(re.compile(names), tuple(re.compile(f"(?i){value}") for value in values))


_SPACED: Final = ANYWHERE.replace("[_-]?key", "[ _-]?key") + r"|kennwort|contrase[nñ]a|密码"

_NAMED: Final = (
    _named(
        rf"(?i)(?:{_SPACED}|token(?!s)|pwd(?!{_CLOSED}{_EQUALS}[\"']?{_FOLDER}))s?(?-i:(?![a-z]))",
        *(_STRONG_VALUES + _PAIRS + _SAID),
    ),
    _named(r"(?i)(?:passw(?:or)?d|passcode|pwd)(?-i:(?![a-z]))", *_NUMBERS),
    _Named(
        re.compile(
            r"(?:KEY|SECRET|TOKEN(?!S)|PASSW(?:OR)?D|PASSPHRASE|(?<!OLD)PWD|CREDENTIAL|CRED"
            r"|(?<!ASK)PASS|(?<![A-Z])(?:PW|PIN)|_(?:PAT|AUTH|JWT|SAS|DSN|COOKIE|OTP))"
        ),
        tuple(map(re.compile, _UPPER_VALUES)),
    ),
    _named(
        rf"(?:(?i:(?<![a-z0-9])(?!(?-i:(?<!_)PASS:))(?:{AS_A_WORD}))|(?<=[a-z])(?:Pass|Pw|Auth|Jwt|Pat|Dsn|Cookie))"
        r"(?![A-Za-z])",
        *(_WEAK_VALUES + _PAIRS),
    ),
    _named(r"(?i)\b(?:authorization|(?:set-)?cookie)\b", *_PAIRS),
)
_GATE: Final = re.compile(r"[\w.-]{0,60}+[\\\"'`\]=:>\s,\uff1a]")
"""What can stand between a name and its value; nothing else is looked at behind most names."""

_HARMLESS_NAME: Final = re.compile(
    rf"(?:[\w.-]{{0,40}}?[_.-])?(?i:{HARMLESS_LAST})(?![\w-])"
    rf"|[A-Za-z0-9]{{0,40}}?(?:{'|'.join(w.capitalize() for w in HARMLESS_LAST.split('|'))})(?!\w)"
)


def named_secrets(text: str) -> Iterator[tuple[int, int, int]]:
    """Of each secret with such a name before it: where the name begins, and where it stands."""
    for names, values in _NAMED:
        done = [0] * len(values)
        for name in names.finditer(text):
            if not _GATE.match(text, name.end()) or _HARMLESS_NAME.match(text, name.end()):
                continue
            for number, value in enumerate(values):
                if name.start() < done[number]:
                    continue
                found = value.match(text, name.end())
                if found:
                    done[number] = found.end()
                    yield (name.start(), *found.span("secret"))
                    if "quote" in value.groupindex:
                        break  # the quotes say where the value ends


_STRONG_KEY: Final = re.compile(
    rf"(?i)(?:{ANYWHERE}|token(?!s)|pwd)(?-i:(?![a-z]))"
    r"|(?:secret|passw(?:or)?d|credential|(?:api|access|private)[_-]?key)s"
    r"(?-i:(?![a-z]))|authorization$|(?:^|[_-])cookies?$"
)
_WEAK_KEY: Final = re.compile(
    rf"(?i)(?:^|[^a-z0-9])(?:{AS_A_WORD})\d{{0,2}}$|(?-i:(?<=[a-z])(?:Pass|Pw|Jwt|Auth)$)"
    r"|tokens$"
)
_OF_DIGITS: Final = re.compile(
    r"(?i)(?:passw(?:or)?d|passcode|pwd)(?![a-z])|(?:^|[_-])(?:pin|otp)$|[_-](?:pass|pw)$"
)
_LOOKS_MADE: Final = re.compile(rf"{_MADE}\S{{6,}}\Z|[A-Za-z0-9+/_-]{{6,}}={{1,2}}\Z")


def is_secret(name: str, value: str | float) -> bool:
    """Whether the member's name says that the value is secret.

    Names that mean other things too (`auth`, `pass`, `tokens`) say so of a value alone that looks
    made; numbers are secret where people use digits, and from 1000 on.
    """
    name = MARK.sub("", name)
    strong = _STRONG_KEY.search(name)
    if strong and _HARMLESS_NAME.match(name, strong.end()):
        return False
    if isinstance(value, str) and value.isdecimal() and len(value) <= _MOST_DIGITS and not strong:
        value = int(value)
    if not isinstance(value, str):
        return abs(value) >= _LEAST_NUMBER and bool(_OF_DIGITS.search(name))
    if strong:
        return bool(value)
    return bool(_WEAK_KEY.search(name) and _LOOKS_MADE.match(value))


_LEAST_NUMBER: Final = 1000
_MOST_DIGITS: Final = 16


def name_of(key: str, beside: object, outer: str, has_value: bool) -> str:
    """The name that says what a member is: its own, or what stands for it.

    That is the name `beside` a `value`, and that of the object around it: of a `value`, of cookies,
    and of the values of `credentials`, which are secret where they look made. `has_value` says that
    the object has a member `value`, which then is all that the names around are about.
    """
    if re.search(r"(?i)cookies?$", outer) and (key == "value" or not has_value):
        return outer
    if key == "value":
        return beside if isinstance(beside, str) and beside else outer
    if re.search(r"(?i)(?:credential|secret|passw(?:or)?d)s$", outer):
        return key if _STRONG_KEY.search(key) else "tokens"
    return key


def name_of_next(argument: object) -> str:
    """The name that an argument gives to the one after it: `password` after `--password`."""
    option = re.fullmatch(r"--?([\w-]{2,60})", argument) if isinstance(argument, str) else None
    return option[1] if option and _STRONG_KEY.search(option[1]) else ""
