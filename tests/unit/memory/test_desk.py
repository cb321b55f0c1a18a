"""The intents about memory, on a real folder with real events."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.errors import ReverieError
from app.installation import Options
from app.memory.pages import Clash, Page
from app.memory_desk import MemoryDesk
from app.state.model import State
from tests.fakes.provider import calls, reply
from tests.fakes.stage import Stage, stage, until


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Stage]:
    note = {"command": "create", "path": "/memories/fact.md", "file_text": "# Fact\nwrong\n"}
    script = [calls(("memory", note, "t1")), reply("ok", 2), reply("more", 3)]
    yield await stage(tmp_path, *script, options=Options(allowed=("memory",)))


@pytest.fixture
async def desk(play: Stage) -> AsyncIterator[MemoryDesk]:
    settings = play.runtime.settings
    made = MemoryDesk(
        play.here,
        lambda: settings,
        play.store.dispatch,
        lambda words, _severity: play.told.append(words),
        lambda: play.runtime,
        lambda: False,
        asyncio.create_task,
    )
    yield made
    await made.close()


def folder_of(play: Stage) -> Path:
    return play.here.places.memory(play.here.folder)


def names(state: State) -> list[str]:
    return [each.name for each in state.memory.documents]


async def test_documents_are_saved_by_version(play: Stage, desk: MemoryDesk) -> None:
    page = await desk.create("topic")
    assert (page.name, page.version) == ("topic.md", "new")
    saved = await desk.save(page, "one\n")
    assert isinstance(saved, Page)
    assert names(play.store.state) == ["topic.md"]
    (folder_of(play) / "topic.md").write_text("by hand\n")
    clash = await desk.save(saved, "two\n")
    assert isinstance(clash, Clash)
    assert clash.theirs.text == "by hand\n"
    merged = await desk.merge(saved, "one\nmine\n", clash.theirs)
    assert merged.conflicts == 1
    await desk.set_aside("topic.md", "two\n")
    versions = await desk.history("topic.md")
    assert [(v.who, v.what) for v in versions] == [
        ("you", "set_aside"),
        ("other", "written"),
        ("you", "written"),
    ]
    assert await desk.past_text("topic.md", versions[0].id) == "two\n"
    restored = await desk.restore("topic.md", versions[2].id)
    assert restored.text == "one\n"
    assert (await desk.diff("topic.md", versions[1].id))[0]["lines"] == ["-one", "+by hand"]
    with pytest.raises(ReverieError, match="already"):
        await desk.create("topic")
    with pytest.raises(ReverieError):
        await desk.create("../topic")


async def test_trash_and_names(play: Stage, desk: MemoryDesk) -> None:
    for name, text in (("MEMORY", "- [A](a.md)\n"), ("a", "alpha\n"), ("b", "beta\n")):
        await desk.save(await desk.create(name), text)
    state = play.store.state.memory
    assert [(d.name, d.is_orphan, d.who) for d in state.documents] == [
        ("MEMORY.md", False, "you"),
        ("a.md", False, "you"),
        ("b.md", True, "you"),
    ]
    assert await desk.rename("a.md", "sub/c") == "sub/c.md"
    assert (await desk.read("MEMORY.md")).text == "- [A](sub/c.md)\n"
    await desk.trash("sub/c.md")
    state = play.store.state.memory
    assert ([d.name for d in state.trashed], state.lines) == (["sub/c.md"], 0)
    (last, *_) = await desk.history("sub/c.md")
    assert (await desk.restore("sub/c.md", last.id)).text == "alpha\n"
    assert play.store.state.memory.trashed == ()
    assert [found.name for found in await desk.search("beta")] == ["b.md"]
    sections = dict(await desk.check())
    assert [row[1] for row in sections["Not mentioned by the entry"]] == ["b.md"]


async def test_what_changes_on_disk_is_seen(play: Stage, desk: MemoryDesk) -> None:
    store, folder = play.store, folder_of(play)
    await desk.open()
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("one\n")
    await asyncio.wait_for(until(store, lambda s: names(s) == ["a.md"]), 10)
    (folder / ".a.swp").write_text("two longer\n")
    (folder / ".a.swp").rename(folder / "a.md")
    await asyncio.wait_for(until(store, lambda s: s.memory.documents[0].size == 11), 10)
    (folder / "sub").mkdir()
    (folder / "sub" / "b.md").write_text("b\n")
    await asyncio.wait_for(until(store, lambda s: names(s) == ["a.md", "sub/b.md"]), 10)
    (folder / "sub" / "b.md").write_text("longer\n")
    await asyncio.wait_for(until(store, lambda s: s.memory.documents[1].size == 7), 10)
    shutil.rmtree(folder)
    await asyncio.wait_for(until(store, lambda s: names(s) == []), 10)
    folder.mkdir()
    (folder / "c.md").write_text("c\n")
    await asyncio.wait_for(until(store, lambda s: names(s) == ["c.md"]), 10)


async def test_a_storm_of_events_is_one_look_now_and_then(play: Stage, desk: MemoryDesk) -> None:
    folder = folder_of(play)
    folder.mkdir(parents=True)
    looks = 0
    real = desk._look

    async def counted() -> None:
        nonlocal looks
        looks += 1
        await real()

    desk._look = counted
    await desk.open()

    def storm() -> None:
        for number in range(10_000):
            with (folder / "a.md").open("w") as file:
                file.write(str(number))
        (folder / "last.md").write_text("x")

    await asyncio.to_thread(storm)
    await asyncio.wait_for(until(play.store, lambda s: "last.md" in names(s)), 20)
    assert looks < 1_000


async def test_a_note_is_struck_and_the_model_is_told(play: Stage, desk: MemoryDesk) -> None:
    await play.turn()
    graph = play.runtime.conversation.view.graph
    details = next(r.data["toolUseResult"] for r in graph.records if r.tool_results)
    (folder_of(play) / "MEMORY.md").write_text("- [Fact](fact.md)\n- other\n")
    await desk.strike(details["name"], details["changeId"], "t1")
    assert not (folder_of(play) / "fact.md").exists()
    assert (folder_of(play) / "MEMORY.md").read_text() == "- other\n"
    await play.turn("go on")
    assert "The person struck your last note in /memories/fact.md" in str(play.messages())
    assert any(record.subtype == "memory_struck" for record in play.records())
    await desk.strike(details["name"], details["changeId"], "t1")
    assert "not in fact.md any more" in play.told[-1]


async def test_what_cannot_be_read_any_more_can_be_saved_over(
    play: Stage, desk: MemoryDesk
) -> None:
    saved = await desk.save(await desk.create("topic"), "one\n")
    assert isinstance(saved, Page)
    file = folder_of(play) / "topic.md"
    file.write_bytes(b"a\0b\n")
    clash = await desk.save(saved, "two\n")
    assert isinstance(clash, Clash)
    assert "NULs" in clash.trouble and clash.theirs.text == ""
    assert file.read_bytes() == b"a\0b\n"
    assert isinstance(await desk.save(clash.theirs, "two\n"), Page)
    assert file.read_bytes() == b"two\n"
    _mine, theirs, _first = await desk.history("topic.md")
    with pytest.raises(ReverieError, match="NULs"):
        await desk.restore("topic.md", theirs.id)
    assert file.read_bytes() == b"a\0b\n"
