from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.memory_command import run_memory
from tests.cli.runner import Cli


def folder_of(cli: Cli) -> Path:
    (folder,) = cli.data.glob("projects/*/memory")
    return folder


def test_documents_from_the_command_line(offline: Cli) -> None:
    made = offline.run("memory", "write", "a.md", "--if-version", "new", "--json", stdin=b"one\n")
    first = made.json["version"]
    assert (made.code, made.json["status"], len(first)) == (0, "written", 12)
    read = offline.run("memory", "read", "a.md", "--json")
    assert (read.json["text"], read.json["version"]) == ("one\n", first)
    assert offline.run("memory", "read", "a.md").out == "one\n"
    stale = offline.run("memory", "write", "a.md", "--if-version", "new", "--json", stdin=b"two")
    assert (stale.code, stale.json["status"]) == (3, "conflict")
    assert (stale.json["current_version"], stale.json["current_text"]) == (first, "one\n")
    refused = offline.run("memory", "write", "../a.md", "--json", stdin=b"x")
    assert (refused.code, refused.json["status"]) == (1, "refused")
    assert refused.json["reason"]
    missing = offline.run("memory", "write", "b.md", "--if-version", first, "--json", stdin=b"x")
    assert (missing.code, missing.json["status"]) == (3, "conflict")
    gone = offline.run("memory", "read", "none.md")
    assert (gone.code, gone.out, len(gone.told)) == (1, "", 1)
    assert (folder_of(offline) / "a.md").read_text() == "one\n"


@pytest.fixture
def inside(offline: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command in this process: a child costs a second."""
    monkeypatch.chdir(offline.project)
    for name, value in offline.environment.items():
        monkeypatch.setenv(name, value)
    return offline


def answer(capfdbinary: pytest.CaptureFixture[bytes], *words: str, code: int = 0) -> dict:
    assert run_memory([*words, "--json"]) == code
    return json.loads(capfdbinary.readouterr().out)


def test_the_rest_of_the_commands(inside: Cli, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    folder = inside.data / "projects"
    from app.paths import project_slug

    folder = folder / project_slug(inside.project) / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [A](a.md)\n- [Gone](gone.md)\n" + "x\n" * 250)
    (folder / "a.md").write_text("---\nname: Alpha\ndescription: about it\n---\nbody words\n")
    (folder / "lost.md").write_text("# Lost\n")
    (inside.project / "CLAUDE.md").write_text("house rules\n")

    entry = answer(capfdbinary, "entry")
    assert (entry["lines"], entry["truncated"], entry["first_line_cut"]) == (200, True, 201)
    assert entry["code_units"] == len(entry["text"])
    assert "house rules" in entry["request_text"]
    assert [Path(s["path"]).name for s in entry["sources"]] == ["CLAUDE.md"]
    assert run_memory(["entry"]) == 0
    printed = capfdbinary.readouterr().out.decode()
    assert printed == entry["request_text"] + "\n"

    listed = answer(capfdbinary, "list")
    assert [d["name"] for d in listed["documents"]] == ["MEMORY.md", "a.md", "lost.md"]
    assert (listed["page"], listed["pages"]) == (1, 1)
    index = answer(capfdbinary, "index")
    assert {d["name"]: d["title"] for d in index["documents"]} == {
        "a.md": "Alpha",
        "lost.md": "Lost",
    }
    found = answer(capfdbinary, "search", "BODY", "words")
    assert found["hits"] == [{"name": "a.md", "line": 5, "text": "body words"}]
    health = answer(capfdbinary, "check")
    assert health["orphans"] == ["lost.md"]
    assert [link["target"] for link in health["dead_links"]] == ["gone.md"]
    assert health["loaded"][-1]["first_line_cut"] == 201
    assert run_memory(["check"]) == 0
    assert "gone.md" in capfdbinary.readouterr().out.decode()

    version = answer(capfdbinary, "read", "a.md")["version"]
    gone = answer(capfdbinary, "delete", "a.md", "--if-version", version)
    assert gone["status"] == "deleted"
    assert "a.md" not in (folder / "MEMORY.md").read_text()
    assert answer(capfdbinary, "restore", "a.md")["version"] == version
    history = answer(capfdbinary, "history", "a.md")["changes"]
    assert [(c["who"], c["what"]) for c in history] == [
        ("you", "restored"),
        ("you", "deleted"),
        ("other", "written"),
    ]
    shown = answer(capfdbinary, "history", "a.md", history[1]["id"])
    assert all(line.startswith("-") for hunk in shown["hunks"] for line in hunk["lines"])
    assert run_memory(["list"]) == 0
    assert run_memory(["history", "a.md"]) == 0
    assert run_memory(["index"]) == 0
    assert b"restored" in capfdbinary.readouterr().out


def test_a_project_cannot_move_or_open_the_memory(
    inside: Cli, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    from app.paths import Places
    from app.trust import trust

    trust(Places(inside.config, inside.data, inside.data / "logs"), inside.project)
    settings = inside.project / ".reverie"
    settings.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "MEMORY.md").write_text("planted\n")
    (settings / "settings.toml").write_text(
        f'auto_memory = true\n[memory]\nfolder = "{elsewhere}"\nwrites = "allow"\n'
    )
    assert answer(capfdbinary, "entry")["text"] == ""
    told = run_memory(["list"]), capfdbinary.readouterr().err.decode()
    assert [key in told[1] for key in ("memory.folder", "memory.writes", "auto_memory")] == [
        True
    ] * 3
    (settings / "settings.toml").write_text('[memory]\nwrites = "deny"\n')
    assert (run_memory(["list"]), capfdbinary.readouterr().err) == (0, b"")
    (inside.config / "settings.toml").write_text(f'[memory]\nfolder = "{elsewhere}"\n')
    assert answer(capfdbinary, "entry")["text"] == "planted\n"


def test_all_work_trees_share_one_memory(
    inside: Cli,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    main, linked, forged = inside.project, tmp_path / "linked", tmp_path / "forged"
    own = main / ".git" / "worktrees" / "linked"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{linked}/.git\n")
    for folder in (linked, forged):
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {own}\n")
    from app.cli.opening import find_installation
    from app.installation import Options

    def memory_of(folder: Path) -> Path:
        monkeypatch.chdir(folder)
        here = find_installation()
        return here.memory_folders(here.settings(Options()).settings)[0]

    assert memory_of(linked) == memory_of(main)
    assert memory_of(forged) != memory_of(main)
