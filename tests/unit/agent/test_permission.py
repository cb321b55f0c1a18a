from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.agent.path_policy import glob_base, is_protected, is_secret
from app.agent.permission import Mode, Policy, hidden_from_search, judge, suggest_rule
from app.agent.rules import RuleError, match_path, parse_rule, parse_rules
from app.agent.tools.base import ToolFailure
from app.agent.tools.write import WriteTool
from tests.unit.agent.tool_kit import call, make_context, run_setup


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    base = tmp_path_factory.mktemp("permission")
    run_setup("B51", base)
    (base / "p" / "deep" / "in").mkdir(parents=True)
    (base / "p" / "jump").symlink_to("deep/in")
    (base / "p" / "evil").symlink_to("../other/o.txt")
    return Policy(root=base / "p", home=base / "home")


def _with(policy: Policy, mode: Mode = Mode.DEFAULT, **rules: list[str]) -> Policy:
    return Policy(policy.root, policy.home, mode, parse_rules(**rules))


@pytest.mark.parametrize(
    ("tool", "arguments", "verdict"),
    [
        ("Read", {"file_path": "src/a.py"}, "allow"),
        ("Read", {"file_path": ".env.example"}, "allow"),
        ("Read", {"file_path": ".env"}, "ask"),
        ("Read", {"file_path": "src/../.ENV.local"}, "ask"),
        ("Read", {"file_path": "src/link.txt"}, "ask"),
        ("Read", {"file_path": "src/out/o.txt"}, "ask"),
        ("Read", {"file_path": "jump/../evil"}, "ask"),
        ("Read", {"file_path": "jump/../../evil"}, "ask"),
        ("Read", {"file_path": "../other/o.txt"}, "ask"),
        ("Read", {"file_path": "~/.ssh/id_demo"}, "ask"),
        ("Read", {"file_path": "~root/x"}, "ask"),
        ("Read", {"file_path": "/proc/self/environ"}, "ask"),
        ("Read", {"file_path": ""}, "ask"),
        ("Read", {"file_path": 3}, "ask"),
        ("Read", {}, "ask"),
        ("Grep", {"pattern": "KEY"}, "allow"),
        ("Grep", {"pattern": "KEY", "path": ".env"}, "ask"),
        ("Grep", {"pattern": "KEY", "path": ".."}, "ask"),
        ("Glob", {"pattern": "**/*.py"}, "allow"),
        ("Glob", {"pattern": "/etc/*"}, "ask"),
        ("Glob", {"pattern": "~/**"}, "ask"),
        ("Glob", {}, "ask"),
        ("LS", {}, "allow"),
        ("LS", {"path": "src/out"}, "ask"),
        ("Write", {"file_path": "new.py", "content": ""}, "ask"),
        ("Edit", {"file_path": "src/a.py"}, "ask"),
        ("TodoWrite", {"todos": []}, "allow"),
        ("AskUserQuestion", {}, "allow"),
        ("BashOutput", {"bash_id": "x"}, "allow"),
        ("KillShell", {}, "allow"),
        ("WebFetch", {"url": "https://example.org"}, "ask"),
        ("mcp__x__y", {}, "ask"),
    ],
)
def test_default_mode(tool: str, arguments: dict[str, Any], verdict: str, policy: Policy) -> None:
    result = judge(tool, arguments, policy)
    assert result.verdict == verdict
    assert result.reason


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("src/a.py", "allow"),
        ("new/deep/file", "allow"),
        (".env", "ask"),
        (".git/hooks/pre-commit", "ask"),
        (".reverie/settings.toml", "ask"),
        ("sub/.claude/settings.json", "ask"),
        (".cargo/config.toml", "ask"),
        (".devcontainer/devcontainer.json", "ask"),
        (".devcontainer.json", "ask"),
        (".cursor/rules/x.mdc", "ask"),
        (".exrc", "ask"),
        (".vimrc", "ask"),
        (".zed/tasks.json", "ask"),
        (".vscode/tasks.json", "ask"),
        (".idea/workspace.xml", "ask"),
        (".husky/pre-commit", "ask"),
        (".github/workflows/ci.yml", "ask"),
        (".github/actions/x/action.yml", "ask"),
        (".gitlab-ci.yml", "ask"),
        ("lefthook.yml", "ask"),
        ("mise.toml", "ask"),
        ("x.code-workspace", "ask"),
        ("sitecustomize.py", "ask"),
        (".env~", "ask"),
        ("Makefile", "allow"),
        (".github/ISSUE_TEMPLATE.md", "allow"),
        ("docs/github/workflows/a.md", "allow"),
        (".bashrc", "ask"),
        ("../other/o.txt", "ask"),
        ("src/out/new", "ask"),
        ("jump/../evil", "ask"),
        ("~/x", "ask"),
        (None, "ask"),
    ],
)
def test_accept_edits(path: str | None, verdict: str, policy: Policy) -> None:
    accepting = _with(policy, Mode.ACCEPT_EDITS)
    for tool in ("Write", "Edit"):
        assert judge(tool, {"file_path": path}, accepting).verdict == verdict


def test_plan_and_bypass(policy: Policy) -> None:
    plan = _with(policy, Mode.PLAN, allow=["Edit", "WebFetch"])
    assert judge("Read", {"file_path": "src/a.py"}, plan).verdict == "allow"
    assert judge("Edit", {"file_path": "src/a.py"}, plan).verdict == "deny"
    assert judge("WebFetch", {"url": "x"}, plan).verdict == "allow"
    assert judge("mcp__x__y", {}, plan).verdict == "deny"
    bypass = _with(policy, Mode.BYPASS, deny=["Read(.env)"], ask=["Write"])
    assert judge("Write", {"file_path": "/etc/x"}, bypass).verdict == "allow"
    assert judge("Read", {"file_path": ".env"}, bypass).verdict == "deny"
    assert judge("Read", {"file_path": "src/link.txt"}, bypass).verdict == "deny"


def test_rules_for_files(policy: Policy) -> None:
    rules = _with(
        policy,
        allow=["Edit(/src/**)", "Read(~/notes/**)", "Read", "Read(.netrc)", "Write(.claude/**)"],
        ask=["Edit(src/b.py)"],
        deny=["Read(secret)", "Edit(//etc/**)"],
    )

    def verdict(tool: str, path: str) -> str:
        return judge(tool, {"file_path": path}, rules).verdict

    assert verdict("Edit", "src/a.py") == "allow"
    assert verdict("Write", "src/new.py") == "allow"
    assert verdict("Edit", "src/out/o.txt") == "ask"
    assert verdict("Edit", "src/b.py") == "ask"
    assert verdict("Edit", "other.py") == "ask"
    assert verdict("Write", "/etc/passwd") == "deny"
    assert verdict("Write", ".claude/x.json") == "allow"
    assert verdict("Edit", ".claude/x.json") == "ask"
    assert verdict("Read", "~/notes/a.md") == "allow"
    assert verdict("Read", "/etc/hosts") == "allow"
    assert verdict("Read", ".env") == "ask"
    assert verdict("Read", "~/.netrc") == "allow"
    assert verdict("Read", "deep/secret") == "deny"
    assert verdict("Read", "deep/secret/below") == "deny"
    assert judge("Grep", {"pattern": "x", "path": "secret"}, rules).verdict == "deny"
    assert judge("Edit", {"file_path": "src/a.py"}, rules).rule == "Edit(/src/**)"
    hidden = hidden_from_search(rules)
    assert hidden(policy.root / "x" / "secret" / "y")
    assert not hidden(policy.root / "x" / "public")


def test_rules_for_other_tools(policy: Policy) -> None:
    rules = _with(policy, allow=["WebFetch(domain:example.org)", "mcp__files"], deny=["mcp__x__y"])
    for url, verdict in (
        ("https://example.org/a", "allow"),
        ("https://docs.example.org:8080", "allow"),
        ("https://notexample.org", "ask"),
        ("https://example.org.evil.net", "ask"),
        ("https://example.org@evil.net", "ask"),
        ("https://[", "ask"),
        (3, "ask"),
    ):
        assert judge("WebFetch", {"url": url}, rules).verdict == verdict
    assert judge("mcp__files__read", {}, rules).verdict == "allow"
    assert judge("mcp__filesystem__read", {}, rules).verdict == "ask"
    assert judge("mcp__x__y", {}, rules).verdict == "deny"


@pytest.mark.parametrize(
    "text",
    ["", " ", "(x)", "Bash(", "Bash)", "Bash()", "Bash( )", "Bash(x", "Bash(x)y", "3x", "Bash(:*)",
     "Bash(a\x1bb)", "WebFetch(example.org)", "WebFetch(domain:)", "Read(!x)", "Bash x"],
)  # fmt: skip
def test_malformed_rules_are_named(text: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text)
    assert "cannot be read" in str(caught.value)


def test_rules_are_read_as_written() -> None:
    for text in ("Bash", "Bash(git push:*)", "Bash(echo (a) :*)", "mcp__a-b__c", "Read(a(1).txt)"):
        assert parse_rule(text).text == text
    assert parse_rule(" Bash(*) ").pattern is None


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/**", "/p/src/a/b", True),
        ("src/**", "/p/srcs/a", False),
        ("src/*", "/p/src/a", True),
        ("src/*.py", "/p/src/a/b.py", False),
        ("/src", "/p/src/a", True),
        ("*.py", "/q/deep/a.py", True),
        ("a?.py", "/p/ab.py", True),
        ("**/x/**", "/p/a/x/b", True),
        ("//q/**", "/q/a", True),
        ("~/a", "/h/a", True),
        ("src/[a]", "/p/src/[a]", True),
        ("src/a.py", "/p/src/aXpy", False),
        ("src/a\nb", "/p/src/a\nb", True),
    ],
)
def test_path_patterns(pattern: str, path: str, matches: bool) -> None:
    assert match_path(pattern, Path(path), Path("/p"), Path("/h")) is matches


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("npm test", "Bash(npm test:*)"),
        ("npm run build -- --fast", "Bash(npm run build:*)"),
        ("pytest -q tests", "Bash(pytest:*)"),
        ("cargo test", "Bash(cargo test:*)"),
        ("git status", "Bash(git status:*)"),
        ("git diff", "Bash(git diff)"),
        ("git log -p", "Bash(git log -p)"),
        ("git branch", "Bash(git branch)"),
        ("gradle test", "Bash(gradle test)"),
        ("go test -exec ./x ./y", "Bash(go test -exec ./x ./y)"),
        ("pytest --basetemp=x", "Bash(pytest --basetemp=x)"),
        ("npm run build --prefix ../x", "Bash(npm run build --prefix ../x)"),
        ("git push origin main", "Bash(git push origin main)"),
        ("rm -rf build", "Bash(rm -rf build)"),
        ("curl https://example.org", "Bash(curl https://example.org)"),
        ("sudo npm test", "Bash(sudo npm test)"),
        ("python3 x.py", "Bash(python3 x.py)"),
        ("npm test && rm x", "Bash(npm test && rm x)"),
        ("npm test > out.txt", "Bash(npm test > out.txt)"),
        ("A=1 npm test", None),
        ("for x in a; do rm x; done", None),
        ("rm $(cat list)", None),
        ("ls\nrm x", None),
        ("rm x\u200b", None),
        ("rm 'x", None),
        ("echo :*", None),
        ("", None),
        (None, None),
    ],
)
def test_suggestions_for_commands(command: str | None, rule: str | None, policy: Policy) -> None:
    suggested = suggest_rule("Bash", {"command": command})
    assert suggested == rule
    if suggested is not None:
        saved = _with(policy, allow=[suggested])
        assert judge("Bash", {"command": command}, saved).verdict == "allow"
        assert judge("Bash", {"command": f"{command}; rm y"}, saved).verdict == "ask"


@pytest.mark.parametrize(
    ("prefix", "risky", "plain"),
    [
        ("git diff", "--output=README.md --ext-diff --no-index --outpu=x --textconv", "--stat -p"),
        ("git log", "--output=x --ext-diff", "--oneline -n 3 -c"),
        ("git show", "--output=x", "HEAD --stat"),
        ("git branch", "-D -d -M -f -fD --delete --force --edit-description", "-a --list"),
        ("git blame", "--contents=x", "a.py"),
        ("git", "-c --exec-path=x --upload-pack=x", "status"),
        ("git fetch", "--upload-pack=x --upload", "--all"),
        ("git grep", "-O --open-files-in-pager", "-n x"),
        ("pytest", "-p -c --basetemp=x --junitxml=x --junit-xml=x --rootdir=x -o", "-x -q -k a"),
        ("npm test", "--prefix --pref=x --script-shell=x --node-options=x", "-- --out=x"),
        ("npm run build", "--prefix=x -C", "-- --fast"),
        ("cargo test", "--config=x --target-dir=x --manifest-path=x -Z", "--test x --release"),
        ("go test", "-exec -toolexec -o -C -coverprofile=x --exec", "-run X -v -race ./..."),
        ("ruff check", "--fix --config=x -o --output-file=x", "--output-format=json src"),
        ("mypy", "--python-executable=x --python-exec --html-report=x --config-file=x", "src"),
        ("eslint", "-c -o --fix --rulesdir=x --plugin=x -f --output-file", "src --quiet"),
        ("jest", "-c --rootDir=x --globalSetup=x --outputFile=x --setupFilesAfterEnv=x", "-t a"),
        ("vitest", "-c -r --coverage.reportsDirectory=x --config=x", "run"),
        ("flake8", "--output-file=x --append-config=x --bug-report", "src"),
    ],
)
def test_prefix_rules_leave_out_what_writes(
    prefix: str, risky: str, plain: str, policy: Policy
) -> None:
    rules = _with(policy, allow=[f"Bash({prefix}:*)"])

    def verdict(more: str) -> str:
        return judge("Bash", {"command": f"{prefix} {more}"}, rules).verdict

    assert verdict(plain) == "allow"
    assert {option: verdict(option) for option in risky.split() if verdict(option) != "ask"} == {}


def test_rule_that_names_the_option_allows_it(policy: Policy) -> None:
    rules = _with(policy, allow=["Bash(git branch -D:*)", "Bash(git commit:*)", "Bash(gcc:*)"])
    for command in ("git branch -D x", "git commit -m x", "gcc -o x y.c"):
        assert judge("Bash", {"command": command}, rules).verdict == "allow"


def test_bypass_does_not_open_what_cannot_be_resolved(policy: Policy) -> None:
    bypass = _with(policy, Mode.BYPASS, deny=["Read(//srv/**)"])
    assert judge("Read", {"file_path": "~root/x"}, bypass).verdict == "deny"
    assert judge("Edit", {"file_path": "~root/x"}, bypass).verdict == "allow"


def test_verdict_notes_where_the_path_led(policy: Policy) -> None:
    arguments = {"file_path": "src/link.txt"}
    assert policy.sightings.of(arguments) is None
    judge("Read", arguments, policy)
    assert policy.sightings.of(arguments) == Path(policy.root / ".env").resolve()
    assert policy.sightings.of(dict(arguments)) is None
    for number in range(100):
        judge("Read", {"file_path": str(number)}, policy)
    assert policy.sightings.of(arguments) is None


def test_suggestions_for_other_tools(policy: Policy) -> None:
    path = str(policy.root / "src" / "a.py")
    rule = suggest_rule("Edit", {"file_path": path})
    assert rule is not None
    assert rule == f"Edit(/{path})"
    assert judge("Write", {"file_path": path}, _with(policy, allow=[rule])).verdict == "allow"
    assert suggest_rule("Write", {"file_path": ".env"}) is None
    assert suggest_rule("Write", {"file_path": "/p/.git/config"}) is None
    assert suggest_rule("Read", {"file_path": "~/x"}) == "Read(~/x)"
    relative = suggest_rule("Read", {"file_path": "a/b"})
    assert relative == "Read(/a/b)"
    assert suggest_rule("WebFetch", {"url": "https://a.example/x"}) == "WebFetch(domain:a.example)"
    assert suggest_rule("WebFetch", {"url": "nothing"}) is None
    assert suggest_rule("mcp__a__b", {}) == "mcp__a__b"


@pytest.mark.parametrize(
    "name",
    [".env-production", "env.local", "api_key.txt", "private-key", "deploy_keys.json", ".secrets",
     "app.secret", "rclone.conf", "wp-config.php", ".htdigest",
     ".env", ".env.local", ".ENV", "prod.env", ".envrc", "id_rsa", "id_ed25519", "a.pem", ".npmrc",
     ".pypirc", ".netrc", "_netrc", ".git-credentials", "credentials.json", "secrets.yaml",
     ".ssh/config", ".aws/config", "x/.kube/config", ".bash_history", "server.key",
     ".env~", ".env.bak", ".env.local.old", ".pypirc.bak", "key.pem.txt", "#.env#", ".netrc.1",
     "id_rsa.bak", ".id_rsa.swp", "server.key.orig", "kubeconfig", "kubeconfig-prod.yaml",
     "prod.kubeconfig", ".git/config", "sub/.git/config", ".git/modules/x/config", ".npmrc.save",
     ".credentials.json", "credentials.json.bak", "secrets.txt", "passwords.csv", "a.tfvars",
     "auth.json", "vault_pass.txt", "id_ed25519 copy", "prod.env.2"],
)  # fmt: skip
def test_secret_names(name: str) -> None:
    assert is_secret(Path(name))


@pytest.mark.parametrize(
    "name",
    [".env.example", ".env.sample", ".env.template", "env.py", "environment", "id_rsa.pub",
     "id_generator.py", "keys.py", "token.py", "secrets.py", "README.md", "history.py",
     "ssh/config", "config", "notes.txt", "notes.bak", "README.md~", "kubeconfig.go", "Makefile",
     ".github/ISSUE_TEMPLATE.md", "git/config", "keyboard.txt", "conftest.py", "v1.2",
     ".env-example", "env.ts", "api_keys.py", "public_key.txt"],
)  # fmt: skip
def test_plain_names(name: str) -> None:
    assert not is_secret(Path(name))
    assert not is_protected(Path(name))


def test_glob_base() -> None:
    assert glob_base("/a/b/**/*.py", ".") == ("/a/b", "**/*.py")
    assert glob_base("~/x/*.md", ".") == ("~/x", "*.md")
    assert glob_base("/*", ".") == ("/", "*")
    assert glob_base("src/*.py", "lib") == ("lib", "src/*.py")


async def test_tool_and_policy_agree_on_links(policy: Policy) -> None:
    with pytest.raises(ToolFailure, match="outside the project"):
        await call(WriteTool(), make_context(policy.root), file_path="jump/../evil", content="x")
