"""The flags of `reverie [PROMPT]` (spec/cli.md). Imports nothing heavy: `--help` is instant."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from app.errors import UsageError

PERMISSION_MODES = ("default", "acceptEdits", "plan", "bypassPermissions")

_SUBCOMMANDS = """\
subcommands (each has --help):
  sessions      look at transcripts: list, show, request
  memory        what is remembered of this project: list, read, write, history, check
  dream         memory that is put in order: status, now, log, show, accept, revert
  feedback      reports that wait for you: list, new, show, preview, send, export, serve
  ledger        what background work cost, by day and mechanism
  permissions   what the permission rules say of a tool call
  config        read and write settings
  doctor        what is wrong with this installation and how to mend it

exit codes: 0 success, 1 a failed run or a bad id, 2 bad usage, 3 conflict,
130 interrupted
"""


@dataclass(slots=True)
class Flags:
    """What was typed, as argparse fills it in."""

    prompt: str | None = None
    print: bool = False
    output_format: str = "text"
    input_format: str = "text"
    verbose: bool = False
    max_turns: int | None = None
    continue_: bool = False
    fork_session: bool = False
    resume: str | None = None
    """A session id; empty where only `--resume` was typed."""
    session_id: str | None = None
    model: str | None = None
    small_model: str | None = None
    permission_mode: str | None = None
    tools: list[str] | None = None
    allowed_tools: list[str] = field(default_factory=list[str])
    disallowed_tools: list[str] = field(default_factory=list[str])
    add_dir: list[str] = field(default_factory=list[str])
    append_system_prompt: str = ""
    settings: str | None = None
    rewind_files: str | None = None
    """The uuid of a prompt, or of a rewind, to whose state files go back."""
    dry_run: bool = False
    force: bool = False
    shell: bool = False
    """Whether a rewind also puts back what only shell commands changed."""
    no_session_persistence: bool = False
    dangerously_skip_permissions: bool = False
    debug: bool = False
    version: bool = False


class Parser(argparse.ArgumentParser):
    """Reports bad usage as `UsageError`: one sentence, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` in place of printing the usage and leaving."""
        raise UsageError(f"{message[:1].upper()}{message[1:]}; see `{self.prog} --help`.")


def parse_flags(words: list[str]) -> Flags:
    """The flags in `words`. Raises `UsageError`, also for flags that exclude each other."""
    flags = _parser().parse_args(words, namespace=Flags())
    if flags.continue_ and flags.resume is not None:
        raise UsageError("--continue and --resume name two sessions; give one of them.")
    old = flags.continue_ or flags.resume is not None
    if flags.fork_session and not old:
        raise UsageError("--fork-session needs the session to branch off: --resume or --continue.")
    if flags.session_id is not None and old and not flags.fork_session:
        raise UsageError("--session-id names a new session; it does not go with an old one.")
    if flags.rewind_files is not None:
        _check_rewind(flags)
        return flags
    if flags.dry_run or flags.force or flags.shell:
        raise UsageError("--dry-run, --force and --shell go with --rewind-files.")
    if flags.print and flags.resume == "":
        raise UsageError("--resume needs the id of a session in print mode.")
    if not flags.print:
        _refuse_print_flags(flags)
    elif flags.input_format == "stream-json" and flags.prompt is not None:
        raise UsageError(
            "With --input-format stream-json the prompts come on stdin, none as PROMPT."
        )
    return flags


def _check_rewind(flags: Flags) -> None:
    if not flags.resume and not flags.continue_:
        raise UsageError("--rewind-files needs the session: --resume ID.")
    if flags.fork_session or flags.prompt is not None or flags.session_id is not None:
        raise UsageError("--rewind-files goes with --resume ID alone, without a prompt or a fork.")
    if flags.output_format == "stream-json":
        raise UsageError("--rewind-files prints text or json.")


def _refuse_print_flags(flags: Flags) -> None:
    given = {
        "--output-format": flags.output_format != "text",
        "--input-format": flags.input_format != "text",
    }
    for name, is_given in given.items():
        if is_given:
            raise UsageError(f"{name} only works with --print.")


def split_names(values: Iterable[str]) -> tuple[str, ...]:
    """Tool names or rules, separated by commas or spaces; those inside parentheses stay."""
    names: list[str] = []
    for value in values:
        depth = 0
        name = ""
        for letter in value:
            if depth == 0 and (letter == "," or letter.isspace()):
                names.append(name)
                name = ""
                continue
            depth += {"(": 1, ")": -1}.get(letter, 0) if depth or letter == "(" else 0
            name += letter
        names.append(name)
    return tuple(name for name in names if name)


def _parser() -> Parser:
    parser = Parser(
        prog="reverie",
        description="Work with Claude: a full-screen terminal app, or --print for scripts.",
        epilog=_SUBCOMMANDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="the first prompt")
    parser.add_argument("-v", "--version", action="store_true", help="print the version and leave")
    _add_print_flags(parser)
    _add_session_flags(parser)
    _add_rewind_flags(parser)
    _add_model_flags(parser)
    _add_tool_flags(parser)
    return parser


def _add_print_flags(parser: Parser) -> None:
    group = parser.add_argument_group("print mode")
    group.add_argument(
        "-p",
        "--print",
        action="store_true",
        help="one turn without the app; what is piped in is added to PROMPT",
    )
    group.add_argument(
        "--output-format",
        choices=("text", "json", "stream-json"),
        help="the reply's text (default), one JSON document, or one JSON event a line",
    )
    group.add_argument(
        "--input-format",
        choices=("text", "stream-json"),
        help="stdin is text (default), or one user message in JSON a line, each a turn",
    )
    group.add_argument(
        "--verbose",
        action="store_true",
        help="text: name tool calls and retries on stderr; json: all events, not only the result",
    )
    group.add_argument(
        "--max-turns",
        type=positive_number,
        metavar="N",
        help="stop after N model calls in one turn",
    )


def _add_session_flags(parser: Parser) -> None:
    group = parser.add_argument_group("which session")
    group.add_argument(
        "-c",
        "--continue",
        dest="continue_",
        action="store_true",
        help="go on with this folder's newest session",
    )
    group.add_argument(
        "-r",
        "--resume",
        nargs="?",
        const="",
        metavar="ID|FILE",
        help="go on with this session, or with a file of any origin, which is only read; "
        "without ID in the app: the list of sessions",
    )
    group.add_argument(
        "--fork-session",
        action="store_true",
        help="with --resume or --continue: go on in a new session; the old one is left as it is",
    )
    group.add_argument("--session-id", metavar="UUID", help="the id of the new session")
    group.add_argument(
        "--no-session-persistence", action="store_true", help="leave no transcript behind"
    )


def _add_rewind_flags(parser: Parser) -> None:
    group = parser.add_argument_group("going back")
    group.add_argument(
        "--rewind-files",
        metavar="UUID",
        help="with --resume: put files back as they were at this message, and leave",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="with --rewind-files: only say what would happen"
    )
    group.add_argument(
        "--force",
        action="store_true",
        help="with --rewind-files: also over what somebody else changed since; it is kept",
    )
    group.add_argument(
        "--shell",
        action="store_true",
        help="with --rewind-files: also what only shell commands changed",
    )


def _add_model_flags(parser: Parser) -> None:
    group = parser.add_argument_group("model and settings")
    group.add_argument(
        "--model",
        metavar="NAME",
        help="a model of the server, or built in: local (small, offline), rehearsal (scripted)",
    )
    group.add_argument(
        "--demo",
        dest="model",
        action="store_const",
        const="rehearsal",
        help="the same as --model rehearsal",
    )
    group.add_argument("--small-model", metavar="NAME", help="the model of background work")
    group.add_argument("--append-system-prompt", metavar="TEXT", help="add to the system prompt")
    group.add_argument("--settings", metavar="FILE", help="a settings file that beats the others")
    group.add_argument(
        "--debug", action="store_true", help="write a log and show tracebacks of faults"
    )


def _add_tool_flags(parser: Parser) -> None:
    group = parser.add_argument_group("tools and permissions")
    group.add_argument(
        "--permission-mode",
        choices=PERMISSION_MODES,
        metavar="MODE",
        help=f"how much may happen without a question: {', '.join(PERMISSION_MODES)}",
    )
    group.add_argument(
        "--dangerously-skip-permissions",
        action="store_true",
        help="the same as --permission-mode bypassPermissions",
    )
    group.add_argument(
        "--tools", metavar="NAME", help="only these tools", nargs="+", action="extend"
    )
    group.add_argument(
        "--allowed-tools",
        "--allowedTools",
        metavar="RULE",
        help='calls that need no question, as in "Bash(git log:*)" Read',
        nargs="+",
        action="extend",
    )
    group.add_argument(
        "--disallowed-tools",
        "--disallowedTools",
        metavar="RULE",
        help="calls that are refused",
        nargs="+",
        action="extend",
    )
    group.add_argument(
        "--add-dir",
        metavar="FOLDER",
        help="further folders that count as the project",
        nargs="+",
        action="extend",
    )


def positive_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
