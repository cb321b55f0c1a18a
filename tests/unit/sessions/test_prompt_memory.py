from __future__ import annotations

from pathlib import Path

from app.errors import StorageError
from app.sessions.prompt_memory import MOST_PROMPTS, PromptMemory


def test_prompts_are_remembered_in_order(tmp_path: Path) -> None:
    memory = PromptMemory(tmp_path)
    for text in ("one", "two\nlines", "two\nlines", "\ud83d", "one"):
        assert memory.add(text) is None
    memory.close()
    assert PromptMemory(tmp_path).prompts() == ["one", "two\nlines", "\ud83d", "one"]


def test_damage_costs_what_was_damaged(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_bytes(b'"one"\n{"a":1}\n\xff\n"tw')
    memory = PromptMemory(tmp_path)
    memory.add("three")
    assert memory.prompts() == ["one", "three"]
    (tmp_path / "drafts.json").write_bytes(b"[1")
    assert memory.draft("s", is_new=True) == ""


def test_only_the_newest_prompts_are_offered(tmp_path: Path) -> None:
    memory = PromptMemory(tmp_path)
    for number in range(MOST_PROMPTS + 10):
        memory.add(str(number))
    prompts = memory.prompts()
    assert (len(prompts), prompts[-1]) == (MOST_PROMPTS, str(MOST_PROMPTS + 9))


def test_a_draft_waits_for_its_session_or_the_next_new_one(tmp_path: Path) -> None:
    memory = PromptMemory(tmp_path)
    memory.save_draft("a", "half a thought")
    assert memory.draft("a", is_new=False) == "half a thought"
    assert memory.draft("b", is_new=False) == ""
    assert memory.draft("b", is_new=True) == "half a thought"
    memory.save_draft("a", "")
    assert memory.draft("a", is_new=False) == ""
    assert memory.draft("b", is_new=True) == ""


def test_what_cannot_be_kept_is_returned(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    memory = PromptMemory(file)
    assert isinstance(memory.add("x"), StorageError)
    assert isinstance(memory.save_draft("s", "x"), StorageError)
    assert memory.prompts() == []
