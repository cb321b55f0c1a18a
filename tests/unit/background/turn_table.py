from __future__ import annotations

from typing import Any

from app.sessions.prompts import CUT_OFF_RESULT
from app.state.model import TurnEnd
from tests.unit.background.turns import Step

ASK: Step = ("ask", "fix the parser")
LONG = "The parser reads a line at a time and keeps what it has seen. " * 12
PLAN = "## Plan\n\n1. Read the parser\n2. Add a cache\n3. Test it"
FENCE = "```python\nprint('which of the two?')\n```"

Case = tuple[str, list[Step], TurnEnd | None, dict[str, Any], tuple[Any, ...] | None]
"""Name, steps, how it ended, keywords, then category, detail, needs_action, is_told."""


def runs(name: str, output: str, code: int, words: str, command: str = "pytest") -> Case:
    category = "completed" if "pass" in words and "but" not in words else "failed"
    steps: list[Step] = [ASK, ("run", command, output, code)]
    return (name, steps, None, {}, (category, words, False, False))


def asks(name: str, reply: str, question: str) -> Case:
    return (name, [ASK, ("say", reply)], None, {}, ("waiting", f"asks: {question}", True, False))


def tells(name: str, reply: str, detail: str, *, told: bool = True) -> Case:
    return (name, [ASK, ("say", reply)], None, {}, ("completed", detail, False, told))


def ends(
    name: str, steps: list[Step], *expected: Any, end: TurnEnd | None = None, **kw: Any
) -> Case:
    wanted = None if expected == (None,) else (*expected, False, False)[:4]
    return (name, steps, end, kw, wanted)


RUNS = [
    runs("pytest passes", "..\n===== 2 passed in 0.01s =====", 0, "tests pass"),
    runs("pytest fails", "==== 2 failed, 3 passed in 0.1s ====", 1, "2 tests failed"),
    runs("pytest -q", "F\n1 failed, 3 passed in 0.12s", 1, "1 test failed"),
    runs("pytest errors", "=== 1 failed, 2 errors in 0.12s ===", 1, "3 tests failed"),
    runs("pytest in a pipe", "= 1 failed in 1.2s =", 0, "1 test failed", "pytest | tail -3"),
    runs("pytest finds none", "=== no tests ran in 0.01s ===", 5, "no tests ran"),
    runs("coverage too low", "== 3 passed in 0.1s ==", 1, "tests pass, but exit code 1"),
    runs("pytest dies", "INTERNALERROR", 3, "tests failed"),
    runs("unittest", "Ran 4 tests in 1s\n\nFAILED (failures=1, errors=1)", 1, "2 tests failed"),
    runs("unittest ok", "Ran 4 tests in 0.1s\n\nOK", 0, "tests pass", "python -m unittest"),
    runs("jest", "Tests:       1 failed, 4 passed, 5 total", 1, "1 test failed", "npx jest"),
    runs("vitest", "      Tests  2 failed | 4 passed (6)", 1, "2 tests failed", "npm test"),
    runs("vitest ok", "\x1b[2m Tests \x1b[22m 4 passed (4)", 0, "tests pass", "npx vitest"),
    runs("go", "--- FAIL: TestA (0.0s)\nFAIL\tx/y\t0.1s", 1, "1 test failed", "go test ./..."),
    runs("go ok", "ok  \tx/y\t0.012s", 0, "tests pass", "go test ./..."),
    runs(
        "cargo", "test result: FAILED. 3 passed; 2 failed; 0 ignored", 101, "2 tests failed",
        "cargo test",
    ),
    runs("cargo ok", "test result: ok. 3 passed; 0 failed;", 0, "tests pass", "cargo test"),
    runs("mocha", "  5 passing (10ms)\n  2 failing", 2, "2 tests failed", "npx mocha"),
    runs("phpunit", "Tests: 5, Assertions: 9, Failures: 1.", 1, "1 test failed", "phpunit"),
    runs("phpunit ok", "OK (5 tests, 9 assertions)", 0, "tests pass", "vendor/bin/phpunit"),
    runs("rspec", "5 examples, 2 failures", 1, "2 tests failed", "bundle exec rspec"),
    runs("node", "# tests 4\n# fail 1", 1, "1 test failed", "node --test"),
    runs("an unknown runner", "all fine", 0, "tests pass", "cd x && make check"),
    runs("a build breaks", "error: x", 2, "build failed (exit code 2)", "make -j4 all"),
    runs("a build", "", 0, "build passes", "FOO=1 npm run build"),
    runs("a time-out", "The command took too long; ended.", 1, "tests timed out"),
    ends("a search finds nothing", [ASK, ("run", "grep -r pytest .", "", 1)], "completed", ""),
    ends("the last run counts", [
        ASK, ("run", "pytest", "1 failed in 0.1s", 1), ("edit", "/w/a.py"),
        ("run", "pytest", "2 passed in 0.1s"), ("run", "git status", "clean"),
    ], "completed", "tests pass"),
    ends("an earlier turn's run does not count", [
        ASK, ("run", "pytest", "1 failed in 0.1s", 1), ("ask", "go on"), ("edit", "/w/a.py"),
    ], "completed", "1 file changed"),
    ends("a run in the background says nothing yet", [
        ASK, ("run", "pytest", "", 0, {"backgroundTaskId": "bash_1"}),
    ], "working", "1 command still runs", running_tasks=1),
    ends("failed tests beat a cheerful reply", [
        ASK, ("run", "pytest", "2 failed in 0.1s", 1), ("say", "Fixed the parser."),
    ], "failed", "2 tests failed"),
]  # fmt: skip

QUESTIONS = [
    asks("a question", "I can do A or B. Which of the two?", "Which of the two?"),
    asks("behind a long text", f"{LONG}\n\nShall I go on with the cache?",
         "Shall I go on with the cache?"),
    asks("with choices behind it", "Which one?\n\n1. The old\n2. The new", "Which one?"),
    asks("with long choices", "Which one?\n\n1. The old. It works.\n   It is slow.\n2. The new.\n\n"
         "Let me know.", "Which one?"),
    asks("with let me know", "Should I commit? Let me know!", "Should I commit?"),
    asks("y/n", "Shall I go on? (y/n)", "Shall I go on?"),
    asks("the first of two", "Done so far. Keep the old one? Or drop it?", "Keep the old one?"),
    asks("code behind it", "Should I run this?\n\n```sh\nls\n```", "Should I run this?"),
    asks("with code in it", "Should `foo()` stay?", "Should foo() stay?"),
    asks("in bold", "**Which database?**", "Which database?"),
    asks("German", "Es gibt zwei Wege. Soll ich den ersten nehmen?",
         "Soll ich den ersten nehmen?"),
    asks("Spanish", "Hay dos opciones. ¿Cuál prefieres?", "¿Cuál prefieres?"),
    asks("French", "Deux choix. Lequel préférez-vous ?", "Lequel préférez-vous ?"),
    asks("Chinese", "有两种方法。您想用哪一种？", "您想用哪一种？"),
    asks("Chinese without a mark", "有两种方法。要继续吗。", "要继续吗"),
    asks("Japanese", "案が二つあります。どちらにしますか？", "どちらにしますか？"),
    asks("Japanese with a full stop", "続けてもよろしいでしょうか。", "続けてもよろしいでしょうか"),
    asks("Arabic", "هناك خياران. أيهما تريد؟", "أيهما تريد؟"),
    asks("Korean", "두 가지가 있습니다. 계속할까요?", "계속할까요?"),
    asks("a request", "Two ways. Please confirm which one to take.",
         "Please confirm which one to take"),
    asks("too long", f"Should I {'really ' * 20}go?",
         "Should I really really really really really really…"),
    tells("a question in code", f"{LONG}\n\nThe example:\n\n{FENCE}", "", told=False),
    tells("a question that its list answers", f"{LONG}\n\n**What changed?**\n\n- a\n- b", "",
          told=False),
    tells("a heading that asks", f"{LONG}\n\n## Which files?\n\n- a\n- b", "", told=False),
    tells("a name like a label", f"{LONG}\n\nresult_count is {LONG}", "", told=False),
    tells("a list of what was added", f"{LONG}\n\nAdded files:\n\n- a\n- b", "", told=False),
    tells("a quoted question", f'{LONG} It prints "Go on?"', "", told=False),
    tells("a question in a quotation", f"{LONG}\n\n> Is it so?", "", told=False),
    tells("a question that is answered", f"{LONG} Why? Because of the lock.", "", told=False),
    tells("an open fence", f"{LONG}\n\n```\nwhat is it?", "", told=False),
    tells("an address", f"{LONG} See https://a.b/c?", "", told=False),
]  # fmt: skip
TOLD = [
    tells("a short reply", "The cache holds 40 entries.", "The cache holds 40 entries", told=False),
    tells("two sentences", "Done. The cache is on now.", "The cache is on now", told=False),
    tells("a label", f"{LONG}\n\nSummary: the parser has a cache. More.",
          "the parser has a cache"),
    tells("a heading", f"{LONG}\n\n## Summary\n\n- **Cache** added to `parse()`\n- docs",
          "Cache added to parse()"),
    tells("a bold label", f"**Done:** the cache is in.\n\n{LONG}", "the cache is in"),
    tells("next", f"{LONG}\n\nNext: test it on Windows.", "test it on Windows"),
    tells("done beats next", f"Done: cache added.\n\n{LONG}\n\nNext: test it.", "cache added"),
    tells("a verb at the end", f"{LONG}\n\nFixed the race in the cache. It was old.",
          "Fixed the race in the cache"),
    tells("a verb at the beginning", f"I've fixed the race.\n\n{LONG}", "I've fixed the race"),
    tells("German", f"{LONG}\n\nErgebnis: Der Cache ist eingebaut.", "Der Cache ist eingebaut"),
    tells("French", f"{LONG}\n\nRésumé : le cache est en place.", "le cache est en place"),
    tells("Spanish", f"{LONG}\n\nHecho: la caché está lista.", "la caché está lista"),
    tells("Chinese", f"{LONG}\n\n总结：缓存已经加好。", "缓存已经加好"),
    tells("Japanese", f"{LONG}\n\nキャッシュを追加しました。", "キャッシュを追加しました"),
    tells("a link", "See [the docs](http://a.b/c) for it.", "See the docs for it", told=False),
    tells("control characters", "It is \x1b[31mred\x07 now.", "It is red␇ now", told=False),
    tells("nothing but done", "Done.", "", told=False),
    tells("nothing said at the end", LONG, "", told=False),
    tells("a long sentence", "The " + "very " * 15 + "end.",
          "The very very very very very very very very very very very…", told=False),
    ends("told beats passing tests", [
        ASK, ("run", "pytest", "2 passed in 0.1s"), ("say", "Fixed the race in the cache."),
    ], "completed", "Fixed the race in the cache", False, True),
    ends("done alone does not", [
        ASK, ("run", "pytest", "2 passed in 0.1s"), ("say", "All done!"),
    ], "completed", "tests pass"),
    ends("files", [
        ASK, ("edit", "/w/a.py"), ("edit", "/w/a.py"), ("edit", "/w/b.py"), ("write", "/w/c.py"),
        ("say", LONG),
    ], "completed", "3 files changed"),
    ends("a failed edit is none", [
        ASK, ("fail", "Edit", "not found", {"file_path": "/w/a.py"}), ("say", LONG),
    ], "completed", ""),
    ends("text before a call is not the reply", [
        ASK, ("say", "Which one is it?"), ("write", "/w/c.py"),
    ], "completed", "1 file changed"),
    ends("sub-agents", [
        ASK, ("agents", "look for locks", "look for caches"), ("say", "Two locks are left."),
    ], "completed", "Two locks are left", False, False),
    ends("sub-agents alone", [ASK, ("agents", "one", "two")], "completed", ""),
]  # fmt: skip

ENDS = [
    ends("nothing asked", [], "idle", "nothing asked yet"),
    ends("only an echo", [("ask", "<command-name>/clear</command-name>")], "idle",
         "nothing asked yet"),
    ends("a turn without anything", [ASK], None),
    ends("a turn that only thought", [ASK, ("say", "Yes, it is."), ASK, ("think", "hm")], None),
    ends("stopped", [ASK, ("say", "I am"), ("stop",)], "idle", "stopped by you"),
    ends("stopped in a tool", [ASK, ("call", "Bash", {"command": "ls"}), ("stop", True)],
         "idle", "stopped by you"),
    ends("stopped, as the loop says", [ASK, ("say", "Which one?")], "idle", "stopped by you",
         end=TurnEnd("interrupted")),
    ends("gone on with", [ASK, ("stop",), ("meta", "go on"), ("say", "The cache is in.")],
         "completed", "The cache is in", False, False),
    ends("killed", [ASK, ("fail", "Bash", CUT_OFF_RESULT, {"command": "ls"})], "idle",
         "cut off before its end"),
    ends("an error", [ASK, ("event", "api_error", "Overloaded. Try again later.")], "failed",
         "Overloaded", True),
    ends("an error of this process", [ASK], "failed", "The key is not valid", True,
         end=TurnEnd("failed", "The key is not valid. Set another with /login.")),
    ends("an error that was got over", [
        ASK, ("event", "api_error", "Overloaded."), ("say", "It is done now."),
    ], "completed", "It is done now", False, False),
    ends("declined", [ASK, ("event", "api_refusal", "The model declined this request.")],
         "failed", "the model declined", True),
    ends("enough calls", [ASK, ("run", "ls", "a")], "idle",
         "Stopped after 3 model calls, as asked",
         end=TurnEnd("stopped", "Stopped after 3 model calls, as asked.")),
    ends("a cut reply", [ASK, ("say", LONG)], "waiting",
         "The reply reached its length limit", True,
         end=TurnEnd("completed", "The reply reached its length limit.")),
    ends("a pending permission", [ASK, ("call", "Bash", {"command": "npm i\nls"})], "blocked",
         "permission: npm i", True, asking=True),
    ends("a permission without a call", [ASK], "blocked", "a permission is pending", True,
         asking=True),
    ends("a pending question", [
        ASK, ("call", "AskUserQuestion", {"questions": [{"question": "Which one?"}]}),
    ], "waiting", "asks: Which one?", True, asking=True),
    ends("a pending plan", [ASK, ("call", "ExitPlanMode", {"plan": "x"})], "waiting",
         "the plan waits for approval", True, asking=True),
    ends("a plan in words", [("ask", "plan it", "plan"), ("say", PLAN)], "waiting",
         "the plan waits for approval", True),
    ends("an answer in plan mode", [("ask", "what is it", "plan"), ("say", "It is a cache.")],
         "completed", "It is a cache", False, False),
    ends("refused", [ASK, ("refuse", "Bash", {"command": "npm i"}), ("say", LONG)], "blocked",
         "you refused: npm i"),
    ends("a refused plan", [ASK, ("refuse", "ExitPlanMode", {"plan": "x"})], "blocked",
         "you refused: the plan"),
    ends("refused by a rule", [ASK, ("refuse", "Edit", "rule", {"file_path": "/etc/x"})],
         "blocked", "not allowed: /etc/x"),
    ends("refused, then a question", [
        ASK, ("refuse", "Bash", {"command": "npm i"}), ("say", "What should I do instead?"),
    ], "waiting", "asks: What should I do instead?", True),
    ends("refused, then done otherwise", [
        ASK, ("refuse", "Bash", {"command": "npm i"}), ("edit", "/w/a.py"),
    ], "completed", "1 file changed"),
    ends("still running", [ASK, ("say", "The server is up.")], "working", "2 commands still run",
         running_tasks=2),
    ends("a question beats what runs", [ASK, ("say", "Shall I stop it?")], "waiting",
         "asks: Shall I stop it?", True, running_tasks=1),
]  # fmt: skip

CASES: list[Case] = [*RUNS, *QUESTIONS, *TOLD, *ENDS]
