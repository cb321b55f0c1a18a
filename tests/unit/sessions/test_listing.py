from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from app.config import ModelPrice, Settings
from app.models.spending import tariff_of
from app.paths import Places
from app.sessions import listing
from app.sessions.glance import END, UNPRICED, summarise
from app.sessions.listing import Scope, complete, list_sessions, remember
from app.sessions.ownership import Ownership, own
from app.sessions.summary_cache import CACHE_FILE
from tests.fakes.sessions import Made, session_id


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def numbers(places: Places, folder: Path, scope: Scope = "project") -> list[int]:
    return [int(each.session_id[:8]) for each in list_sessions(places, folder, scope)]


def test_the_session_last_written_to_comes_first(places: Places, folder: Path) -> None:
    assert numbers(places, folder) == []
    for number, when in ((1, 3_000), (2, 5_000), (3, 4_000)):
        Made(number, str(folder)).talk("hi").keep(places, folder, when)
    assert numbers(places, folder) == [2, 3, 1]


def test_what_is_no_conversation_is_hidden(places: Places, folder: Path) -> None:
    Made(1).user("look", isSidechain=True).keep(places, folder)
    Made(2).keep(places, folder)
    (places.project(folder) / "notes.jsonl").write_text("{}\n")
    (places.project(folder) / f"{session_id(3)}.jsonl").write_text("garbage\n")
    assert [each.status for each in list_sessions(places, folder, "project")] == ["unreadable"]


def test_a_project_lists_only_its_own_sessions(places: Places, folder: Path) -> None:
    Made(1, str(folder)).talk("hi").keep(places, folder, 1)
    Made(2, f"{folder}/src").talk("hi").keep(places, folder, 2)
    Made(3, f"{folder}-twin").talk("hi").keep(places, folder, 3)
    Made(4, None).talk("hi").keep(places, folder, 4)
    imported = Made(5, "/elsewhere").raw(type="imported-from", source="x").talk("hi")
    imported.keep(places, folder, 5)
    Made(6, "/elsewhere").user("hi", forkedFrom={"sessionId": "s"}).keep(places, folder, 6)
    moved = Made(7, "/elsewhere").talk("hi")
    moved.cwd = str(folder)
    moved.talk("here").keep(places, folder, 7)
    assert numbers(places, folder) == [7, 6, 5, 4, 2, 1]
    assert numbers(places, folder, "all") == [7, 6, 5, 4, 3, 2, 1]


def test_all_work_trees_of_the_repository_or_all_projects(places: Places, tmp_path: Path) -> None:
    main, tree, twin = (tmp_path / name for name in ("shop", "shop-fix", "shop_fix"))
    mark = main / ".git" / "worktrees" / "shop-fix"
    mark.mkdir(parents=True)
    (mark / "gitdir").write_text(f"{tree}/.git\n")
    (mark / "commondir").write_text("../..\n")
    (tree / "src").mkdir(parents=True)
    twin.mkdir()
    (tree / ".git").write_text(f"gitdir: {mark}\n")
    for number, where in enumerate((main, tree, tree / "src", twin, tmp_path), 1):
        Made(number, str(where)).talk("hi").keep(places, where, number)
    for here in (main, tree, tree / "src"):
        assert numbers(places, here, "worktrees") == [3, 2, 1]
    assert numbers(places, tree, "project") == [2]
    assert numbers(places, twin, "worktrees") == [4]
    assert numbers(places, twin, "all") == [5, 4, 3, 2, 1]


def test_a_session_that_a_living_process_has_is_open(places: Places, folder: Path) -> None:
    file = Made(1, str(folder)).talk("hi").keep(places, folder)
    owner = own(file)
    assert isinstance(owner, Ownership)
    (found,) = list_sessions(places, folder, "project")
    assert found.status == "open"
    owner.release()
    for left_behind in (
        "{}",
        "what",
        '{"pid": 4194999, "started": 1.0}',
        f'{{"pid": {os.getpid()}}}',
    ):
        file.with_suffix(".lock").write_text(left_behind)
        (found,) = list_sessions(places, folder, "project")
        assert found.status == "complete"


def test_a_long_session_is_read_whole_once(
    places: Places, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tariff = tariff_of(Settings())
    file = Made(1, str(folder)).talk("hi").long(3 * END).keep(places, folder)
    Made(2, str(folder)).talk("hi").keep(places, folder)
    listed = list_sessions(places, folder, "project", tariff)
    (known,) = complete(listed, tariff)
    assert (known.session_id, known.branches, known.is_exact) == (session_id(1), 1, True)
    cache = file.with_name(CACHE_FILE)
    assert cache.stat().st_mode & 0o777 == 0o600

    def refuse(*_: object) -> None:
        raise AssertionError("a file was read again")

    with monkeypatch.context() as patch:
        patch.setattr(listing, "summarise", refuse)
        patch.setattr(listing, "exact", refuse)
        again = list_sessions(places, folder, "project", tariff)
        assert known in again and all(each.is_exact for each in again)
        assert list(complete(again, tariff)) == []
    with file.open("a") as content:
        content.write(Made(1).titled("Grown").text())
    assert "Grown" in {each.title for each in list_sessions(places, folder, "project", tariff)}


def test_other_prices_make_other_costs(places: Places, folder: Path) -> None:
    Made(1, str(folder)).talk("hi").keep(places, folder)
    dear = Settings(prices={"claude-haiku-4-5": ModelPrice(input=7, output=7)})
    for settings, cost in ((Settings(), 1.0), (dear, 7.0), (Settings(), 1.0)):
        tariff = tariff_of(settings)
        listed = list_sessions(places, folder, "project", tariff)
        assert [each.cost_usd for each in listed] == [cost]
        assert list(complete(listed, tariff)) == []


DEEP = b'{"form":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
EMPTY_ENTRY = b'{"form":2,"tariff":"","sessions":[{}]}'


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", EMPTY_ENTRY, DEEP, b'{"form":"\\ud800"}'])
def test_a_damaged_memory_is_made_anew(places: Places, folder: Path, damage: bytes) -> None:
    file = Made(1, str(folder)).talk("hi").keep(places, folder)
    file.with_name(CACHE_FILE).write_bytes(damage)
    (found,) = list_sessions(places, folder, "project")
    assert found.title == "hi"
    assert list(complete([found], UNPRICED)) == []
    assert file.with_name(CACHE_FILE).read_bytes() != damage


def test_a_memory_that_cannot_be_written_stops_no_list(places: Places, folder: Path) -> None:
    file = Made(1, str(folder)).talk("hi").keep(places, folder)
    found = [summarise(file), msgspec.structs.replace(summarise(file), title="\ud800")]
    remember(found)
    assert not file.with_name(CACHE_FILE).exists()
    assert numbers(places, folder) == [1]


def test_what_was_listed_is_not_read_again(
    places: Places, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Made(1, str(folder)).talk("hi").keep(places, folder)
    Made(2, str(folder)).talk("hi").long(3 * END).keep(places, folder)
    listed = list_sessions(places, folder, "project")
    remember(listed)
    monkeypatch.setattr(listing, "summarise", None)
    assert list_sessions(places, folder, "project") == listed


def test_another_title_changes_no_place_in_the_list(places: Places, folder: Path) -> None:
    later = Made(1, str(folder)).talk("hi")
    later.lines = [line.replace("2026-11-02", "2026-11-03") for line in later.lines]
    later.keep(places, folder, 2e9)
    Made(2, str(folder)).talk("hi").titled("Renamed").keep(places, folder, 2e9 + 60)
    assert numbers(places, folder) == [1, 2]


def test_a_like_name_or_an_import_makes_no_work_tree(places: Places, tmp_path: Path) -> None:
    main, twin = tmp_path / "shop", tmp_path / "shop-2"
    (main / "src").mkdir(parents=True)
    twin.mkdir()
    (main / ".git").mkdir()
    imported = {"type": "imported-from", "source": "x"}
    Made(1, "/elsewhere").raw(**imported).talk("hi").keep(places, main)
    Made(2, str(main / "src")).talk("hi").keep(places, main / "src")
    Made(3, "/elsewhere").raw(**imported).talk("hi").keep(places, twin)
    Made(4, None).talk("hi").keep(places, twin)
    Made(5, str(twin)).user("hi", forkedFrom={"sessionId": "s"}).keep(places, twin)
    moved = Made(6, str(twin)).talk("hi")
    moved.cwd = str(main)
    moved.talk("over there").keep(places, twin)
    assert sorted(numbers(places, main, "worktrees")) == [1, 2]
