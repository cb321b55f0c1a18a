from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.agent.permission import Mode, Policy, judge
from app.agent.rules import parse_rules
from tests.unit.agent.tool_kit import case_rows, run_setup


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    base = tmp_path_factory.mktemp("permission")
    run_setup("B51", base)
    (base / "p" / "docs").mkdir()
    (base / "p" / "docs" / "-rf").write_text("")
    (base / "p" / "docs" / "x.md").write_text("")
    (base / "p" / "inner").symlink_to("src")
    (base / "p" / "clean").mkdir()
    (base / "p" / "clean" / "a.txt").write_text("")
    for name in ("links", "empty", "around/deep", "inside", "gits/.git", "plain/.git"):
        (base / "p" / name).mkdir(parents=True)
    (base / "p" / "links" / "notes.txt").symlink_to("/etc/passwd")
    (base / "p" / "around" / "deep" / "back").symlink_to("../../links")
    (base / "p" / "inside" / "a.txt").symlink_to("../src/a.py")
    (base / "p" / "inside" / "again").symlink_to(".")
    (base / "p" / "gits" / ".git" / "config").write_text("url = https://me:key@example.org/x\n")
    (base / "p" / "plain" / ".git" / "config").write_text("url = https://example.org/x\n")
    return Policy(root=base / "p", home=base / "home")


@pytest.fixture(scope="module")
def clean_policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    root = tmp_path_factory.mktemp("clean")
    return Policy(root=root, home=root.parent / "home")


def _verdict(command: str, policy: Policy) -> str:
    return judge("Bash", {"command": command}, policy).verdict


@pytest.mark.parametrize("case", ["B47", "B48", "B49"])
def test_listed_commands(case: str, clean_policy: Policy) -> None:
    for row in case_rows(case):
        verdict = judge("Bash", {"command": row["cmd"]}, clean_policy)
        assert verdict.reason
        if row["verdict"] != "either":
            assert verdict.verdict == row["verdict"], row


@pytest.mark.parametrize("row", case_rows("B51"), ids=lambda row: row["cmd"])
def test_secrets(row: dict[str, Any], policy: Policy) -> None:
    assert _verdict(row["cmd"], policy) == row["verdict"]


_ASK = [
    # What tree-sitter reads otherwise than bash does.
    "cat </dev/null .env",
    "cat > /dev/null .env src/a.py",
    "cat .e\\\nnv",
    "cat src/a'.py'\\\n/../../.env",
    "ls a;;b",
    # Expansions of every kind.
    "cat .{env,x}", "cat {.env,}", "ls a{1..3}", "cat .[e]nv", "cat .?nv", "cat s*/link.txt",
    "cat ~root/.bashrc", "cat ~+/.env", "ls $'\\x2e'", 'echo "$SECRET"', "echo $((1+1))",
    "echo $(<.env)", "echo ${x@P}", "echo `cat .env`", "cat a=~/.env", "ls $x", "echo $?",
    # Names that are computed, by path, or shadowed.
    "$(echo rm) x", "/bin/ls", "bin/ls", "ls() { :; }", "unset x", "declare x=1", "export A=1",
    "trap 'rm x' EXIT", "set -f", "hash -p ./x ls", "enable -f ./x.so ls", "builtin cd ..",
    "shopt -s extglob", "readonly x", "typeset x", "local x", "[ -v 'a[$(id)]' ]", "let x=1",
    "test -v 'a[$(id)]'", "[[ -f a ]]", "((1))", "printf -v 'a[$(id)]' x",
    # Options that write, run or read more.
    "sort -o out a", "sort --output=out a", "sort --outp=out a", "sort -ro out a",
    "sort --compress-program=./x a", "sort --files0-from=list", "uniq a b", "uniq -c a b",
    "diff --to-file=.env src/a.py", "grep -Rn x clean", "grep --file=.env a", "grep --fil=.env a",
    "grep -nf.env src/a.py", "grep -e x .env", "grep --regexp=x .env", "grep -r x",
    "grep -r --include='*' KEY", "tree -o out", "tail -f src/a.py", "head --lines 5 .env",
    "file -C -m x", "file -f .env", "du --files0-from=x", "tree --fromfile .env", "diff .env src",
    "diff -r . clean", "comm .env src/a.py", "nl .env", "od -c .env", "tac .env", "rev .env",
    "cut -c1- .env", "md5sum --check list", "wc --files0-from .env", "strings .env", "cat -- .env",
    "cat -n -- src/a.py .env", "sha256sum -c sums", "xxd a b", "sed p a", "awk 1 a", "date -s x",
    "find -L . -name x", "find . -newer ../other", "find . -name *", "find .ssh", "find -D x .",
    # Leading out of the project, or through links.
    "cat inner/../../other/o.txt", "cat src/out/../p/.env", "cd .. && ls", "cd", "cd -", "cd /",
    "cd src/out && cat o.txt", "cd src && cat ../.env", "cat src/../../other/o.txt", "ls ..",
    "ls /", "echo /*", "echo ~/*", "cat < ../other/o.txt", "cat /dev/tcp/127.0.0.1/9",
    "cat /dev/stdin", "cat /proc/../proc/self/environ", "cat .ENV", "cat .Env.Local",
    # Redirects.
    "ls > src/a.py", "ls 2>&1 >x", "ls >/dev/null >x", "echo x >> .bashrc", "ls >'/dev/null '",
    "ls > /dev/null/x", "ls >&x", "ls 2>&$x", "cat <$x", "ls >*", ">x", "< .env",
    "cat <<'E'\nx\nE", "cat <<<x", "cat <<-E\n\tx\n\tE\n",
    # Separators and structure.
    "ls &", "ls & ls", "(ls)", "{ ls; }", "ls |& tee x", "ls; # x\nrm y", "ls #\\\nrm y",
    "while :; do ls; done", "case x in x) ls;; esac", "select x in a; do ls; done", "! rm x",
    "ls\vrm", "ls\x0crm x", "ls\u200b", "ls\u3000x", "ls \u202e", "ls\ufeff", "ls \ud83d",
    "ls\x1b[2K",
    "", " ", "#", "# only a comment", "ls &&", "ls |",
    "'", '"', "ls '", "$(", "ls \\", ")", "cat <",
    "cd docs && ls *", "cd docs && cat *",  # a file there is named like an option
    "{\U0001f680", "ls {\U0010ffff", "a{1..\U0001f680}", "$\U0001f680 x", "\U0001f680=1 ls",
    # What links in a folder lead to.
    "diff -N links empty", "diff links/ empty", "diff -r -N links empty", "diff src/a.py links",
    "diff -r around empty", "ls -L links", "ls -RL links", "du -L links",
    "grep -R x clean", "find -L links", "find -H links", "find links -follow", "tree -l links",
    # Options that are read from a file.
    "strings @opts", "strings -n 4 src/a.py", "sort --files0-from=x", "wc --files0-from=x",
    "du --exclude-from=x", "grep --exclude-from=x y clean", "file --files-from x",
    # Bash before 5.2 took `.` and `..` for what `.*` means.
    "cat .*/other/o.txt", "ls .*", "cat */*/.*/../other/o.txt",
    "cd s* && cat link.txt", "cd ?rc && ls", "cat .git/config", "grep -r url gits",
    "coproc ls", "time ls", "exec ls", "exec 3<.env", "sudo ls", "xargs cat", "env", "printenv",
]  # fmt: skip
_ALLOW = [
    "ls", "ls -la src", "pwd", "cat src/a.py | sort -u | uniq -c", "echo hello 'there; rm x'",
    "grep -rn code clean", "grep -c code src/a.py", "grep -e code src/a.py", "head -5 src/a.py",
    "tail -n +2 src/a.py", "wc -l src/a.py 2>/dev/null", "cat src/a.py 2>&1 | head -n 3",
    "cd src && ls", "cd src; cat a.py", "ls # what is here", "# look\nls\n", "ls;", "ls src/*.py",
    "cat 'src/a.py'", 'cat "src/a.py"', "cat src/a\\.py", "find src -name '*.py' -type f",
    "cat inner/a.py", "ls clean/*", "diff src/a.py clean/a.txt", "diff -ru clean clean",
    "tree -L 2", "du -sh src", "file src/a.py", "stat -c '%s' src/a.py", "cut -d: -f1 src/a.py",
    "cat < src/a.py", "ls 2>&- >/dev/null", "! grep -q x src/a.py", "ls -l \\\n  src", "true",
    "grep '/api/.env' src/a.py", "grep -n 'a$' src/a.py", "echo {}", 'grep "x\\"y" src/a.py',
    "cat ./src/./a.py", "grep --color=never code src/a.py", "grep -A3 -B 2 code src/a.py",
    "cat src/a.py src/../src/a.py", "echo 100%", "echo a~b", "echo größe", "which python",
    "grep -rn x links", "diff -r inside clean", "grep -r url plain", "ls -la links", "du -a links",
    "sort -k2,2n -t: src/a.py", "tr a-z A-Z < src/a.py", "basename src/a.py .py", "echo a=b",
]  # fmt: skip


@pytest.mark.parametrize("command", _ASK)
def test_asks(command: str, policy: Policy) -> None:
    assert _verdict(command, policy) == "ask"


@pytest.mark.parametrize("command", _ALLOW)
def test_allows(command: str, policy: Policy) -> None:
    assert judge("Bash", {"command": command}, policy).verdict == "allow"


@pytest.mark.parametrize("arguments", [{}, {"command": 3}, {"command": None}, {"command": ["ls"]}])
def test_bad_arguments_ask(arguments: dict[str, Any], policy: Policy) -> None:
    assert judge("Bash", arguments, policy).verdict == "ask"


def _with(policy: Policy, mode: Mode = Mode.DEFAULT, **rules: list[str]) -> Policy:
    return Policy(policy.root, policy.home, mode, parse_rules(**rules))


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("npm test", "allow"),
        ("npm test -- --watch=false", "allow"),
        ("npm  test", "allow"),
        ("'npm' test", "allow"),
        ("cd src && npm test | tail -n 5", "allow"),
        ("npm test 2>&1 | head", "allow"),
        ("npm test $FLAGS", "allow"),
        ("make all", "allow"),
        ("echo x > out.txt", "allow"),
        ("make all -j", "ask"),
        ("make", "ask"),
        ("npm testing", "ask"),
        ("npm", "ask"),
        ("./npm test", "ask"),
        ("npm test; rm x", "ask"),
        ("npm test $(rm x)", "ask"),
        ("npm test > out", "ask"),
        ("npm test < .env", "ask"),
        ("A=1 npm test", "ask"),
        ("npm $x", "ask"),
        ("npm te*", "ask"),
        ("(npm test)", "ask"),
        ("npm test &", "ask"),
        ("npm test\n\u2028rm x", "ask"),
        ("echo x > out.txt; ls", "ask"),
    ],
)
def test_allow_rules(command: str, verdict: str, policy: Policy) -> None:
    rules = _with(policy, allow=["Bash(npm test:*)", "Bash(make all)", "Bash(echo x > out.txt)"])
    assert _verdict(command, rules) == verdict


_FORBIDDEN = [
    "rm x", "ls; rm x", "ls $(rm x)", "cat <(rm x)", "sudo rm x", "env A=1 rm x", "/bin/rm x",
    "\\rm x", "'r'm x", "xargs rm", "nohup time rm x", "bash -c 'rm x'", "sh -c \"ls; rm x\"",
    "eval rm x", "eval 'rm x'", "find . -exec rm {} +", "(rm x)", "{ rm x; }", "rm x &",
    "if true; then rm x; fi", "f() { rm x; }; f", "A=1 rm x", "ls\u2028; rm x", "rm -rf x > out",
    "timeout 5 bash -c 'xargs rm'", "rm x '", "echo `rm x`", "git -C . push", "git push origin",
    "git --no-pager push", "git -c a=b push", "sudo git push", "exec rm x", "command rm x",
    "nice -n 5 rm x", "cat .env.x/a; rm y", "bash -lc 'env rm x'",
    "env -S 'rm x'", "env -S'rm x'", "env -vS 'rm x'", "env -Srm x", "env --split-string='rm x'",
    "trap 'rm x' EXIT", "trap 'ls; rm x' 0 1", "unshare rm x", "flock l rm x", "flock l -c 'rm x'",
    "ssh h rm x", "ssh h 'cd y; rm x'", "su me -c 'rm x'", "watch 'rm x'", "script -c 'rm x' f",
    "git -c alias.x='!rm x' x", "git rebase --exec 'rm x'", "git rebase -x 'rm x' main",
    "git bisect run rm x", "git submodule foreach 'rm x'", "git difftool --extcmd='rm x'",
    "echo 'rm x' | sh", "echo rm x | bash -s", "printf 'ls\\nrm x\\n' | sudo bash", "sh <<<'rm x'",
    "bash <(echo rm x)", "echo 'rm x' >f; sh f", 'eval "$(echo rm x)"', "echo 'rm x' | ssh h",
    "alias l='rm x'; l", "docker run i rm x", "uv run rm x", "npm exec -c 'rm x'", "npx rm x",
    "python3 -c \"os.system('rm x')\"", "awk 'BEGIN { system(\"rm x\") }'", "busybox rm x",
    "taskset 1 rm x", "setpriv --nnp rm x", "systemd-run rm x", "perl -e 'system q(rm x)'",
    "parallel 'rm {}' ::: x", "tmux new 'rm x'", "ip netns exec n rm x", "sudo sh -c 'rm x'",
]  # fmt: skip


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("command", _FORBIDDEN)
def test_deny_rules_see_through_dress(command: str, mode: Mode, policy: Policy) -> None:
    rules = _with(policy, mode, deny=["Bash(rm:*)", "Bash(git push:*)"], allow=["Bash"])
    verdict = judge("Bash", {"command": command}, rules)
    assert verdict.verdict == "deny"
    assert verdict.rule in {"Bash(rm:*)", "Bash(git push:*)"}


@pytest.mark.parametrize("command", [
    "git log", "echo rm", "ls rm", "rmdir x", "grep rm src/a.py", "echo 'rm x'", "grep 'rm x' a",
    "git commit -m 'rm x'", "docker rm x", "python3 rm.py", "echo 'rm x' | wc",
])  # fmt: skip
def test_deny_rules_leave_others_alone(command: str, policy: Policy) -> None:
    rules = _with(policy, deny=["Bash(rm:*)", "Bash(git push:*)"], allow=["Bash"])
    assert _verdict(command, rules) == "allow"


def test_deny_beats_ask_beats_allow(policy: Policy) -> None:
    rules = _with(policy, allow=["Bash"], ask=["Bash(git:*)"], deny=["Bash(git push)"])
    assert _verdict("git push", rules) == "deny"
    assert _verdict("git pull; ls", rules) == "ask"
    assert _verdict("make", rules) == "allow"


def test_deny_rule_for_a_path(policy: Policy) -> None:
    rules = _with(policy, Mode.BYPASS, deny=["Bash(./deploy.sh:*)"])
    assert _verdict("./deploy.sh now", rules) == "deny"
    assert _verdict("sudo ./deploy.sh", rules) == "deny"
    assert _verdict("./other.sh", rules) == "allow"


def test_file_rules_hold_in_the_shell(policy: Policy) -> None:
    rules = _with(policy, Mode.BYPASS, deny=["Read(src/**)", "Edit(/docs/**)"])
    assert _verdict("cat src/a.py", rules) == "deny"
    assert _verdict("cd src && cat a.py", rules) == "deny"
    assert _verdict("sort < inner/a.py", rules) == "deny"
    assert _verdict("echo x > docs/y", rules) == "deny"
    assert _verdict("cat docs/x.md", rules) == "allow"


def test_modes(policy: Policy) -> None:
    plan, bypass = _with(policy, Mode.PLAN, allow=["Bash(make:*)"]), _with(policy, Mode.BYPASS)
    assert _verdict("ls", plan) == "allow"
    assert _verdict("rm x", plan) == "deny"
    assert _verdict("make", plan) == "deny"
    assert _verdict("cat .env", plan) == "ask"
    assert _verdict("rm x; $y", bypass) == "allow"
    assert _verdict("touch x", _with(policy, Mode.ACCEPT_EDITS)) == "ask"


def test_reason_tells_what_a_command_does(policy: Policy) -> None:
    verdict = judge("Bash", {"command": "git push"}, policy)
    assert verdict.reason == (
        "not covered by a rule; `git push` writes to a remote, and rewind can't take it back"
    )
    assert verdict.rule is None


def test_shell_outside_the_project_asks(policy: Policy) -> None:
    moved = Policy(policy.root, policy.home, cwd=Path("/"))
    assert _verdict("ls", moved) == "ask"
    added = Policy(policy.root, policy.home, added_roots=(policy.root.parent / "other",))
    assert _verdict("cat ../other/o.txt", added) == "allow"


def test_hostile_sizes_are_quick(policy: Policy) -> None:
    for link in ("l1", "l2"):
        (policy.root / "clean" / link).symlink_to(".")
    rules = _with(policy, deny=["Bash(rm:*)", "Read(private.txt)", "Edit(private.txt)"])
    started = time.process_time()
    for command in (
        "(" * 15_000, "env " * 4_900, "$(" * 9_000, "ls;" * 6_000, "a" * 100_000, "{ " * 9_000,
        "bash -c '" + "env " * 4_000 + "'", "ls " + "'" * 15_001, "!" * 19_000, "<" * 19_000,
        "cd a;" * 3_000, "`" * 9_001, '"$(' * 6_000, "cat " + "*/" * 500,
        "cat clean/" + "*/" * 18 + "zz", "cat clean/*/*/*/*/*/a.txt;" * 700, "cd clean/l*;" * 1_500,
        "env bash " + " ".join(f"a{n}" for n in range(3_000)), "cat " + "{a,b}" * 3_000,
        "git " + "=:@," * 4_000, "cat " + " ".join(f"x{n}=y" for n in range(2_000)),
        "grep -r x " + "clean/l*/l*/l*/l*/l* " * 700,
    ):  # fmt: skip
        for checked in (rules, Policy(rules.root, rules.home, Mode.BYPASS, rules.rules)):
            judge("Bash", {"command": command}, checked)
    for link in ("l1", "l2"):
        (policy.root / "clean" / link).unlink()
    assert time.process_time() - started < 30


def test_pattern_for_too_many_files_asks(policy: Policy, tmp_path: Path) -> None:
    for link in ("l1", "l2"):
        (tmp_path / link).symlink_to(".")
    looped = Policy(tmp_path, policy.home)
    verdict = judge("Bash", {"command": "cat " + "*/" * 18 + "zz"}, looped)
    assert verdict.verdict == "ask"
    assert "too many files to check" in verdict.reason
    again = judge("Bash", {"command": "cat */*/*/*/*/*/*/*/zz;" * 800}, looped)
    assert "too many files to check" in again.reason


_PIECES = st.sampled_from(
    ["ls", "cat", "rm", "echo", " ", "  ", "\n", ";", "|", "&", "&&", ">", ">>", "<", "2>&1", "$x",
     "$(", ")", "`", "'", '"', "\\", "{", "}", "(", "~", "*", "?", "[", "]", "#", "!", "=", "a.py",
     ".env", "src/", "..", "/", "-", "--", "\t", "\r", "\0", "\u2028", "<<E", "E", "$'", "tee", "é"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(_PIECES, max_size=14).map("".join) | st.text(max_size=30))
def test_random_text_never_crashes(text: str) -> None:
    policy = Policy(Path("/nonexistent/p"), Path("/nonexistent"))
    assert judge("Bash", {"command": text}, policy).verdict in {"ask", "allow"}
    rules = parse_rules(deny=["Bash(rm:*)", "Read(a.py)", "Edit(src/**)"])
    for mode in (Mode.DEFAULT, Mode.BYPASS):
        judge(
            "Bash",
            {"command": text},
            Policy(Path(__file__).parent, Path("/nonexistent"), mode, rules),
        )


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["ls", "cat a", "echo 'x y'", "wc -l", "# c\n", "\n", " "])),
    st.sampled_from([";", "|", "&&", "||", "\n", "|&", "&"]),
    st.sampled_from([">", ">>", "&>", "2>", ">|", "1>", "<>", ">&", "&>>", "3>"]),
    st.sampled_from(
        ["b", " b", " 'b'", ' "b"', " ./b", " /dev/nul", "\\\nb", " $b", " b*", " ~/b"]
    ),
    st.booleans(),
)
def test_redirect_to_a_file_is_never_allowed(
    parts: list[str], separator: str, operator: str, target: str, first: bool
) -> None:
    policy = Policy(Path("/nonexistent/p"), Path("/nonexistent"))
    writer = f"{operator}{target} ls" if first else f"ls {operator}{target}"
    command = separator.join([*(part for part in parts if "#" not in part), writer])
    assert judge("Bash", {"command": command}, policy).verdict == "ask"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_quoted_text_is_data(text: str) -> None:
    policy = Policy(Path("/"), Path("/nonexistent"))
    visible = "".join(letter for letter in text if " " <= letter <= "~" and letter != "'")
    assert judge("Bash", {"command": f"grep -q 'x{visible}' a.txt"}, policy).verdict == "allow"
