"""Going from one session to another: each record lands in its own file (cases/B10)."""

from __future__ import annotations

import shutil
from pathlib import Path

from app.installation import Options
from app.sessions.codec import parse_transcript
from tests.fakes.provider import reply
from tests.pilot.stage import Window, window

CASE = Path(__file__).parents[1] / "data" / "cases" / "B10-switch-session-writes-to-old-file"
A = "bc2f12fe-5619-5b91-8173-b0d332b7f5a1"
B = "55751bef-472d-5bf6-81bd-f716b4207842"


def place(seen: Window) -> dict[str, Path]:
    """The two sessions of the case, among those of the window's project."""
    here = seen.controller.here
    files = {each: here.places.transcript(here.folder, each) for each in (A, B)}
    for source in CASE.glob("*.jsonl"):
        for session_id, file in files.items():
            if session_id in source.name:
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, file)
    return files


async def resume(seen: Window, session_id: str) -> None:
    await seen.send(f"/resume {session_id}")
    await seen.until(lambda state: state.session.session_id == session_id)


async def test_what_is_said_after_a_switch_lands_in_its_own_file(tmp_path: Path) -> None:
    async with window(tmp_path, reply("Hi B.", 1), reply("Hi A.", 2)) as seen:
        files = place(seen)
        for session_id, words in ((A, ""), (B, "hello B"), (A, "hello A")):
            await resume(seen, session_id)
            if words:
                await seen.send(words)
                await seen.idle()
    for session_id, words, other in ((A, "hello A", "hello B"), (B, "hello B", "hello A")):
        content = files[session_id].read_text()
        assert words in content
        assert other not in content
        records = parse_transcript(content.encode()).records
        assert {record.session_id for record in records} == {session_id}
        known = {record.uuid for record in records} | {None}
        assert all(record.parent in known for record in records)


async def test_what_is_typed_during_a_switch_is_for_the_next_session(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        files = place(seen)
        await resume(seen, A)
        opening = seen.controller._open

        async def slowly(options: Options) -> None:
            seen.prompt.insert("typed meanwhile")
            await opening(options)

        seen.controller._open = slowly
        await resume(seen, B)
        assert seen.prompt.text == "typed meanwhile"
        seen.controller._open = opening
        seen.prompt.clear()
        await resume(seen, A)
        assert seen.prompt.text == "", "the session that was left has none of it"
        assert files[A].exists()


async def test_a_turn_that_is_left_ends_in_its_own_file(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        files = place(seen)
        await resume(seen, A)
        await seen.send("!sleep 30")
        await seen.until(lambda state: state.live.phase == "running")
        await resume(seen, B)
        await seen.until(lambda state: state.live.turn_id is None)
    assert "bash-input" in files[A].read_text()
    assert "interrupted" in files[A].read_text()
    assert "bash-input" not in files[B].read_text()
