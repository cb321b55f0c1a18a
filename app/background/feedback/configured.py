"""The sink that the person's own settings name (spec/feedback.md, Sinks)."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from app.background.feedback.services import GITHUB, GithubSink, HttpSink
from app.background.feedback.sinks import FileSink, Sink
from app.background_settings import FeedbackSettings
from app.clock import Clock
from app.errors import ReverieError
from app.paths import Places

WAYS_OUT: Final = (
    "Set feedback.sink to http, github or file, and feedback.endpoint to the address, the "
    "repository (owner/name) or the path; or export the report to a file."
)


class NoSink(ReverieError):
    """The settings do not say where reports go."""


def configured_sink(settings: FeedbackSettings, places: Places, home: Path, clock: Clock) -> Sink:
    """Where reports go; opens nothing. Raises `NoSink`."""
    endpoint, token = settings.endpoint, settings.token or ""
    match settings.sink:
        case None:
            raise NoSink("No service for reports is set, so nothing is sent.", todo=WAYS_OUT)
        case "file":
            return _file_sink(endpoint, places, home, settings.budget_bytes)
        case _ if endpoint is None:
            raise NoSink(
                f"feedback.sink is {settings.sink}, but feedback.endpoint is not set.",
                kept="Nothing was sent.",
                todo="Set it in your own settings.",
            )
        case "http":
            return HttpSink(endpoint, token, clock, budget=settings.budget_bytes)
        case "github":
            base_url, repository = _repository(endpoint)
            return GithubSink(repository, token, clock, base_url=base_url)


def _file_sink(endpoint: str | None, places: Places, home: Path, budget: int) -> FileSink:
    if endpoint is None:
        return FileSink(places.data / "feedback" / "exported", is_folder=True, budget=budget)
    is_home = endpoint.startswith("~/")
    path = home / endpoint[2:] if is_home else places.config / endpoint
    return FileSink(path, is_folder=endpoint.endswith("/") or not path.suffix, budget=budget)


def _repository(endpoint: str) -> tuple[str, str]:
    """The API's address and `owner/name`, of that name alone or of a repository's address."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:  # then it is no name either, and the sink says so
        return GITHUB, endpoint
    if not parts.scheme or not parts.netloc:
        return GITHUB, endpoint
    if parts.netloc.lower() in {"github.com", "www.github.com"}:
        return GITHUB, parts.path.strip("/").removesuffix(".git")
    *before, owner, name = ["", "", *parts.path.strip("/").split("/")]
    repository = f"{owner}/{name.removesuffix('.git')}"
    path = "/".join(part for part in before if part).removesuffix("repos").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{f'/{path}' if path else ''}", repository
