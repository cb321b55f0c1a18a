"""States of the chat screen, each made of facts: no agent and no model runs for a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from app.config import Loaded, Settings
from app.controller import Controller
from app.installation import Installation, Options
from app.main import ReverieApp
from app.models.provider import Usage
from app.paths import Places
from app.state import facts as f
from app.state.background import Mechanism, Task, TurnSummary
from app.state.model import (
    AskedQuestion,
    Notice,
    OpenBlock,
    PermissionRequest,
    QuestionRequest,
    QueuedMessage,
    Receipt,
    Server,
    Session,
)
from tests.fakes.clock import StillClock
from tests.unit.widgets.test_feed import Writer, use

FOLDER = "/home/you/src/shop"
NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def chat_app(tmp_path: Path, facts: Iterable[f.Fact], **settings: Any) -> ReverieApp:
    places = Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")
    here = Installation(places, tmp_path, {"HOME": "/home/you"}, StillClock())
    controller = Controller(here, Options(), Loaded(Settings(**settings), {}, ()))
    # A look at the real gates and the real ledger would replace what the facts say.
    vars(controller.desks.background)["look"] = lambda: None
    for fact in facts:
        controller.emit(fact)
    return ReverieApp(controller, fps=None, start=False)


def opened(writer: Writer | None = None, title: str = "", **fields: Any) -> list[f.Fact]:
    view = (writer or Writer()).view
    session = Session(
        session_id="11111111-2222-4333-8444-555555555555",
        folder=FOLDER,
        root=FOLDER,
        view=view,
        title=title,
        model="claude-opus-5-5",
        provider="anthropic",
        git_branch="main",
        **fields,
    )
    return [
        f.SessionOpened(session, Usage(), 0.0, 1_000_000),
        f.TrustSettled(True),
        f.AccessChanged(True),
    ]


def away(*, goes_on: bool = False) -> Writer:
    writer = conversation()
    turns = [
        {"prompt": "the checkout test fails, find out why", "category": "completed", "detail": "x"},
        {"prompt": "run it 50 times", "category": "completed", "detail": "tests pass"},
    ]
    content = (
        "Found the race in cart expiry and fixed it; 50 runs pass. Next: the same clock in "
        "session.py."
    )
    writer.add("system", subtype="away_summary", content=content, turns=turns)
    if goes_on:
        writer.user("and the same clock in session.py")
    return writer


def ended(summary: TurnSummary | None = None) -> list[f.Fact]:
    """A turn that is over, and where it has left things."""
    facts: list[f.Fact] = [f.TurnStarted("t", 0.0), f.TurnEnded("t", "completed", "", 12.0)]
    return [*facts, f.TurnSummarised(summary)] if summary is not None else facts


def conversation() -> Writer:
    writer = Writer()
    writer.user("the checkout test fails about one run in five, find out why")
    writer.assistant(
        {"type": "thinking", "thinking": "The clock may jump. " * 12, "signature": "s"},
        {"type": "text", "text": "I'll start with the test and the code that it exercises."},
        use("t1", "Read", file_path=f"{FOLDER}/tests/test_checkout.py"),
        use("t2", "Grep", pattern="sleep(|now(", path="src/"),
    )
    writer.result("t1", "1\timport time", {"type": "text", "file": {"numLines": 212}})
    writer.result("t2", "a\nb\nc\nd", {"mode": "content", "numLines": 4})
    writer.assistant(
        use("t3", "Edit", file_path=f"{FOLDER}/src/cart/expiry.py"),
        use("t4", "Bash", command="pytest tests/test_checkout.py -q --count 50"),
        number=2,
    )
    hunk = {
        "oldStart": 40,
        "newStart": 40,
        "lines": [
            " def expire(ttl):",
            "-    deadline = time.time() + ttl",
            "+    deadline = clock.monotonic() + ttl",
            "     return deadline",
        ],
    }
    writer.result("t3", "ok", {"filePath": "x", "structuredPatch": [hunk]})
    writer.result("t4", "50 passed in 11.90s", {"stdout": "50 passed in 11.90s"})
    text = (
        "The expiry used the **wall clock**, which the test moves. Now it is monotonic:\n\n"
        "- `src/cart/expiry.py:41` takes the deadline from `clock.monotonic()`\n"
        "- 50 runs pass\n\n"
        "```python\ndef expire(ttl: float) -> float:\n"
        '    """Seconds that never run backwards."""\n    return clock.monotonic() + ttl\n```\n\n'
        "| run | before | after |\n|---|---|---|\n| 1-10 | 2 failed | passed |\n"
        "| 11-50 | 8 failed | passed |\n\n> The same clock is used in `session.py`."
    )
    writer.assistant({"type": "text", "text": text}, number=3)
    return writer


def talk(*more: f.Fact) -> list[f.Fact]:
    measured = f.RequestMeasured(Usage(12_000, 400, 180_000, 6_000), 0.31, NOW)
    return [*opened(conversation(), "Fix the flaky checkout test"), measured, *more]


def turn(*more: f.Fact) -> list[f.Fact]:
    return talk(f.TurnStarted("t", 0.0), *more)


def asking(tool: str, arguments: dict[str, Any], reason: str, rule: str | None) -> list[f.Fact]:
    request = PermissionRequest("p", tool, "", arguments, reason, rule)
    return turn(f.PermissionAsked(request))


def hostile() -> Writer:
    writer = Writer()
    writer.user("\x1b]0;owned\x07 [bold]x[/bold] [@click=app.quit]quit[/] \u202egnp.exe \x9b31m")
    writer.assistant(
        {"type": "text", "text": "\x1b[2J\x1b[31mred[/dim] <script>alert(1)</script> [/some/path]"},
        use("t1", "Bash", command="printf '\\x1b[2J'\n[red]second line[/red]"),
    )
    writer.result("t1", "[stage=1, name=x]\x1b[5mblink\x00\nlong " + "x" * 300, is_error=True)
    return writer


SUMMARY = """## Requests
- Find out why the checkout test fails about one run in five.

## Decisions
- The expiry takes the **monotonic** clock; the wall clock is what the test moves.

## State
- `src/cart/expiry.py:41` is changed, 50 runs pass.
- `session.py` uses the same clock and is not changed yet.

## Next
- Ask whether `session.py` should follow."""

RECEIPT = Receipt(
    summary=SUMMARY,
    tokens_before=186_400,
    tokens_after=14_200,
    summarised=86,
    kept=4,
    last_request="and the same for session.py, but keep the public names",
)


def compacted() -> Writer:
    writer = conversation()
    writer.add(
        "system",
        subtype="compact_boundary",
        logicalParentUuid=writer.view.leaf_uuid,
        compactMetadata={
            "trigger": "auto",
            "preTokens": 186_400,
            "postTokens": 14_200,
            "messagesSummarized": 86,
            "preservedMessages": {"anchorUuid": "x", "uuids": ["u1"]},
        },
    )
    text = "This conversation goes on from an earlier part.\n\n" + SUMMARY
    message = {"role": "user", "content": text}
    writer.add("user", message=message, isCompactSummary=True)
    writer.user("and the same for session.py, but keep the public names")
    return writer


def history_gone() -> Writer:
    """cases/B09: the summary is there, what it sums up is not."""
    writer = Writer()
    writer.add("system", subtype="compact_boundary", logicalParentUuid="gone")
    message = {"role": "user", "content": "Earlier.\n\n" + SUMMARY}
    writer.add("user", message=message, isCompactSummary=True)
    writer.user("go on")
    return writer


def failed() -> Writer:
    writer = conversation()
    writer.user("and now the session")
    writer.add(
        "system", subtype="api_error", content="The service is overloaded. Nothing was lost."
    )
    writer.user("try once more")
    writer.add("system", subtype="api_refusal", content="The model declined this request.")
    writer.user("another way")
    writer.assistant({"type": "text", "text": "Half an ans"}, number=9)
    writer.user([{"type": "text", "text": "[Request interrupted by user]"}])
    return writer


def waiting_tools() -> Writer:
    writer = conversation()
    writer.user("run everything")
    writer.assistant(
        use("r1", "Bash", command="make test"),
        use("r2", "Write", file_path=f"{FOLDER}/notes.md"),
        use("r3", "Read", file_path=f"{FOLDER}/a.py"),
        number=7,
    )
    return writer


def question(multiple: bool = False) -> list[f.Fact]:
    options = (("SQLite", "one file, no server"), ("PostgreSQL", "a server, many writers"))
    asked = AskedQuestion("Storage", "Which store shall the orders go to?", options, multiple)
    return turn(f.QuestionAsked(QuestionRequest("q", (asked,))))


def servers(*found: Server) -> list[f.Fact]:
    return [*opened(), f.AccessChanged(False), f.ServersFound(found)]


STREAMED = (
    "Here is how the parts fit:\n\n1. the cart asks the clock\n2. the clock never jumps\n\n"
    "```python\nclass Cart:\n    def expire(self) -> None:\n        self.deadline = "
)

STATES: dict[str, Callable[[], list[f.Fact]]] = {
    "empty": opened,
    "conversation": talk,
    "streaming": lambda: turn(f.ReplyGrew((OpenBlock(0, "text", STREAMED),))),
    "thinking": lambda: turn(f.ReplyGrew((OpenBlock(0, "thinking", "Let me see. " * 20),))),
    "tools_running": lambda: [
        *opened(waiting_tools(), "Run everything"),
        f.TurnStarted("t", 0.0),
        f.ToolQueued("r1", "Bash"),
        f.ToolQueued("r2", "Write"),
        f.ToolQueued("r3", "Read"),
        f.ToolStarted("r1", 0.0),
        f.ToolProgressed("r1", "collected 212 items\ntests/test_cart.py ......"),
        f.ToolAsked("r2"),
    ],
    "permission_bash": lambda: asking(
        "Bash",
        {"command": "git push --force origin main"},
        "not covered by a rule; `git push` writes to a remote",
        "Bash(git push --force origin main)",
    ),
    "permission_edit": lambda: asking(
        "Edit",
        {
            "file_path": "src/session.py",
            "old_string": "time.time()",
            "new_string": "clock.monotonic()",
        },
        "it changes a file",
        "Edit(src/session.py)",
    ),
    "permission_write": lambda: asking(
        "Write",
        {"file_path": "notes.md", "content": "# Notes\n\n- one\n- two\n"},
        "it makes a file",
        None,
    ),
    "question": question,
    "question_multiple": lambda: question(multiple=True),
    "queue": lambda: turn(
        f.MessageQueued(QueuedMessage("1", "then fix session.py as well")),
        f.MessageQueued(QueuedMessage("2", "and run\nthe whole suite")),
    ),
    "notices": lambda: talk(
        f.NoticePosted(Notice(1, "settings.toml:3: thme: there is no such setting", "warning")),
        f.NoticePosted(Notice(2, "The transcript could not be written: No space left.", "error")),
    ),
    "failures": lambda: [
        *opened(failed(), "Fix the flaky checkout test"),
        f.TurnStarted("t", 0.0),
        f.TurnEnded("t", "interrupted", "", 4.0),
    ],
    "retrying": lambda: turn(f.RetryScheduled(3, -1.0, "The service is overloaded.")),
    "hostile_text": lambda: [*opened(hostile(), "[bold]title[/bold] \x1b[2J")],
    "hostile_permission": lambda: asking(
        "Bash",
        {"command": "ls \u202e\x1b[2J\n[red]rm -rf /[/red] [@click=app.quit]x[/]"},
        "[bold]why[/bold]",
        "Bash([x])",
    ),
    "receipt": lambda: talk(f.CompactionDrafted(RECEIPT)),
    "receipt_going_back": lambda: talk(
        f.CompactionDrafted(
            msgspec.structs.replace(
                RECEIPT, last_request="", goes_back="use freezegun instead\nwherever a test looks"
            )
        )
    ),
    "compacting": lambda: turn(f.CompactionStarted("manual"), f.CompactionGrew(1_400)),
    "compacting_ahead": lambda: turn(
        f.CompactionStarted("ahead"), f.ReplyGrew((OpenBlock(0, "text", "I look."),))
    ),
    "compacted": lambda: [*opened(compacted(), "Fix the flaky checkout test")],
    "history_gone": lambda: [*opened(history_gone(), "Fix the flaky checkout test")],
    "trust": lambda: opened()[:1],
    "welcome_looking": lambda: [*opened(), f.AccessChanged(False)],
    "welcome_none_found": servers,
    "welcome_servers": lambda: servers(
        Server("Ollama", "http://127.0.0.1:11434", ("qwen3:8b",)),
        Server("llama.cpp", "http://127.0.0.1:8080", ()),
    ),
    "modes": lambda: talk(f.ModeChanged("acceptEdits"), f.GitBranchSeen("feature/clock")),
    "away": lambda: [*opened(away(), "Fix the flaky checkout test"), *ended()],
    "away_read": lambda: [*opened(away(goes_on=True), "Fix the flaky checkout test")],
    "ghost": lambda: talk(
        *ended(TurnSummary("completed", "tests pass")),
        f.SuggestionOffered("fix the same clock in session.py"),
    ),
    "turn_waits": lambda: talk(
        *ended(TurnSummary("waiting", "asks: which of the two clocks?", needs_action=True)),
        f.FocusWatched("keys"),
        f.MechanismsSeen((Mechanism("title", "Session title", "titles", is_on=True),)),
    ),
    "turn_told": lambda: talk(
        *ended(
            TurnSummary("completed", "the expiry takes its deadline from the monotonic clock now")
        ),
        f.TaskChanged(Task("bash_1", "shell", "npm run dev", "running", 0.0)),
    ),
    "turn_failed": lambda: talk(*ended(TurnSummary("failed", "2 tests failed"))),
    "unsaved": lambda: opened(persisted=False),
    "unknown_price": lambda: [*talk(), f.RequestMeasured(Usage(10, 10), None, NOW)],
    "tasks": lambda: talk(
        f.TaskChanged(Task("bash_1", "shell", "npm run dev", "running", 0.0)),
        f.TaskChanged(Task("bash_2", "shell", "make docs", "completed", 0.0, 1.0, "exit 0")),
        f.TaskChanged(Task("bash_3", "shell", "sleep 900", "aborted", 0.0, 1.0)),
    ),
}
