"""Background work as a store may hold it, at the moment at which a `StillClock` stands."""

from __future__ import annotations

from datetime import date, timedelta

from app.models.provider import Usage
from app.state import facts as f
from app.state.background import Gate, Mechanism, Spend, Task
from tests.fakes.clock import START

AT = START.timestamp()
SESSION = "11111111-2222-4333-8444-555555555555"
MIDNIGHT = AT + 15 * 3_600

DREAM = Task(
    "dream_7",
    "dream",
    "go through what was learnt",
    "running",
    -250.0,
    began=AT - 250,
    phase="consolidate",
    lines=("read 6 sessions", "3 notes say the same of the clock", "wrote testing.md"),
    calls=3,
    usage=Usage(12_400, 840, 180_000, 6_000),
    cost_usd=0.04,
    files=("MEMORY.md", "testing.md", "ops/deploy.md"),
    session_id=SESSION,
)
SERVER = Task("bash_1", "shell", "npm run dev", "running", -42.0, began=AT - 42)
SUGGESTION = Task(
    "suggestion_3",
    "suggestion",
    "what you may want to say next",
    "completed",
    -1_620.0,
    -1_618.0,
    "“fix the same clock in session.py”",
    began=AT - 1_620,
    calls=1,
    usage=Usage(20, 14, 41_000),
    cost_usd=0.0123,
    session_id=SESSION,
)
FAILED = Task(
    "away_summary_2",
    "away_summary",
    "what happened while you were away",
    "failed",
    -3_000.0,
    -2_990.0,
    "The service is overloaded. Nothing was lost.",
    began=AT - 3_000,
    lines=("the first try was refused", "the second one as well"),
    calls=1,
    cost_usd=None,
    session_id=SESSION,
)
DOCS = Task("bash_2", "shell", "make docs", "completed", -4_000.0, -3_988.0, "exit 0")
ABORTED = Task(
    "post_turn_1",
    "post_turn",
    "where the turn has left things",
    "aborted",
    -90_000.0,
    -89_990.0,
    "the conversation went on meanwhile",
    began=AT - 90_000,
)
SKIPPED = Task(
    "title_1", "title", "a title for 日本語の長い会話 👍🏽", "skipped", -95_000.0, -95_000.0
)
ALL = (ABORTED, SKIPPED, DOCS, FAILED, SUGGESTION, SERVER, DREAM)

AWAY = Mechanism(
    "away_summary",
    "Away summary",
    "away_summary.enabled",
    True,
    (
        Gate("enabled", True, "on"),
        Gate("model", True, "claude-opus-5-5"),
        Gate("server", True, "answers"),
        Gate("budget", True, "$0.07 of $0.50 today"),
        Gate("turns", False, "1 more turn needed (2 of 3)"),
        Gate("nothing pending", False, "a background command runs: npm run dev"),
        Gate("away", False, "you are here"),
    ),
    AT - 600,
)
SUGGESTING = Mechanism(
    "suggestion",
    "Suggestion",
    "suggestion.enabled",
    True,
    (
        Gate("enabled", True, "on"),
        Gate("rate limit", False, "40 of 1000 requests left", AT + 1_200),
        Gate("empty prompt", False, "draft in the prompt"),
    ),
    AT - 60,
)
POST_TURN = Mechanism(
    "post_turn", "Turn summary", "", True, (Gate("enabled", True, "by rules, without a call"),)
)
OFF = Mechanism(
    "title",
    "Session title",
    "titles",
    False,
    (Gate("enabled", False, "switched off in the settings"), Gate("untitled", True, "has none")),
    AT - 90_000,
)
MECHANISMS = (AWAY, SUGGESTING, POST_TURN, OFF)
REFUSED = Mechanism(
    "away_summary",
    "Away summary",
    "away_summary.enabled",
    True,
    (
        Gate("enabled", True, "on"),
        Gate("server", False, "the server takes no tool_choice; the model has to change"),
        Gate("budget", False, "$0.52 of $0.50 today", MIDNIGHT),
    ),
    AT - 3_600,
    "the server takes no tool_choice; the model has to change",
)


def day(back: int) -> str:
    return (date(2026, 11, 2) - timedelta(days=back)).isoformat()


def spent(back: int, mechanism: str, cost: float | None, calls: int = 3) -> Spend:
    usage = Usage(240 * calls, 90 * calls, 41_000 * calls, 400 * calls)
    return Spend(day(back), mechanism, calls, usage, cost)


SPEND = (
    spent(20, "dream", 9.0),
    spent(12, "suggestion", 0.02),
    spent(9, "away_summary", 0.01, 1),
    spent(9, "suggestion", 0.05),
    spent(6, "dream", 0.21, 9),
    spent(6, "suggestion", 0.08),
    spent(4, "compact_ahead", 0.06, 1),
    spent(4, "title", 0.001, 1),
    spent(1, "post_turn", 0.004),
    spent(1, "recap", 0.03, 1),
    spent(1, "suggestion", 0.11, 12),
    spent(0, "away_summary", 0.02, 1),
    spent(0, "suggestion", 0.05),
)


def counted(*spend: Spend, budget: float | None = 0.5) -> f.SpendCounted:
    return f.SpendCounted(budget, day(0), spend)


def changed(*tasks: Task) -> list[f.Fact]:
    return [f.TaskChanged(task) for task in tasks]


def busy() -> list[f.Fact]:
    """Tasks of every kind, mechanisms that are held, and a budget."""
    return [*changed(*ALL), f.MechanismsSeen(MECHANISMS), counted(*SPEND)]
