from __future__ import annotations

from app.cli.events import Ending, record_event, result_event
from app.cli.parser import split_names
from app.cli.slash import cost_text
from app.models.provider import Usage
from app.sessions.records import new_record


def test_a_boundary_is_told_and_bookkeeping_is_not() -> None:
    metadata = {"trigger": "manual", "preTokens": 5}
    boundary = new_record(
        {
            "type": "system",
            "subtype": "compact_boundary",
            "uuid": "u",
            "sessionId": "s",
            "compactMetadata": metadata,
        }
    )
    event = record_event(boundary, "s")
    assert event is not None
    assert (event["subtype"], event["compact_metadata"]) == ("compact_boundary", metadata)
    prompt = {"role": "user", "content": "hi"}
    for data in (
        {"type": "user", "uuid": "u", "message": prompt},
        {"type": "mode", "mode": "normal"},
        {"type": "system", "subtype": "api_error", "uuid": "u"},
    ):
        assert record_event(new_record(data), "s") is None


def test_an_unknown_cost_is_never_zero() -> None:
    assert result_event(Ending("success", "", "s", cost_usd=None))["total_cost_usd"] is None
    assert "unknown" in cost_text(Usage(input=1234), None)
    assert "1,234" in cost_text(Usage(input=1234), 0.5)


def test_names_are_separated_outside_of_parentheses() -> None:
    assert split_names(["Bash(git log:*),Read", "Edit  Write", ""]) == (
        "Bash(git log:*)",
        "Read",
        "Edit",
        "Write",
    )
    assert split_names(["Bash(echo (a, b))"]) == ("Bash(echo (a, b))",)
