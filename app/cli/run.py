"""From the words of a command line to its exit code; every failure ends here as one sentence."""

from __future__ import annotations

import gc
import logging
import sys
import traceback

from app.cli.output import leave_stdout, note, open_closed_streams
from app.errors import ReverieError, UsageError

_log = logging.getLogger(__name__)

INTERRUPTED = 130
"""The exit code after SIGINT (spec/cli.md)."""


def run(words: list[str]) -> int:
    """Carry out a command line; returns its exit code (spec/cli.md)."""
    open_closed_streams()
    # Without a handler of its own the log would go to stderr.
    logging.getLogger("app").addHandler(logging.NullHandler())
    try:
        code = _dispatch(words)
    except UsageError as error:
        note(str(error))
        code = 2
    except ReverieError as error:
        note(str(error))
        code = 1
    except KeyboardInterrupt as interrupt:
        if said := str(interrupt):
            note(said)
        code = INTERRUPTED
    except BrokenPipeError:
        code = 0
    except Exception as error:  # noqa: BLE001 - a boundary: a fault of ours is told in one sentence too
        code = 1
        _log.exception("the command failed")
        if "--debug" in words:
            traceback.print_exc()
        else:
            kind = type(error).__name__
            note(f"Reverie failed by a fault of its own ({kind}: {error}); --debug shows where.")
    leave_stdout()
    return code


def _dispatch(words: list[str]) -> int:
    plain = [word for word in words if word != "--debug"]  # goes with every subcommand
    rest = plain[1:]
    match plain[0] if plain else "":
        case "sessions":
            from app.cli.sessions_command import run_sessions

            return run_sessions(rest)
        case "permissions":
            from app.cli.permissions_command import run_permissions

            return run_permissions(rest)
        case "memory":
            from app.cli.memory_command import run_memory

            return run_memory(rest)
        case "dream":
            from app.cli.dream_command import run_dream

            return run_dream(rest)
        case "feedback":
            from app.cli.feedback_command import run_feedback

            return run_feedback(rest)
        case "ledger":
            from app.cli.ledger_command import run_ledger

            return run_ledger(rest)
        case "config":
            from app.cli.config_command import run_config

            return run_config(rest)
        case "doctor":
            from app.cli.doctor_command import run_doctor

            return run_doctor(rest)
        case _:
            return _open(words)


def _open(words: list[str]) -> int:
    from app.cli.parser import parse_flags

    flags = parse_flags(words)
    if flags.version:
        from app.sessions.envelope import VERSION

        sys.stdout.write(f"reverie {VERSION}\n")
        return 0
    from app.cli.opening import find_installation, log_to_file, options_from

    here = find_installation()
    if flags.debug:
        log_to_file(here.places)
    if flags.rewind_files is not None:
        from app.cli.rewind import run_rewind

        return run_rewind(here, flags)
    if flags.print:
        from app.cli.print_mode import run_print

        return run_print(here, flags)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal; use --print in a script or a pipe.")
    # Imports make objects and no garbage: collecting meanwhile costs 30 ms of the start. The app
    # turns it on again after its first frame.
    gc.disable()
    options = options_from(flags, here)
    loaded = here.settings(options)
    from app.main import run_app

    return run_app(here, options, loaded, debug=flags.debug)
