"""The sinks that use the network: a service of one's own, and GitHub."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from app.background.feedback.payload import BUDGET, Payload
from app.background.feedback.request import (
    TIMEOUT,
    Request,
    address_fault,
    no_id,
    shown_address,
    token_fault,
)
from app.background.feedback.sinks import Failed, Outcome, Progress, Sent
from app.clock import Clock
from app.plain_text import cut, plain_line

GITHUB: Final = "https://api.github.com"
GITHUB_BUDGET: Final = 60_000
"""Bytes of a report that fit into an issue: its body has at most 65 536 characters."""
MOST_ISSUE: Final = 65_536
"""Characters of an issue's body that GitHub takes."""
_MOST_TITLE: Final = 256
_MOST_ID: Final = 200
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
_FENCE: Final = re.compile(r"`{3,}")


class HttpSink:
    """A POST of the payload as it is to `endpoint`, under an idempotency key."""

    name: str = "http"
    is_idempotent: bool = True

    def __init__(
        self,
        endpoint: str,
        token: str,
        clock: Clock,
        *,
        budget: int = BUDGET,
        timeout: float = TIMEOUT,
    ) -> None:
        self._endpoint = endpoint
        self._token = token
        self._clock = clock
        self._timeout = timeout
        self.budget = budget

    @property
    def target(self) -> str:
        return shown_address(self._endpoint)

    def encoded(self, payload: Payload) -> bytes:
        return payload.data

    def fault(self, payload: Payload) -> str:
        return address_fault(self._endpoint) or token_fault(self._token)

    async def send(self, payload: Payload, progress: Progress, key: str) -> Outcome:
        if fault := self.fault(payload):
            return Failed(fault)
        headers = {"Idempotency-Key": key}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(self._endpoint, headers, self.encoded(payload), progress)
        answer = await request.send(self._clock.now(), self._timeout)
        if isinstance(answer, Failed):
            return answer
        remote_id = _remote_id(answer.get("id"))
        if not remote_id:
            return no_id()
        return Sent(remote_id, is_duplicate=answer.get("duplicate") is True)


class GithubSink:
    """An issue in a repository, by the REST API. GitHub knows no idempotency key."""

    name: str = "github"
    is_idempotent: bool = False
    budget: int = GITHUB_BUDGET

    def __init__(
        self,
        repository: str,
        token: str,
        clock: Clock,
        *,
        base_url: str = GITHUB,
        timeout: float = TIMEOUT,
    ) -> None:
        """`repository` is `owner/name`."""
        self._repository = repository
        self._token = token
        self._clock = clock
        self._base_url = base_url.rstrip("/")
        self._timeout = timeout

    @property
    def target(self) -> str:
        """`owner/name`, behind the host where that is not GitHub's own."""
        is_readable = _REPOSITORY.fullmatch(self._repository)
        repository = self._repository if is_readable else "(no repository)"
        if self._base_url == GITHUB:
            return repository
        host = shown_address(self._base_url).partition("://")[2].partition("/")[0]
        return f"{host or '(no address)'}/{repository}"

    def encoded(self, payload: Payload) -> bytes:
        return msgspec.json.encode(_issue(payload))

    def fault(self, payload: Payload) -> str:
        if not _REPOSITORY.fullmatch(self._repository):
            return "The repository must be given as owner/name. Check feedback.endpoint."
        if not self._token:
            return "GitHub needs a token. Set feedback.token."
        fault = address_fault(self._base_url) or token_fault(self._token)
        if not fault and len(str(_issue(payload)["body"])) > MOST_ISSUE:
            return (
                f"An issue takes {MOST_ISSUE} characters and this report has more. Send it without "
                "the transcript, or export it."
            )
        return fault

    async def send(self, payload: Payload, progress: Progress, key: str) -> Outcome:
        if fault := self.fault(payload):
            return Failed(fault)
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "reverie",
        }
        url = f"{self._base_url}/repos/{self._repository}/issues"
        request = Request(url, headers, self.encoded(payload), progress)
        answer = await request.send(self._clock.now(), self._timeout)
        if isinstance(answer, Failed):
            return answer
        number = answer.get("number")
        if not isinstance(number, int) or isinstance(number, bool):
            return no_id(201)
        address = answer.get("html_url")
        return Sent(_remote_id(address) or f"{self._repository}#{_remote_id(number)}")


def _issue(payload: Payload) -> dict[str, str]:
    """The issue: the report's texts for people, and whatever else leaves as JSON in a fence."""
    report: dict[str, Any] = msgspec.json.decode(payload.data)
    title = cut(plain_line(report["title"]).strip() or "Feedback", _MOST_TITLE)
    about = {key: report[key] for key in ("id", "created_at", "category", "client")}
    parts = [report["body"]]
    if report["evidence"]:
        parts.append(f"### Evidence\n\n{report['evidence']}")
    parts.append(_fenced(about))
    if "transcript" in report:
        parts.append(f"### Transcript\n\n{_fenced(report['transcript'])}")
    return {"title": title, "body": "\n\n".join(parts)}


def _fenced(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}json\n{text}\n{fence}"


def _remote_id(value: object) -> str:
    """An id as a service gave it, fit to be shown; empty when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return ""
    seen = "".join(each for each in plain_line(str(value)) if each.isprintable())
    return cut(seen.strip(), _MOST_ID)
