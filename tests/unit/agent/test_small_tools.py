from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.agent.tools.ask import AskUserQuestionTool
from app.agent.tools.base import Question, ToolFailure
from app.agent.tools.bash import BashTool
from app.agent.tools.bash_output import BashOutputTool
from app.agent.tools.kill_shell import KillShellTool
from app.agent.tools.registry import api_form, default_tools, select_tools
from app.agent.tools.shell_background import ShellTasks
from app.agent.tools.todo import TodoWriteTool
from app.errors import UsageError
from tests.unit.agent.tool_kit import call, details_of, make_context, text_of, until

_LAST_WORDS = "trap 'echo last words; exit' TERM; touch up; while :; do sleep 0.05; done"
_QUESTION: dict[str, Any] = {
    "question": "Which one?",
    "header": "Choice",
    "options": [{"label": "A", "description": "first"}, {"label": "B"}],
}


async def test_todo_replaces_the_list(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    todos = [{"content": "Do it", "status": "in_progress", "activeForm": "Doing it"}]
    await call(TodoWriteTool(), context, todos=todos)
    result = await call(TodoWriteTool(), context, todos=[])
    assert details_of(result) == {"oldTodos": todos, "newTodos": []}
    with pytest.raises(ToolFailure, match="Only one"):
        await call(TodoWriteTool(), context, todos=todos * 2)
    with pytest.raises(ToolFailure, match=r"`todos\[0\].status` must be one of"):
        await call(TodoWriteTool(), context, todos=[{"content": "x", "status": "done"}])
    with pytest.raises(ToolFailure, match=r"`todos\[0\].content` is missing"):
        await call(TodoWriteTool(), context, todos=[{"status": "pending"}])


async def test_question_reaches_the_person(tmp_path: Path) -> None:
    seen: list[tuple[Question, ...]] = []

    async def ask(questions: tuple[Question, ...]) -> tuple[str, ...] | None:
        seen.append(questions)
        return ("B",)

    context = make_context(tmp_path, ask=ask)
    result = await call(AskUserQuestionTool(), context, questions=[_QUESTION])
    assert seen == [(Question("Choice", "Which one?", (("A", "first"), ("B", ""))),)]
    assert text_of(result) == "Which one?\n→ B"
    assert details_of(result)["answers"] == {"Which one?": "B"}


async def test_question_without_an_answer(tmp_path: Path) -> None:
    async def decline(_questions: tuple[Question, ...]) -> None:
        return None

    tool = AskUserQuestionTool()
    with pytest.raises(ToolFailure, match="Nobody can answer"):
        await call(tool, make_context(tmp_path), questions=[_QUESTION])
    with pytest.raises(ToolFailure, match="did not want"):
        await call(tool, make_context(tmp_path, ask=decline), questions=[_QUESTION])
    with pytest.raises(ToolFailure, match="at least 2 entries"):
        await call(
            tool, make_context(tmp_path), questions=[{**_QUESTION, "options": [{"label": "A"}]}]
        )


async def test_background_tools(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    await call(
        BashTool(),
        context,
        command=_LAST_WORDS,
        run_in_background=True,
    )
    await until((tmp_path / "up").exists)
    text = text_of(await call(BashOutputTool(), context, bash_id="bash_1"))
    assert text == "Status: running\n(No new output.)"
    assert "is ended" in text_of(await call(KillShellTool(), context, shell_id="bash_1"))
    assert isinstance(context.background, ShellTasks)
    await context.background.close()
    text = text_of(await call(BashOutputTool(), context, bash_id="bash_1"))
    assert text.startswith("Status: killed\n")
    assert text.endswith("last words")
    with pytest.raises(ToolFailure, match="no background command"):
        await call(KillShellTool(), context, shell_id="bash_7")


def test_registry() -> None:
    tools = default_tools()
    assert len({tool.name for tool in tools}) == len(tools) == 13
    assert [tool.name for tool in select_tools(tools, ["Read", "Bash"])] == ["Bash", "Read"]
    assert select_tools(tools, None) == tools
    assert select_tools(tools, []) == ()
    with pytest.raises(UsageError, match="Nonsense"):
        select_tools(tools, ["Nonsense"])
    for tool in tools:
        form = api_form(tool)
        assert set(form) == {"name", "description", "input_schema"}
        assert form["input_schema"]["type"] == "object"
        assert set(form["input_schema"].get("required", ())) <= set(
            form["input_schema"]["properties"]
        )


@pytest.mark.parametrize("value", [None, 3, [], [[]], [{}], {}, "x", "\ud83d", [{"question": 3}]])
def test_titles_never_raise(value: object) -> None:
    for tool in default_tools():
        for name in (
            "todos",
            "questions",
            "bash_id",
            "shell_id",
            "path",
            "pattern",
            "command",
            "title",
        ):
            tool.title({name: value}).encode("utf-8")
