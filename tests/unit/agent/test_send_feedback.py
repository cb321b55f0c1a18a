from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

from app.agent.permission import judge
from app.agent.policy import Mode, Policy
from app.agent.rules import parse_rules
from app.agent.tools.base import ToolContext, ToolFailure
from app.agent.tools.registry import api_form, default_tools
from app.agent.tools.send_feedback import SendFeedbackTool
from app.assembly import Hooks, make_caller, open_session
from app.background.feedback.drafts import MOST_BYTES, MOST_DRAFTS, Draft
from app.background.feedback.outbox import Outbox
from app.config import FeedbackSettings, Settings, load_settings
from app.feedback_queue import OutboxQueue, report_queue
from app.installation import Installation, Options
from app.models.local import LocalProvider
from app.storage.file_lock import locked
from tests.fakes.clock import FakeClock
from tests.fakes.provider import ScriptedProvider, calls, reply
from tests.fakes.stage import SESSION, Stage, installation, stage
from tests.unit.agent.tool_kit import call, details_of, make_context, text_of, until

REPORT = {"title": "It froze", "body": "No key did anything.", "category": "bug"}


class Desk:
    """A session's queue with all that was told of it."""

    def __init__(self, tmp_path: Path) -> None:
        self.clock = FakeClock()
        self.here = installation(tmp_path, self.clock)
        self.box = Outbox(self.here.places.data / "feedback", self.clock)
        self.told: list[tuple[Draft, tuple[Draft, ...]]] = []
        self.queue = OutboxQueue(self.here, SESSION, self._queued)
        self.context: ToolContext = make_context(self.here.folder, reports=self.queue)

    def _queued(self, draft: Draft, evicted: tuple[Draft, ...]) -> None:
        asyncio.get_running_loop()
        self.told.append((draft, evicted))

    async def report(self, **changes: Any) -> Draft:
        self.clock.advance(1)
        await call(SendFeedbackTool(), self.context, **{**REPORT, **changes})
        return self.told[-1][0]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_a_report_becomes_a_draft(desk: Desk) -> None:
    result = await call(SendFeedbackTool(), desk.context, **REPORT, evidence="toolu_1, 09:00")
    ((told, evicted),) = desk.told
    (draft,) = desk.box.listing().drafts
    assert (draft, evicted) == (told, ())
    assert (draft.title, draft.body, draft.category) == tuple(REPORT.values())
    assert (draft.evidence, draft.status) == ("toolu_1, 09:00", "queued")
    assert (draft.session_id, draft.project) == (SESSION, str(desk.here.folder))
    assert draft.id in text_of(result)
    assert len(text_of(result)) < 100
    assert details_of(result) == {"type": "feedback", "id": draft.id, "title": "It froze"}
    file = desk.box.folder / f"{draft.id}.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(desk.box.folder.stat().st_mode) == 0o700


async def test_the_limit_is_32768_bytes_of_all_texts(desk: Desk) -> None:
    left = MOST_BYTES - len("tbug") - len("é".encode())
    await desk.report(title="t", evidence="é", body="x" * left)
    with pytest.raises(ToolFailure, match=r"32769 bytes.* 32768") as failure:
        await desk.report(title="t", evidence="é", body="x" * (left + 1))
    assert "\n" not in str(failure.value)
    assert len(desk.told) == len(desk.box.listing().drafts) == 1


async def test_the_eleventh_takes_the_place_of_the_oldest(desk: Desk) -> None:
    first = await desk.report(title="1")
    for number in range(2, MOST_DRAFTS + 1):
        await desk.report(title=str(number))
    assert all(evicted == () for _, evicted in desk.told)
    last = await desk.report(title="11")
    assert desk.told[-1] == (last, (first,))
    assert [draft.title for draft in desk.box.listing().drafts] == [str(n) for n in range(2, 12)]


@pytest.mark.parametrize("place", ["feedback", "feedback/.lock"])
async def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(
    desk: Desk, place: str
) -> None:
    blocked = desk.here.places.data / place
    blocked.parent.mkdir(parents=True)
    blocked.write_text("") if place == "feedback" else blocked.mkdir()
    with pytest.raises(ToolFailure, match=r"^The report could not be queued: [^\n]*\.$") as failure:
        await desk.report()
    assert str(desk.here.places.data / "feedback") in str(failure.value)
    assert desk.told == []


async def test_a_draft_of_a_stopped_turn_is_told_of_too(desk: Desk) -> None:
    desk.box.folder.mkdir(parents=True)
    with locked(desk.box.folder / ".lock"):
        turn = asyncio.create_task(desk.report())
        await asyncio.sleep(0.02)  # until its thread waits for the lock
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert desk.told == []
    await until(lambda: len(desk.told) == 1)
    assert [draft.id for draft in desk.box.listing().drafts] == [desk.told[0][0].id]


async def test_strange_characters_do_no_harm(desk: Desk) -> None:
    odd = "a\ud83d b\x1b[31m\x00 \u202e c\r\n\ud83d\ude00"
    draft = await desk.report(title=odd, body=odd, evidence=odd)
    assert draft.title == "a\ufffd b\x1b[31m\ufffd \u202e c \U0001f600"
    assert draft.body == draft.evidence == "a\ufffd b\x1b[31m\ufffd \u202e c\r\n\U0001f600"
    assert desk.box.get(draft.id) == draft
    result = await call(SendFeedbackTool(), desk.context, **{**REPORT, "title": odd})
    assert details_of(result)["title"] == draft.title


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": None}, "`title` must be text"),
        ({"title": ""}, "`title` must not be empty"),
        ({"title": " \n"}, "must not be blank"),
        ({"body": "\t"}, "must not be blank"),
        ({"body": ["x"]}, "`body` must be text"),
        ({"category": "rant"}, "must be one of bug, model_behaviour, missing, praise"),
        ({"category": 3}, "`category` must be text"),
        ({"evidence": {}}, "`evidence` must be text"),
        ({"send": True}, "no argument `send`"),
    ],
)
async def test_what_is_no_report_is_refused(
    desk: Desk, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolFailure, match=words):
        await desk.report(**changes)
    assert not desk.box.folder.exists()


@pytest.mark.parametrize("missing", ["title", "body", "category"])
async def test_what_is_missing_is_named(desk: Desk, missing: str) -> None:
    given = {name: value for name, value in REPORT.items() if name != missing}
    with pytest.raises(ToolFailure, match=f"`{missing}` is missing"):
        await call(SendFeedbackTool(), desk.context, **given)


async def test_without_a_queue_nothing_is_stored(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="off here"):
        await call(SendFeedbackTool(), make_context(tmp_path), **REPORT)


@pytest.mark.parametrize("mode", list(Mode))
def test_every_mode_allows_it_and_a_deny_rule_wins(tmp_path: Path, mode: Mode) -> None:
    verdict = judge("SendFeedback", REPORT, Policy(tmp_path, tmp_path, mode))
    assert (verdict.verdict, bool(verdict.reason)) == ("allow", True)
    rules = parse_rules(deny=["SendFeedback"])
    assert judge("SendFeedback", REPORT, Policy(tmp_path, tmp_path, mode, rules)).verdict == "deny"


# In a session


def drafts_of(here: Installation) -> tuple[Draft, ...]:
    return Outbox(here.places.data / "feedback", here.clock).listing().drafts


async def played(tmp_path: Path, options: Options | None = None, **given: Any) -> Stage:
    """A turn in which the model reports."""
    scripts = [calls(("SendFeedback", REPORT, "t1")), reply("Done.", 2)]
    play = await stage(tmp_path, *scripts, options=options, **given)
    await play.turn()
    return play


def result_of(play: Stage) -> dict[str, Any]:
    (block,) = (b for m in play.messages() for b in m["content"] if b["type"] == "tool_result")
    return block


@pytest.mark.parametrize("mode", ["default", "plan", "acceptEdits", "bypassPermissions"])
@pytest.mark.parametrize("can_ask", [True, False])
async def test_it_asks_nobody(tmp_path: Path, mode: str, can_ask: bool) -> None:
    play = await played(tmp_path, Options(mode=mode), can_ask=can_ask)
    (draft,) = drafts_of(play.here)
    assert "is_error" not in result_of(play)
    assert (draft.session_id, draft.project) == (SESSION, str(play.here.folder))
    assert play.told == []


async def test_the_person_may_forbid_it(tmp_path: Path) -> None:
    play = await played(tmp_path, Options(denied=("SendFeedback",)))
    assert result_of(play)["is_error"]
    assert drafts_of(play.here) == ()


def offered(play: Stage) -> list[str]:
    return [str(tool["name"]) for tool in play.provider.requests[-1].tools]


async def test_it_is_the_last_of_the_tools_in_every_request(tmp_path: Path) -> None:
    play = await played(tmp_path)
    assert offered(play) == [tool.name for tool in default_tools()]
    assert offered(play)[-1] == "SendFeedback"
    first, last = play.provider.requests
    assert first.tools == last.tools == tuple(api_form(tool) for tool in default_tools())


@pytest.mark.parametrize("layer", ["user", "project", "flags"])
async def test_drafts_off_takes_the_tool_away(tmp_path: Path, layer: str) -> None:
    here = installation(tmp_path)
    file = {
        "user": here.places.settings,
        "project": here.folder / ".reverie" / "settings.toml",
        "flags": tmp_path / "settings.toml",
    }[layer]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('feedback.drafts = "off"\n')
    options = Options(settings_file=file if layer == "flags" else None)
    scripts = [reply("ok"), calls(("SendFeedback", REPORT, "t1"), number=2), reply("ok", 3)]
    play = await stage(tmp_path, *scripts, options=options)
    if layer == "project":  # it counts once the folder is trusted
        assert "SendFeedback" in play.runtime.runner.tools
        trusted = here.settings(options, trusted=True)
        play.runtime.take_settings(here, options, trusted.settings)
    await play.turn()
    assert offered(play)[-1] == "AskUserQuestion"
    await play.turn()
    assert "no tool called SendFeedback" in result_of(play)["content"]
    assert drafts_of(here) == ()


def test_who_may_switch_drafts_on_and_off(tmp_path: Path) -> None:
    here = installation(tmp_path)
    project = here.folder / ".reverie" / "settings.toml"
    managed = tmp_path / "managed.toml"
    for file in (here.places.settings, project, managed):
        file.parent.mkdir(exist_ok=True)
    here.places.settings.write_text('feedback.drafts = "off"\n')
    project.write_text('feedback.drafts = "on"\n')
    loaded = load_settings(here.places, project=here.folder)
    assert loaded.settings.feedback.drafts == "off"
    assert [problem.key for problem in loaded.problems] == ["feedback.drafts"]
    managed.write_text('feedback.drafts = "off"\n')
    wish = {"feedback.drafts": "on"}
    assert load_settings(here.places, flags=wish).settings.feedback.drafts == "on"
    loaded = load_settings(here.places, flags=wish, managed=managed)
    assert loaded.settings.feedback.drafts == "off"


def test_a_model_without_tools_is_not_told_of_it(tmp_path: Path) -> None:
    here = installation(tmp_path)
    local = LocalProvider(here.clock)
    assert make_caller(here, Options(), "local", local, default_tools()).tools == ()


async def test_a_session_that_leaves_nothing_on_disk_queues_nothing(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("ok"), options=Options(persist=False))
    await play.turn()
    assert "SendFeedback" not in offered(play)
    assert not (play.here.places.data / "feedback").exists()
    off = Settings(feedback=FeedbackSettings(drafts="off"))
    assert report_queue(play.here, Options(), off, SESSION, lambda _d, _e: None) is None


async def test_the_one_who_opened_the_session_is_told(tmp_path: Path) -> None:
    here = installation(tmp_path)
    told: list[Draft] = []
    hooks = Hooks(
        emit=lambda _: None,
        storage_changed=lambda _: None,
        shell_changed=lambda _: None,
        save_rule=lambda _: None,
        tell=lambda _sentence, _severity: None,
        feedback_queued=lambda draft, _evicted: told.append(draft),
    )
    provider = ScriptedProvider(calls(("SendFeedback", REPORT, "t1")), reply("Done.", 2))
    loaded = here.settings(Options())
    runtime = await open_session(here, Options(), loaded, provider, SESSION, hooks)
    await runtime.loop.run_turn("go")
    assert tuple(told) == drafts_of(here)
    assert len(told) == 1
