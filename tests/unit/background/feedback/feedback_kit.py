from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from app.background.feedback.drafts import Draft
from app.background.feedback.outbox import Outbox
from app.background.feedback.transcript import Transcript, read_transcript
from app.sessions.graph import open_view
from app.sessions.records import Record, new_record
from tests.fakes.clock import FakeClock

CASES = Path(__file__).parents[3] / "data" / "cases"
SESSION = "5e551011-0000-4000-8000-000000000001"


def draft(draft_id: str = "fb-1", **fields: Any) -> Draft:
    made = {
        "created": "2026-11-02T09:00:00.000Z",
        "title": "It failed",
        "body": "The list was empty.",
        "session_id": SESSION,
    }
    return Draft(id=draft_id, **{**made, **fields})


def outbox(folder: Path, clock: FakeClock | None = None) -> Outbox:
    return Outbox(folder / "feedback", clock or FakeClock())


def file_of(box: Outbox, draft_id: str) -> Path:
    return box.folder / f"{draft_id}.json"


def spoken(number: int, role: str, content: Any, **more: Any) -> Record:
    return new_record(
        {
            "parentUuid": f"u{number - 1}" if number > 1 else None,
            "isSidechain": False,
            "type": role,
            "message": {"role": role, "content": content, "id": f"m{number}", "model": "claude-x"},
            "uuid": f"u{number}",
            "timestamp": f"2026-11-02T09:00:{number:02d}.000Z",
            "sessionId": SESSION,
            "version": "0.1.0",
            **more,
        }
    )


def talk(*records: Record, session_id: str = SESSION) -> Transcript:
    return read_transcript(session_id, open_view(records))


def said(data: bytes) -> dict[str, Any]:
    return msgspec.json.decode(data)
