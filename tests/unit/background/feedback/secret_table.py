"""Texts and values that must lose their secret `S`, and such that must stay as they are."""

from __future__ import annotations

import base64
import json
import urllib.parse

S = "FAKESECRETx9Zq"
_LONG = "FAKESECRET" + "abcdefgh01234567" * 3
_UTF16 = base64.b64encode(f'$password="{S}"'.encode("utf-16-le")).decode()
_WRAPPED = base64.encodebytes(f"{'blah ' * 9}password={S} {'blah ' * 20}".encode()).decode()

TEXTS = [
    # variables and members
    f"DB_PASS={S}", f"export APP_PW='{S}'", f"GH_PAT={S}", f"REGISTRY_AUTH={S}", f"APP_JWT={S}",
    f"SENTRY_DSN={S}", f"SESSION_COOKIE={S}", f"DB_PASSWORD_PROD={S}", f"API_KEY_2={S}",
    f"PASSWORD1={S}", f"secretKey: {S}", f"  pass: {S}", f'{{"user":"me","pass":"{S}"}}',
    f"pw={S}", f"db.pwd = {S}", f"dbPass: '{S}'", f"//registry.invalid/:_auth={S}",
    f'{{"auths":{{"x":{{"auth":"{base64.b64encode(b"me:FAKESECRET").decode()}"}}}}}}',
    f"password          =            {S}", f"password            : {S}", f"password -> {S}",
    f"passwordHash = {S}", f'"connectionString": "{S}"', f"X-Auth: {S}", f"Kennwort: {S}",
    "password=471147", "password: 471147",
    f'password = """{S}"""', f'password = """\n{S}\n"""', f"password: |\n  {S}\n",
    f"secret: >-\n  {S}\n", f"password:\n  {S}\n", f'{{"password": ["{S}"]}}',
    f'{{"password": {{"value": "{S}"}}}}', f"password:\u00a0{S}", f"Server=db;Uid=sa;Pwd={S};",
    json.dumps(json.dumps(json.dumps({"api_key": S}))),
    json.dumps(json.dumps(json.dumps(json.dumps({"password": S})))),
    # name and value apart
    f'{{"name": "Authorization", "value": "{S}"}}', f'{{"name": "Cookie", "value": "sid={S}"}}',
    f"- name: DB_PASSWORD\n  value: {S}\n", f"- name: DB_PASS\n  value: {S}\n",
    f'<input name="password" value="{S}">', f'<add key="ApiKey" value="{S}"/>',
    f"<password>{S}</password>",
    # sentences
    f"API key: {S}", f"my password is {S}", f"The token is: {S}", f"api key = {S}",
    f'use the password "{S}" for it', f"the password for the shop is {S}, thanks",
    # commands and files of programs
    f"machine api.invalid login me password {S}", f"machine x\n  login me\n  password {S}\n",
    f"curl -u me:{S} https://x.invalid", f"curl -s --user 'me:{S}' x", f"curl -b sid={S} x",
    f"mysql -uroot -p{S} shop", f"sshpass -p {S} ssh x", f"redis-cli -a {S} ping",
    f"openssl rsa -passin pass:{S}", f'["--password", "{S}"]', f'["--db-pass","{S}"]',
    f"tool --db-password {S}",
    # addresses
    f"postgres://u:p@{S}@host/db", f"postgres://u:p/{S}@host/db", f"postgres://u:p[{S}]@host/db",
    f"postgres://u:p'{S}@host/db",
    # spelt otherwise
    f"body=password%3D{S}%26x%3D1", urllib.parse.quote(f"https://me:{S}@db.invalid/x", safe=""),
    f"next=%252Fcb%253Ftoken%253D{S}", f"&quot;password&quot;:&quot;{S}&quot;",
    f"\\u0022password\\u0022:\\u0022{S}\\u0022", f"API_\x1b[31mKEY\x1b[0m={S}",
    f"pass\u200bword={S}", f"\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1a{S}",
    # private keys
    f"MIIEvQIBADAN\n{'abcd' * 12}FAKESECRET\n-----END PRIVATE KEY-----",
    f"    27\tMIIEvQIBADAN\n    28\t{'abcd' * 12}FAKESECRET\n    29\t-----END RSA PRIVATE KEY-----",
    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nFAKESECRET\n",
    "Private-Lines: 1\nFAKESECRETAAAA\nPrivate-MAC: aa",
    # marks of vendors
    f"ya29.{_LONG}", f"GOCSPX-{_LONG}", f"xapp-1-A0{_LONG}", f"whsec_{_LONG}", f"dop_v1_{_LONG}",
    f"shpat_{_LONG}", f"hvs.{_LONG}", f"gsk_{_LONG}", f"xai-{_LONG}", f"r8_{_LONG}",
    f"lin_api_{_LONG}", f"ntn_{_LONG}", f"ATATT3xFf{_LONG}", f"figd_{_LONG}", f"dapi{_LONG}",
    f"dckr_pat_{_LONG}", f"AGE-SECRET-KEY-1{_LONG.upper()}", f"tskey-auth-{_LONG}",
    f"https://discord.com/api/webhooks/123456789012345678/{_LONG}",
    # homes and mail
    "/var/home/FAKESECRET/x", "/export/home/FAKESECRET/x", "/mnt/c/Users/FAKESECRET/x",
    "/c/Users/FAKESECRET/x", "file%3A%2F%2F%2Fhome%2FFAKESECRET%2Fx", "/Users/Demo FAKESECRET/x",
    "FAKESECRET%40example.invalid",
]  # fmt: skip

ENCODED = [(_UTF16, _UTF16[:20]), (_WRAPPED, _WRAPPED.split()[-1])]
"""Texts in base64, and what of them must not stay."""

PLAIN_TEXTS = [
    "password: str", "token = next(tokens)", "def password(self)", "def password(self) -> str:",
    '{"input_tokens": 1234, "output_tokens": 5678, "cache_read_input_tokens": 90123}',
    '"tokens": 1234, "max_tokens": 4096', "usage: input_tokens=1234 cache_read=56789",
    "tokens: 123456", "token: 1234", "token_count: 123456", "TOKEN_LIMIT=4000",
    "password_min_length: 1234", "passwordLength = 1234", "token_type: bearer",
    'tokenType: "bearer"', "PASSWORD_FILE=/run/secrets/db", "app/password.py:12:def check",
    "password = self.password", "password=settings.password", "password = os.environ['DB']",
    "secret = config.secret", "if token == other_token:", "token==other_token", "Token::new(x)",
    "credentials: Credentials", "token: Token", "result = await token", "class Token:\n    pass",
    "KEYBOARD=german", "PWD=/srv/shop", "SSH_ASKPASS=/usr/bin/ask", "author: somebody9",
    "pass: 12, fail: 3", "PASS: test_login_2", "PASS=12 FAIL=3", "pinned: version2",
    "bypass: x1y2z3w4", "The password is wrong.", "the token is expired", "my password is not set",
    "The token is valid until 2026", "the password is base64-encoded", "a token is 4 characters",
    'the password "must" be long', "the secret is getSecret()", "name: the title of a draft",
    "status: done", "3f786850e387550fdab836ed7e6dc881de23001b",
    "5e551011-0000-4000-8000-000000000001", "see app/secret_names.py and tests/token_2.py",
    "curl https://x.invalid/a:b", "ssh -p 2222 host", "mkdir -p ab/cd",
    "http://localhost:4873/@scope/pkg", "100%25 of 50%20x", "x = a & b; y &amp; z",
    "\x1b[31mred\x1b[0m words", "/usr/local/home", "machine learning", "login with your password",
    "<Token>", "List<Token>", '{"name": "title", "value": "words"}', '["password", "e-mail"]',
    "next_token, token = token, next_token", "sha256-abc: x", "auth: required", '"auth": "basic"',
    "otp: on", "-----END PRIVATE KEY-----",
]  # fmt: skip

VALUES: list[object] = [
    {"pass": S}, {"password": [S]}, {"password": {"value": S}}, {"name": "DB_PASSWORD", "value": S},
    {"value": S, "name": "Cookie"}, {"auth": base64.b64encode(b"me:FAKESECRET").decode()},
    {"set-cookie": [f"sid={S}"]}, {"cookies": {"sid": S}}, {"x-api-key": S}, {"x_auth": S},
    {"passwordHash": S}, {"credentials": {"user": "a", "pw": S}}, {"refresh_token": S},
    {"DB_PASSWORD_PROD": S}, {"password1": S}, {"secretKey": S}, {"API_KEY_2": S},
    {"passwordConfirm": S}, {"tokens": [S]}, {"connectionString": S}, {"jwt": S},
    {"GITHUB_PAT": S}, ["mysql", "--password", S], {"argv": ["--token", S]}, {"dbPass": S},
    {"Authorization": "FAKESECRET"}, {"secrets": {"db": S}},
    {"cookies": [{"name": "sid", "value": "FAKESECRET", "path": "/"}]},
]  # fmt: skip

NUMBERS: list[object] = [
    {"password": 471147}, {"pin": 4711}, {"pin": "4711"}, {"otp": "471147"}, {"passcode": 471147},
]  # fmt: skip

PLAIN_VALUES: list[object] = [
    {"input_tokens": 1234, "output_tokens": 56789, "cache_read_input_tokens": 123456},
    {"tokens": 123456, "max_tokens": 4096, "token": 1234, "total_tokens": 99999},
    {"tokens": ["the", "next", "word"]}, {"tokens": "many"}, {"pass": 1234, "fail": 1},
    {"token_type": "bearer", "tokenType": "bearer", "password_length": 1234},
    {"auth": "basic", "author": "somebody9", "cookie_count": 3, "pass": True, "secret": None},
    {"properties": {"password": {"type": "string", "description": "At least 8 signs"}}},
    {"name": "title", "value": "words"}, ["--verbose", "words"], ["password", "e-mail"],
    {"credentials": {"user": "a", "kind": "none"}}, {"file_path": "/srv/secret.py"},
    {"value": "words", "kind": "x9y8z7w6"},
    {"id": "5e551011-0000-4000-8000-000000000001", "sha": "3f786850e387550fdab836ed7e6dc881"},
]  # fmt: skip
