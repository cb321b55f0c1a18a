"""One POST of a report and what its answer means.

No redirect is followed: a report goes to the address that its person set, or nowhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from app.background.feedback.sinks import Failed, Progress
from app.credentials import is_loopback
from app.models.limits import parse_retry_after
from app.models.retry import wait_in_words
from app.plain_text import cut, plain_line

if TYPE_CHECKING:
    import httpx2

TIMEOUT: Final = 30.0
"""Seconds for a whole attempt (spec/feedback.md, Sinks)."""
MOST_ANSWER: Final = 64 << 10
"""Bytes of an answer that are read."""
LONGEST_WAIT: Final = 86_400.0
"""Seconds of a `retry-after` that are believed."""
_PATIENCE: Final = 2.0
"""Seconds for the words of a service that has said no."""
_PIECE: Final = 64 << 10
_MOST_WORDS: Final = 300
"""Characters of a service's own words that are shown."""
_OPEN_ENDED: Final = frozenset({303, 408})
"""Statuses from 300 to 499 behind which the report may have been taken."""
_UNDECIDED: Final = "It may have arrived all the same."
_SIGN_IN: Final = "Check the address; a sign-in page may be in between."


class Request:
    """A POST to `url`, which is sent once; `began` says whether any of the body was handed over."""

    def __init__(
        self, url: str, headers: Mapping[str, str], body: bytes, progress: Progress
    ) -> None:
        self.url = url
        self.began = False
        self._refused: Failed | None = None
        self._body = body
        self._progress = progress
        self._headers = {
            **headers,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }

    async def send(self, now: datetime, timeout: float = TIMEOUT) -> dict[str, Any] | Failed:
        """The JSON object that a 200 or 201 answered with, or why there is none."""
        try:
            # The import and the certificates take long enough to be seen on the screen.
            client = await asyncio.to_thread(_client, self.url, timeout)
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no connection yet
            return Failed(
                f"A connection cannot be prepared ({type(error).__name__}). Nothing left this "
                "machine. Check the proxies (HTTPS_PROXY, ALL_PROXY) and the certificates "
                "(SSL_CERT_FILE) that the environment names."
            )
        import httpx2

        host = urlsplit(self.url).netloc
        try:
            async with asyncio.timeout(timeout):
                return await self._attempt(client, now)
        except (TimeoutError, httpx2.TimeoutException):
            return self._refused or self._failed(f"{host} did not answer within {timeout:g} s.")
        except httpx2.InvalidURL:
            return Failed(f"{cut(plain_line(shown_address(self.url)), _MOST_WORDS)} is no address.")
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            what = "The connection broke" if self.began else "It could not be reached"
            return self._failed(f"{what} ({host}, {type(error).__name__}).")

    async def _attempt(self, client: httpx2.AsyncClient, now: datetime) -> dict[str, Any] | Failed:
        import httpx2

        async with (
            client,
            client.stream(
                "POST", self.url, headers=self._headers, content=self._pieces()
            ) as response,
        ):
            if response.status_code not in {200, 201}:
                # It is known now, also where its body is slow or the connection breaks.
                self._refused = _refusal(response.status_code, response.headers, b"", now)
                with contextlib.suppress(httpx2.HTTPError, TimeoutError):
                    async with asyncio.timeout(_PATIENCE):
                        said = await _answer(response) or b""
                    return _refusal(response.status_code, response.headers, said, now)
                return self._refused
            return _accepted(response.status_code, await _answer(response))

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        total = len(self._body)
        self._progress(0, total)
        for start in range(0, total, _PIECE):
            self.began = True
            piece = self._body[start : start + _PIECE]
            yield piece
            self._progress(start + len(piece), total)

    def _failed(self, reason: str) -> Failed:
        if not self.began:
            return Failed(f"{reason} Nothing left this machine. Check the network and the address.")
        return Failed(f"{reason} {_UNDECIDED}", is_unclear=True)


def address_fault(url: str) -> str:
    """Why nothing may be sent to this address, as a sentence; empty when it may."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where it is none
    except ValueError:
        return "The address of the service is not readable. Check it in the settings."
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        return "The address of the service must begin with https://. Check it in the settings."
    if parts.username is not None or parts.password is not None:
        return "The address holds a password. Put it into feedback.token instead."
    if parts.scheme == "http" and not is_loopback(url):
        return (
            f"{parts.hostname} would get the report unencrypted. Use https://; http:// is for this "
            "machine alone."
        )
    return ""


def shown_address(url: str) -> str:
    """The address without user, password, query and fragment; a word where it is unreadable."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "(unreadable address)"
    if not parts.scheme or not host:
        return "(no address)"
    return f"{parts.scheme}://{host}{parts.path}"


def token_fault(token: str) -> str:
    """Why the token cannot be sent, as a sentence; empty when it can. It may be empty."""
    if token.isascii() and (not token or token.isprintable()) and token == token.strip():
        return ""
    return "feedback.token has characters that no token has. Copy it again."


def _client(url: str, timeout: float) -> httpx2.AsyncClient:
    import httpx2

    # A proxy named in the environment must not see what stays on this machine.
    trusts = not is_loopback(url)
    return httpx2.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=trusts)


async def _answer(response: httpx2.Response) -> bytes | None:
    """The answer's body, None when it is longer than is read."""
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > MOST_ANSWER:
            return None
    return bytes(body)


def _accepted(status: int, body: bytes | None) -> dict[str, Any] | Failed:
    if body is None:
        return _no_receipt(status, f"an answer longer than {MOST_ANSWER} bytes")
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        return _no_receipt(status, "something that is no JSON")
    if not isinstance(answer, dict):
        return _no_receipt(status, "no JSON object")
    fields = cast("dict[str, Any]", answer)
    if fields.get("ok") is False or fields.get("error"):
        return _no_receipt(status, "an error", _words(body))
    return fields


def _no_receipt(status: int, what: str, more: str = _SIGN_IN) -> Failed:
    said = f"The service said {status} with {what}, which is no receipt."
    reason = " ".join(filter(None, [said, _UNDECIDED, more]))
    return Failed(reason, is_unclear=True, status=status)


def no_id(status: int = 200) -> Failed:
    """What an answer without the report's id means."""
    return _no_receipt(status, "no id of the report")


def _refusal(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Failed:
    advice = {
        401: "Its token was refused. Check feedback.token.",
        403: "The token may not send reports there. Ask whoever runs the service, or export it.",
        404: "There is nothing at this address. Check it in the settings.",
        413: "The report is too large for it. Send it without the transcript, or shorten it.",
        429: "Too many reports were sent.",
        503: "It is not available now.",
    }.get(status, "")
    if 200 <= status < 300:
        advice = "That is no receipt. Check the address."
    elif 300 <= status < 400:
        advice = _elsewhere(headers.get("location", ""))
    wait = parse_retry_after(headers, now) if status in {429, 503} else None
    if wait is not None:
        wait = min(wait, LONGEST_WAIT)
        advice += f" It asks to wait {wait_in_words(wait)}."
    is_no = status == 503 or (300 <= status < 500 and status not in _OPEN_ENDED)
    sentences = [f"The service said {status}.", advice, _words(body)]
    if not is_no:
        sentences.append(_UNDECIDED)
    return Failed(" ".join(filter(None, sentences)), wait, not is_no, status)


def _elsewhere(location: str) -> str:
    place = cut(plain_line(location).strip(), _MOST_WORDS)
    if not place:
        return "It points elsewhere without saying where. Check the address."
    return f"It points to {place}, which was not followed. Set that address if you trust it."


def _words(body: bytes) -> str:
    """The service's own words, when it put them into an object's `message` or `error`."""
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(answer, dict):
        return ""
    fields = cast("dict[str, Any]", answer)
    said = fields.get("message") or fields.get("error")
    return f"Its words: {cut(plain_line(said), _MOST_WORDS)}" if isinstance(said, str) else ""
