"""`reverie dream`: memory that is put in order (spec/dream.md, spec/cli.md)."""

from __future__ import annotations

import argparse
import asyncio
import signal
from datetime import datetime

from app.agent.caller import Purpose
from app.agent.permission import hidden_from_search
from app.agent.remembering import documents_of
from app.assembly import choose_provider, make_caller, session_policy
from app.background.dream import lock
from app.background.dream.dreamer import Dreamer, Skipped
from app.background.dream.place import place_of
from app.background.dream.publish import hunks_of, settled, shown
from app.background.dream.record import Dream, DreamLog
from app.background.dream.schedule import Schedule
from app.background.ledger import Ledger
from app.cli.events import usage_keys
from app.cli.opening import find_installation
from app.cli.output import JsonObject, note, print_json, print_lines
from app.cli.parser import Parser
from app.config import Settings
from app.dream_desk import accept, discard, dreaming, take_back, told
from app.errors import ReverieError
from app.installation import Installation, Options, model_name, small_model_of
from app.models.client import WAYS_IN
from app.models.errors import NoCredentials
from app.models.provider import Usage
from app.models.usage import cost_usd, price_table
from app.plain_text import plain_line

SKIPPED, INTERRUPTED = 3, 130


def run_dream(words: list[str]) -> int:
    """Carry out `reverie dream …`; returns the exit code. Raises `UsageError`, `ReverieError`."""
    if not words or words == ["--json"]:
        words = ["status", *words]
    arguments = _parser().parse_args(words)
    options = Options(model=getattr(arguments, "model", None))
    here = find_installation()
    settings = here.settings(options).settings
    actions = {
        "status": _status,
        "now": _now,
        "log": _list,
        "show": _show,
        "accept": _accept,
        "discard": _discard,
        "revert": _revert,
    }
    return actions[arguments.action or "status"](here, settings, options, arguments)


def _parser() -> Parser:
    parser = Parser(prog="reverie dream", description="Memory that is put in order.")
    actions = parser.add_subparsers(
        dest="action", metavar="status|now|log|show|accept|discard|revert"
    )
    made = {
        "status": actions.add_parser("status", help="what holds a dream back, and the last one"),
        "now": actions.add_parser(
            "now", help="dream in the foreground; exit 3 when skipped or held"
        ),
        "log": actions.add_parser("log", help="all dreams, newest first"),
        "show": actions.add_parser("show", help="what a dream has changed"),
        "accept": actions.add_parser("accept", help="publish a dream that is held"),
        "discard": actions.add_parser("discard", help="throw a dream that is held away"),
        "revert": actions.add_parser("revert", help="take a dream back; later edits stay"),
    }
    made["now"].add_argument("--model", metavar="NAME", help="the model that dreams")
    for name in ("show", "accept", "discard", "revert"):
        made[name].add_argument("id", metavar="ID", help="as `dream log` says it, or its beginning")
    made["revert"].add_argument("files", nargs="*", metavar="FILE", help="only these documents")
    for each in made.values():
        each.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def _status(
    here: Installation, settings: Settings, _options: Options, arguments: argparse.Namespace
) -> int:
    place = place_of(here, settings)
    lock.recover(place.memory, here.clock, note)
    schedule = Schedule(
        place.memory,
        place.sessions,
        here.clock,
        lambda: settings.dream,
        lambda: _why_off(settings),
        lambda: False,
    )
    gates = schedule.gates("", lock.lock_words(place.memory, here.clock))
    dreams = DreamLog(place.dreams).all()
    last = shown(dreams[0], documents_of(here, settings)) if dreams else None
    if arguments.json:
        told_of = [{"name": g.name, "holds": g.holds, "detail": g.detail} for g in gates]
        print_json({"gates": told_of, "last": _summary(last) if last else None})
        return 0
    width = max(len(gate.name) for gate in gates)
    print_lines(
        *(f"{'open  ' if g.holds else 'closed'}  {g.name:<{width}}  {g.detail}" for g in gates),
        f"Last dream: {last.id}, {last.status}." if last else "No dream yet.",
    )
    return 0


def _why_off(settings: Settings) -> str:
    if not settings.auto_memory:
        return "memory is off (`auto_memory`)"
    return "" if settings.dream.enabled else "switched off in the settings"


def _now(
    here: Installation, settings: Settings, options: Options, arguments: argparse.Namespace
) -> int:
    place = place_of(here, settings)
    log = DreamLog(place.dreams)
    known = {dream.id for dream in log.all()}
    try:
        lock.recover(place.memory, here.clock, note)
        made = asyncio.run(_dream(here, settings, options, quiet=arguments.json))
    except Skipped as error:
        status, reason = "skipped", str(error)
    except (KeyboardInterrupt, asyncio.CancelledError):
        status, reason = "aborted", "It was stopped."
    except ReverieError as error:
        if isinstance(error, NoCredentials) and not arguments.json:
            raise
        status, reason = "failed", str(error)
    else:
        told(place, made, here.clock.now())
        return _tell(_summary(made), arguments)
    begun = next((dream for dream in log.all() if dream.id not in known), Dream("", ""))
    return _tell({**_summary(begun), "status": status, "reason": reason}, arguments)


async def _dream(here: Installation, settings: Settings, options: Options, *, quiet: bool) -> Dream:
    if off := _why_off(settings):
        raise Skipped(off)
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
    model = model_name(settings)
    credentials = await asyncio.to_thread(here.credentials, settings)
    provider = choose_provider(model, here, settings, credentials)
    if provider.name == "local":
        raise Skipped("the built-in small model cannot dream")
    if provider.name == "anthropic" and credentials is None:
        raise NoCredentials("There is no key for Claude.", todo=WAYS_IN)
    chosen = None if options.model else settings.dream.model or small_model_of(here, settings)
    caller = make_caller(here, options, model, provider, ())
    caller = dreaming(caller, chosen)
    place, documents = place_of(here, settings), documents_of(here, settings)
    ledger, prices = Ledger(here.places.data), price_table(settings.prices)

    def measure(
        model: str, usage: Usage, began: datetime, purpose: Purpose = "dream"
    ) -> float | None:
        cost = cost_usd(model, usage, began, prices)
        try:
            ledger.add(purpose, "", model, usage, cost, began)
        except ReverieError as error:
            note(str(error))
        return cost

    schedule = Schedule(
        place.memory,
        place.sessions,
        here.clock,
        lambda: settings.dream,
        lambda: "",
        lambda: False,
    )
    try:
        dreamer = Dreamer(
            place,
            documents,
            here.clock,
            settings.dream,
            caller,
            measure,
            _Lines(quiet=quiet),
            hidden_from_search(session_policy(here, options, settings)),
        )
        return await dreamer.dream(await asyncio.to_thread(schedule.touched, ""))
    finally:
        documents.store.close()
        ledger.close()
        await provider.close()


class _Lines:
    """Says on stderr how a dream goes."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def say(self, line: str) -> None:
        """A line of progress."""
        if not self._quiet:
            note(line)

    def enter(self, phase: str) -> None:
        """Another phase begins."""

    def touched(self, file: str) -> None:
        """A document of the copy was changed; the end says it."""


def _list(
    here: Installation, settings: Settings, _options: Options, arguments: argparse.Namespace
) -> int:
    documents = documents_of(here, settings)
    dreams = [shown(each, documents) for each in DreamLog(place_of(here, settings).dreams).all()]
    if arguments.json:
        print_json({"dreams": [_summary(each) for each in dreams]})
    elif not dreams:
        print_lines("No dream yet.")
    else:
        print_lines(*(_line(each) for each in dreams))
    return 0


def _line(dream: Dream) -> str:
    files = f"{len(dream.files)} file{'s' * (len(dream.files) != 1)}"
    return plain_line(f"{dream.id}  {dream.status:<10}  {files:<9}  {dream.reason or dream.said}")


def _show(
    here: Installation, settings: Settings, _options: Options, arguments: argparse.Namespace
) -> int:
    dream = shown(
        DreamLog(place_of(here, settings).dreams).load(arguments.id), documents_of(here, settings)
    )
    if arguments.json:
        files = [
            {
                "name": each.name,
                "state": each.state,
                "before": each.before,
                "after": each.after,
                "evidence": list(each.evidence),
            }
            for each in dream.files
        ]
        print_json({**_summary(dream), "files": files, "said": dream.said})
        return 0
    lines = [_line(dream)]
    for each in dream.files:
        lines += ["", plain_line(f"{each.name}  {each.state}")]
        lines += [plain_line(f"  seen in: {words}") for words in each.evidence]
        for before, after, start in hunks_of(each):
            lines.append(f"@@ line {start} @@")
            lines += [plain_line(f"-{line.rstrip()}") for line in before]
            lines += [plain_line(f"+{line.rstrip()}") for line in after]
    print_lines(*lines)
    return 0


def _accept(
    here: Installation, settings: Settings, _options: Options, arguments: argparse.Namespace
) -> int:
    place, documents = place_of(here, settings), documents_of(here, settings)
    made = accept(DreamLog(place.dreams), documents, arguments.id)
    told(place, made, here.clock.now())
    return _tell(_summary(made), arguments)


def _discard(
    here: Installation, settings: Settings, _options: Options, arguments: argparse.Namespace
) -> int:
    log = DreamLog(place_of(here, settings).dreams)
    made = discard(log, documents_of(here, settings), arguments.id)
    _tell(_summary(made), arguments)
    return 0


def _revert(
    here: Installation, settings: Settings, _options: Options, arguments: argparse.Namespace
) -> int:
    place, documents = place_of(here, settings), documents_of(here, settings)
    log = DreamLog(place.dreams)
    before = settled(log.load(arguments.id), documents)
    made, left = take_back(log, documents, arguments.id, arguments.files)
    if arguments.json:
        print_json({**_summary(made), "left_alone": left})
    else:
        names = ", ".join(name for name in before.touched if name not in made.touched)
        print_lines(f"Taken back: {names or 'nothing'}.", *left)
    return int(bool(left))


def _summary(dream: Dream) -> JsonObject:
    return {
        "status": dream.status,
        "reason": dream.reason,
        "id": dream.id,
        "started": dream.started,
        "ended": dream.ended,
        "files_touched": [each.name for each in dream.files],
        "sessions_reviewed": len(dream.sessions),
        "daily_logs": list(dream.daily_logs),
        "usage": usage_keys(dream.usage),
        "cost_usd": dream.cost_usd,
        "model": dream.model,
    }


def _tell(ended: JsonObject, arguments: argparse.Namespace) -> int:
    """Say how it ended; returns the exit code of spec/cli.md."""
    status = str(ended["status"])
    if arguments.json:
        print_json(ended)
    else:
        files = ", ".join(ended.get("files_touched", ()))
        print_lines(" ".join(filter(None, [f"{status}:", files and f"{files}.", ended["reason"]])))
    codes = {"completed": 0, "skipped": SKIPPED, "held": SKIPPED, "aborted": INTERRUPTED}
    return codes.get(status, 1)
