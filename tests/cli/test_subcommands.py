from __future__ import annotations

from tests.cli.runner import SECRET, Cli


def test_settings_are_read_and_written(offline: Cli) -> None:
    file = offline.config / "settings.toml"
    changed = offline.run("config", "set", "permissions.mode", "plan", "--json")
    assert (changed.code, changed.json["file"]) == (0, str(file))
    got = offline.run("config", "get", "permissions.mode", "--json").json
    assert (got["value"], got["origin"]) == ("plan", "user")
    assert "permissions.mode = " in offline.run("config", "get").out
    for words in (["set", "glyphs", "maybe"], ["set", "no_such", "1"], ["get", "no_such"]):
        done = offline.run("config", *words)
        assert (done.code, done.out, len(done.told)) == (1, "", 1)


def test_settings_that_do_not_count_are_found(offline: Cli) -> None:
    assert offline.run("config", "check").code == 0
    folder = offline.project / ".reverie"
    folder.mkdir()
    (folder / "settings.toml").write_text('\nbase_url = "http://x"\n')
    done = offline.run("config", "check", "--json")
    (problem,) = done.json["problems"]
    assert done.code == 1
    assert (problem["line"], problem["key"]) == (2, "base_url")
    files = offline.run("config", "path", "--json").json["files"]
    assert [entry["layer"] for entry in files] == ["user", "project", "local"]
    assert [entry["counts"] for entry in files] == [True, False, False]


def test_the_rules_are_asked(offline: Cli) -> None:
    offline.config.mkdir()
    rules = '[permissions]\nallow = ["Bash(npm test:*)"]\ndeny = ["Read(//etc/**)"]\n'
    (offline.config / "settings.toml").write_text(rules)
    cases = {
        ("Bash", "npm test -- -v"): "allow",
        ("Bash", "rm -rf /"): "ask",
        ("Read", "/etc/passwd"): "deny",
        ("Write", '{"file_path": "a.txt", "content": "x"}'): "ask",
    }
    for (tool, text), verdict in cases.items():
        done = offline.run("permissions", "check", tool, text, "--json")
        assert done.code == 0
        assert (done.json["verdict"], bool(done.json["reason"])) == (verdict, True)
    many = offline.run("permissions", "check", "Bash", "-", "--json", stdin=b"ls\n\nrm x\n")
    assert [(v["input"], v["verdict"]) for v in many.json["verdicts"]] == [
        ("ls", "allow"),
        ("rm x", "ask"),
    ]
    assert offline.run("permissions", "check", "Bash", "ls").out.startswith("allow: ")
    assert offline.run("permissions", "check", "TodoWrite", "x").code == 2


def test_the_doctor_shows_no_secret(cli: Cli) -> None:
    done = cli.run("doctor", "--json")
    checks = {check["name"]: check for check in done.json["checks"]}
    assert (done.code, done.json["ok"]) == (0, True)
    assert checks["credentials"]["detail"] == "from ANTHROPIC_API_KEY"
    assert checks["server"]["status"] == "ok"
    assert SECRET not in done.out + done.err
    assert cli.data.exists() is False


def test_the_doctor_finds_faults(offline: Cli) -> None:
    offline.data.write_text("a file")
    offline.environment |= {
        "ANTHROPIC_BASE_URL": "http://user:hidden@127.0.0.1:9",
        "ANTHROPIC_API_KEY": SECRET,
    }
    done = offline.run("doctor")
    assert done.code == 1
    assert "127.0.0.1:9 cannot be reached" in done.out
    assert "is not a folder" in done.out
    assert "hidden" not in done.out


def test_help_is_there_for_everything(offline: Cli) -> None:
    for words in ([], ["sessions"], ["sessions", "show"], ["permissions"], ["config"], ["doctor"]):
        done = offline.run(*words, "--help")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("usage: reverie")
    version = offline.run("--version")
    assert (version.code, version.out) == (0, "reverie 0.1.0\n")


def test_sessions_are_listed(offline: Cli) -> None:
    assert offline.run("sessions", "list", "--json").json == {"sessions": []}
    assert offline.ask("--demo", "tell me a story").code == 0
    (file,) = offline.transcripts
    other = file.with_name("00000000-0000-4000-8000-000000000000.jsonl")
    other.write_text("this is no transcript\n")
    listed = offline.run("sessions", "list", "--json")
    entries = {entry["session_id"]: entry for entry in listed.json["sessions"]}
    entry = entries[file.stem]
    assert entry["first_prompt"] == "tell me a story"
    assert entry["title"] == "tell me a story"
    assert (entry["branches"], entry["cost_usd"]) == (1, 0)
    assert (entry["size"], entry["path"]) == (file.stat().st_size, str(file))
    assert entry["updated_at"].endswith("+00:00")
    assert entries[other.stem]["status"] == "unreadable"
    assert "tell me a story" in offline.run("sessions", "list").out


def test_the_next_request_is_shown(offline: Cli) -> None:
    assert offline.ask("--demo", "hi").code == 0
    done = offline.run("sessions", "request", "--json")
    request = done.json
    assert [message["role"] for message in request["messages"]] == ["user", "assistant"]
    assert request["system"][0]["type"] == "text"
    assert {"Bash", "Read"} <= {tool["name"] for tool in request["tools"]}
    assert "user:" in offline.run("sessions", "request").out
