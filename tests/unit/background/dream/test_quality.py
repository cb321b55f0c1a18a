"""The measure of a dream's quality: that it tells a good dream from a bad one, offline."""

from __future__ import annotations

from pathlib import Path

from app.agent.caller import Caller
from app.background.dream.dreamer import Dreamer
from app.background.dream.record import Dream
from app.background_settings import DreamSettings
from app.storage.documents import Author
from benchmarks.dream_quality.score import score
from benchmarks.dream_quality.shop import ideal, memory, project
from tests.fakes.clock import ManualClock
from tests.fakes.dying_dream import Quiet, documents_in, free, place_in, texts
from tests.fakes.provider import ScriptedProvider, Step, calls, reply


async def dreamt(folder: Path, wanted: dict[str, str]) -> Dream:
    """A model that makes the memory exactly this."""
    documents, place = documents_in(folder), place_in(folder)
    project(place.project)
    for name, text in memory().items():
        documents.update(name, lambda _text, text=text: text, Author("you"))
    script: list[list[Step]] = []
    for number, name in enumerate(memory()):
        path = str(place.stage / name)
        uses = [("Read", {"file_path": path}, f"r{number}")]
        if name in wanted:
            uses.append(("Write", {"file_path": path, "content": wanted[name]}, f"w{number}"))
        else:
            uses.append(("Delete", {"file_path": path}, f"d{number}"))
        script.append(list(calls(*uses)))
    provider = ScriptedProvider(*script, reply("Done."))
    caller = Caller(provider, "claude-haiku-5-5", 1_000, (), ())
    dreamer = Dreamer(place, documents, ManualClock(), DreamSettings(), caller, free, Quiet())
    return await dreamer.dream([])


async def test_a_perfect_dream_has_a_perfect_score(tmp_path: Path) -> None:
    made = await dreamt(tmp_path, ideal())
    assert (made.status, made.reason) == ("completed", "")
    assert texts(tmp_path) == ideal()
    assert score(texts(tmp_path)).whole == 1.0


async def test_a_dream_that_throws_facts_away_is_held(tmp_path: Path) -> None:
    made = await dreamt(tmp_path, {"MEMORY.md": "# Shop\n"})
    assert made.status == "held" and "More than half" in made.reason
    assert texts(tmp_path) == memory()


def test_the_score_tells_what_is_wrong() -> None:
    before = score(memory())
    assert before.kept == 1.0 and before.said_once == 0.0 and before.corrected == 0.0
    assert before.contradictions == 0.0 and before.entry == 0.0
    lost = {**ideal(), "people.md": "# People\n"}
    assert score(lost).kept == 0.8
    dead = {**ideal(), "MEMORY.md": "- [X](x.md)\n"}
    assert score(dead).entry == 0.0
    assert score({}).whole < 0.2
