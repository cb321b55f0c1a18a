from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.background.feedback.configured import NoSink, configured_sink
from app.background.feedback.payload import build
from app.background.feedback.sinks import FileSink, Sent, Sink
from app.background_settings import FeedbackSettings
from app.paths import Places
from tests.fakes.clock import FakeClock
from tests.unit.background.feedback.feedback_kit import draft

PLACES = Places(Path("/config"), Path("/data"), Path("/logs"))


def sink_of(**fields: Any) -> Sink:
    return configured_sink(FeedbackSettings(**fields), PLACES, Path("/home/me"), FakeClock())


def test_nothing_is_sent_anywhere_unless_the_person_says_where() -> None:
    with pytest.raises(NoSink, match=r"No service for reports.*export"):
        sink_of()
    with pytest.raises(NoSink, match="No service"):
        sink_of(endpoint="https://feedback.example/")
    with pytest.raises(NoSink, match=r"feedback\.endpoint is not set"):
        sink_of(sink="http", token="t")


def test_http_has_the_address_and_the_budget_of_the_settings() -> None:
    sink = sink_of(sink="http", endpoint="https://feedback.example/r", budget_bytes=70_000)
    assert (sink.name, sink.target, sink.budget) == ("http", "https://feedback.example/r", 70_000)


@pytest.mark.parametrize(
    ("endpoint", "base_url", "target"),
    [
        ("shop/till", "https://api.github.com", "shop/till"),
        ("https://github.com/shop/till", "https://api.github.com", "shop/till"),
        ("https://github.com/shop/till.git", "https://api.github.com", "shop/till"),
        ("https://api.github.com/repos/shop/till", "https://api.github.com", "shop/till"),
        (
            "https://git.example/api/v3/repos/shop/till",
            "https://git.example/api/v3",
            "git.example/shop/till",
        ),
        (
            "http://127.0.0.1:8080/shop/till/",
            "http://127.0.0.1:8080",
            "127.0.0.1:8080/shop/till",
        ),
        (
            "https://github.com.evil.example/shop/till",
            "https://github.com.evil.example",
            "github.com.evil.example/shop/till",
        ),
        (
            "https://u:SECRET@git.example/shop/till?token=SECRET",
            "https://u:SECRET@git.example",
            "git.example/shop/till",
        ),
        ("https://git.example", "https://git.example", "git.example/(no repository)"),
        ("https://github.com/shop/till/issues", "https://api.github.com", "(no repository)"),
        ("https://[SECRET/a", "https://api.github.com", "(no repository)"),
    ],
)
def test_a_repository_is_a_name_or_an_address_and_its_host_is_shown(
    endpoint: str, base_url: str, target: str
) -> None:
    sink: Any = sink_of(sink="github", endpoint=endpoint, token="t")
    assert (sink._base_url, sink.target, sink.budget) == (base_url, target, 60_000)


@pytest.mark.parametrize(
    ("endpoint", "target"),
    [
        (None, "/data/feedback/exported"),
        ("/var/reports/", "/var/reports"),
        ("~/reports.json", "/home/me/reports.json"),
        ("reports", "/config/reports"),
    ],
)
def test_a_file_is_named_from_home_or_from_the_settings(endpoint: str | None, target: str) -> None:
    assert sink_of(sink="file", endpoint=endpoint).target == target


async def test_a_folder_of_reports_is_made(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "reports", is_folder=True)
    payload = build(draft())
    sent = await sink.send(payload, lambda *_: None, "fb-1")
    assert sent == Sent(str(tmp_path / "reports/fb-1.json"))
    assert (tmp_path / "reports/fb-1.json").read_bytes() == payload.data


async def test_a_second_report_lies_beside_the_first_and_overwrites_nothing(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    sink = FileSink(file)
    first, second = build(draft()), build(draft("fb-2"))
    assert await sink.send(first, lambda *_: None, "fb-1") == Sent(str(file))
    beside = tmp_path / "out-fb-2.json"
    for _ in range(2):
        assert await sink.send(second, lambda *_: None, "fb-2") == Sent(str(beside))
    assert await sink.send(first, lambda *_: None, "fb-1") == Sent(str(file))
    assert (file.read_bytes(), beside.read_bytes()) == (first.data, second.data)
