from __future__ import annotations

import base64
import json
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.background.feedback.redact import free_name, redacted, redacted_value
from app.background.feedback.secret_rules import rules
from tests.unit.background.feedback import secret_table

SECRETS = [
    ("key", "use sk-ant-api03-FAKESECRET-aaaa now", "FAKESECRET"),
    ("token", "clone with ghp_FAKESECRET0000000000000000000000000000 please", "FAKESECRET"),
    ("key", "AKIAFAKESECRET000000 is an access key", "FAKESECRET"),
    ("header", "curl -H 'Authorization: Bearer FAKESECRET-0000' x", "FAKESECRET"),
    ("header", "authorization: FAKESECRET-0000", "FAKESECRET"),
    ("header", "X-Api-Key: FAKESECRET", "FAKESECRET"),
    ("header", "Cookie: session=FAKESECRET; theme=dark", "FAKESECRET"),
    ("password", "postgres://shop:FAKESECRET@db.invalid:5432/shop", "FAKESECRET"),
    ("token", "GET /orders?page=2&token=FAKESECRET&size=3", "FAKESECRET"),
    ("password", "DB_PASSWORD='FAKESECRET with space' run", "FAKESECRET with space"),
    ("password", "export AWS_SECRET_ACCESS_KEY=FAKESECRET/aws/000", "FAKESECRET"),
    ("password", "password: FAKESECRET", "FAKESECRET"),
    ("password", '{"client_secret": "FAKESECRET"}', "FAKESECRET"),
    ("password", r"{\"api_key\":\"FAKESECRET\"}", "FAKESECRET"),
    ("password", r'password = "ab\"FAKESECRET" # x', "FAKESECRET"),
    ("password", "password='FAKESECRET and cut o", "cut o"),
    ("password", 'password = "FAKESECRET\nsecond line"', "FAKESECRET"),
    ("password", "DB_PASSWORD=a&b(FAKESECRET)$x", "FAKESECRET"),
    ("password", "db:\n  password: a$&FAKESECRET\n  port: 1", "FAKESECRET"),
    ("password", "https://FAKESECRET-user-0@localhost/", "FAKESECRET"),
    ("header", "Authorization: Odd FAKESECRET", "FAKESECRET"),
    ("password", "login --password FAKESECRET --fast", "FAKESECRET"),
    ("private key", "-----BEGIN PRIVATE KEY-----\nFAKE\n-----END PRIVATE KEY-----", "FAKE\n"),
    ("private key", "-----BEGIN RSA PRIVATE KEY-----\nFAKE and cut", "FAKE and cut"),
    ("e-mail address", "ask person@example.invalid about it", "person@example.invalid"),
    ("home path", "see /home/demo-user/shop/a.py", "demo-user"),
    ("home path", r"see C:\Users\demo-user\shop", "demo-user"),
    ("home path", "in projects/-home-demo-shop", "demo"),
    ("base64 of a secret", "b64 cGFzc3dvcmQ9RkFLRVNFQ1JFVA== end", "cGFzc3dvcmQ9"),
    ("key", "hook SG." + "a" * 22 + "." + "b" * 43, "bbb"),
    ("environment", "".join(f"NAME_{n}=value{n}\n" for n in range(8)), "value3"),
]


@pytest.mark.parametrize(("kind", "text", "secret"), SECRETS)
def test_a_secret_is_struck_out_and_the_rest_stays(kind: str, text: str, secret: str) -> None:
    clean, findings = redacted(text, place="body")
    assert secret not in clean
    assert f"[redacted: {kind}]" in clean
    assert [(f.kind, f.place) for f in findings] == [(kind, "body")]
    assert secret.strip() in findings[0].secret


@pytest.mark.parametrize(("kind", "text", "secret"), SECRETS)
def test_redacting_twice_changes_nothing(kind: str, text: str, secret: str) -> None:
    clean, _ = redacted(text)
    assert redacted(clean) == (clean, ())


@pytest.mark.parametrize(
    "text",
    [
        'answer = input("Password: ")',
        "class User:\n    token: Optional[str] = None\n    password: str",
        "max_tokens: 4096, tokens=500, cache_read_tokens: 12",
        "def login(password: str, token: Optional[str] = None) -> bool:",
        "token = get_token()",
        "if token == other_token: pass",
        "git@github.com:shop/shop.git",
        "The token: the next word of a text",
        "see /home and /usr/home",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "https://example.invalid/a?page=2",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redacted(text) == (text, ())


def test_each_finding_is_restored_alone() -> None:
    text = "mail a@example.invalid or b@example.invalid, a@example.invalid"
    clean, findings = redacted(text, place="body")
    assert clean.count("[redacted: e-mail address]") == 3
    first, second = findings
    some, found = redacted(text, {second.key}, "body")
    mark = "[redacted: e-mail address]"
    assert some == f"mail {mark} or b@example.invalid, {mark}"
    assert [f.is_restored for f in found] == [False, True]
    assert redacted(text, {first.key, second.key}, "body")[0] == text
    assert redacted(some, {second.key}, "body")[0] == some


def test_a_restored_secret_is_restored_in_its_own_place_alone() -> None:
    _, findings = redacted("password: hunter22", place="body")
    clean, _ = redacted("password: hunter22", {findings[0].key}, "title")
    assert "hunter22" not in clean


def test_every_string_of_a_value_is_looked_at_and_names_tell_secrets() -> None:
    value = {
        "command": ["curl", {"password": "plain word"}],
        "a@example.invalid": 1,
        "env": {"API_KEY": "xy", "tokens": "many", "n": 3, "none": None},
    }
    clean, findings = redacted_value(value, place="message 2")
    assert clean == {
        "command": ["curl", {"password": "[redacted: password]"}],
        "[redacted: e-mail address]": 1,
        "env": {"API_KEY": "[redacted: password]", "tokens": "many", "n": 3, "none": None},
    }
    assert {f.secret for f in findings} == {"plain word", "a@example.invalid", "xy"}
    assert redacted_value(clean, place="message 2") == (clean, ())
    both = {"a@example.invalid": 1, "b@example.invalid": 2}
    assert list(dict(redacted_value(both)[0]).values()) == [1, 2]  # pyright: ignore[reportArgumentType, reportCallIssue]
    keys = {f.key for f in findings}
    assert redacted_value(value, keys, "message 2")[0] == value


@pytest.mark.parametrize(
    "text",
    [
        "key: [redacted: sk-ant-api03-abcdefghij0123456789]",
        "password=[redacted: key]hunter22",
        "password=ab[redacted: key]hunter22",
        "DB_PASSWORD=[redacted: key][redacted: token]hunter22",
        "x: [redacted: key]\n  password: [redacted: password]hunter22",
        "--password [redacted: password]hunter22",
        "password=" + "[redacted: key]" * 50 + "hunter22",
        "Authorization: Bearer [redacted: header]hunter22",
        "X-Api-Key: [redacted: header]hunter22",
        'password="[redacted: key] hunter22"',
        'password="[redacted: hunter22]"',
    ],
)
def test_a_mark_that_somebody_wrote_hides_nothing(text: str) -> None:
    clean, findings = redacted(text)
    assert findings
    assert "hunter22" not in clean
    assert "sk-ant" not in clean
    assert redacted(clean) == (clean, ())


def test_a_value_that_holds_a_mark_is_struck_out_whole() -> None:
    clean, _ = redacted_value({"password": "[redacted: key]hunter22"})
    assert clean == {"password": "[redacted: password]"}


def test_of_a_cookie_the_value_alone_is_struck_out() -> None:
    clean, _ = redacted_value({"cookies": [{"name": "sid", "value": "x", "path": "/"}]})
    assert clean == {"cookies": [{"name": "sid", "value": "[redacted: password]", "path": "/"}]}


def test_a_restored_value_stays_whole_whatever_stands_in_it() -> None:
    value = {"password": "see a@example.invalid", "mail": "see a@example.invalid"}
    _, findings = redacted_value(value)
    whole = next(f.key for f in findings if f.secret.startswith("see"))
    clean, found = redacted_value(value, {whole})
    assert clean == {**value, "mail": "see [redacted: e-mail address]"}
    assert redacted_value(clean, {whole}) == (clean, (found[0],))


def test_members_that_are_struck_out_to_the_same_name_all_stay() -> None:
    class Counting(dict[str, object]):
        asked = 0

        def __contains__(self, key: object) -> bool:
            Counting.asked += 1
            return super().__contains__(key)

    members = {f"a{n}@example.invalid": n for n in range(300)}
    clean, _ = redacted_value(members)
    assert isinstance(clean, dict)
    assert list(clean.values()) == list(range(300))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    taken, numbers = Counting(), dict[str, int]()
    for _ in range(300):
        taken[free_name("x", taken, numbers)] = 1
    assert Counting.asked < 1_000


@pytest.mark.parametrize("text", secret_table.TEXTS)
def test_no_secret_of_the_table_stays(text: str) -> None:
    clean, findings = redacted(text)
    assert "FAKESECRET" not in clean
    assert "471147" not in clean
    assert findings
    assert redacted(clean) == (clean, ())
    keys = {finding.key for finding in findings}
    assert redacted(text, keys)[0] == text


@pytest.mark.parametrize(("text", "secret"), secret_table.ENCODED)
def test_no_secret_in_base64_stays(text: str, secret: str) -> None:
    assert secret not in redacted(text)[0]


@pytest.mark.parametrize("text", secret_table.PLAIN_TEXTS)
def test_a_text_without_secrets_stays(text: str) -> None:
    assert redacted(text) == (text, ())


@pytest.mark.parametrize("value", secret_table.VALUES + secret_table.NUMBERS)
def test_no_secret_of_a_value_stays(value: object) -> None:
    clean, findings = redacted_value(value)
    assert "FAKESECRET" not in json.dumps(clean)
    assert "4711" not in json.dumps(clean)
    assert "bWU6Rk" not in json.dumps(clean)
    assert redacted_value(clean) == (clean, ())
    assert redacted_value(value, {finding.key for finding in findings})[0] == value


@pytest.mark.parametrize("value", secret_table.PLAIN_VALUES)
def test_a_value_without_secrets_stays(value: object) -> None:
    assert redacted_value(value) == (value, ())


PIECES = st.sampled_from(
    ["password", "token", "=", ": ", " ", "\n", '"', "'", "[redacted: key]", "/home/", "a@b.cc",
     "sk-ant-", "abcdef12", "Bearer ", "://", "@", "?", "&", "Authorization", "A_B=c\n", "[", "]",
     "-----BEGIN PRIVATE KEY-----", "cGFzc3dvcmQ9RkFLRVNFQ1JFVA==", "é", "\\", "AKIA", "0" * 16,
     "%3D", "\x1b[31m", "\u200b", "&quot;", "pass", "auth", "curl -u ", "value", "name", "--token",
     "-----END PRIVATE KEY-----", " is ", "<", ">", "4711", "|", ",", "(", "x9y8z7", "cookie"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join), st.integers(0, 7))
def test_whatever_the_text_a_second_time_changes_nothing(text: str, which: int) -> None:
    _, found = redacted(text)
    restored = {f.key for n, f in enumerate(found) if which >> (n % 3) & 1}
    clean, _ = redacted(text, restored)
    again, left = redacted(clean, restored)
    assert again == clean
    assert [f for f in left if not f.is_restored] == []


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=10).map("".join), st.integers(0, 9))
def test_what_is_restored_stays_whole(text: str, which: int) -> None:
    _, found = redacted(text)
    if found:
        kept = found[which % len(found)]
        assert kept.secret in redacted(text, {kept.key})[0]


NAMES = st.sampled_from(["password", "api_key", "Authorization", "x", "a@b.cc"])
TEXTS = st.lists(PIECES, max_size=8).map("".join)
VALUES = st.recursive(
    TEXTS | st.integers(0, 10**6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(VALUES, st.integers(0, 7))
def test_whatever_was_restored_a_second_look_finds_nothing_else(value: object, which: int) -> None:
    _, found = redacted_value(value)
    restored = {f.key for n, f in enumerate(found) if which >> (n % 3) & 1}
    clean, _ = redacted_value(value, restored)
    again, left = redacted_value(clean, restored)
    assert again == clean
    assert [f for f in left if not f.is_restored] == []


@pytest.mark.parametrize(
    "piece",
    ["a", "a@", "token=\"", "eyJ", "sk-a", "://", "?token", "secret", "-----BEGIN PRIVATE KEY-----",
     "A=\n", "bearer ", "the password is not here, but see http://x.invalid/y. ", "-", "_", "KEY=",
     "password=aaaa ", "token-", "a.password.b", "://a:", "%41", "\x1b[31m", "&quot;token", "pass:",
     "curl ", "curl -u ", "mysql -", "login ", "--token ", "name: token, value: ", "token is ",
     "abcd\n-----END PRIVATE KEY-----", "a" * 76 + "\n", "Private-Lines: 1\n", "token:\n ",
     "token: |\n x\n", "[redacted: key]", "token='", "password=\"\\", "token{value:"],
)  # fmt: skip
def test_the_time_grows_with_the_size_and_no_faster(piece: str) -> None:
    def took(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        redacted(text)
        return time.process_time() - began

    small = min(took(20_000) for _ in range(2))
    # Eight times the text: 8 where the time is linear, 64 where it is quadratic.
    assert took(160_000) < 30 * max(small, 0.005)


def test_base64_of_a_picture_is_not_taken_for_a_secret() -> None:
    text = base64.b64encode(bytes(range(256)) * 30).decode()
    assert redacted(text) == (text, ())


def test_the_rule_set_is_loaded_with_the_first_use_alone() -> None:
    program = (
        "import sys, json, app.background.feedback.sender;"
        "before = 'detect_secrets' in sys.modules;"
        "from app.background.feedback.redact import redacted; redacted('some words');"
        "print(json.dumps([before, 'detect_secrets' in sys.modules]))"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert json.loads(done.stdout) == [False, True], done.stderr
    assert len(rules()) > 30
