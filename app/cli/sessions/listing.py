"""`reverie sessions list` and `search`: which sessions there are, and which hold a text."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from app.cli.output import JsonObject, note, print_json, print_lines
from app.errors import UsageError
from app.installation import Installation, Options
from app.models.spending import tariff_of
from app.plain_text import cut
from app.sessions.glance import SessionSummary
from app.sessions.listing import Scope, complete, list_sessions, remember
from app.sessions.search import Hit, Query, search_sessions

_NOTHING = {
    "project": "There is no conversation in this folder yet.",
    "worktrees": "There is no conversation in this repository yet.",
    "all": "There is no conversation yet.",
}


def show_list(here: Installation, scope: Scope, *, as_json: bool) -> int:
    """Print the sessions of a scope, newest first; returns the exit code."""
    tariff = tariff_of(here.settings(Options()).settings)
    found = list_sessions(here.places, here.folder, scope, tariff)
    if as_json:
        print_json({"sessions": [entry(each) for each in _exactly(here, found)]})
    elif not found:
        print_lines(_NOTHING[scope])
    else:
        print_lines(*(_row(each, with_folder=scope != "project") for each in found))
        remember(found, tariff)
    return 0


def _exactly(here: Installation, found: list[SessionSummary]) -> list[SessionSummary]:
    """The same sessions with their branches and costs, big ones too."""
    tariff = tariff_of(here.settings(Options()).settings)
    known = {each.path: each for each in complete(found, tariff)}
    return [known.get(each.path, each) for each in found]


def entry(each: SessionSummary) -> JsonObject:
    """A session with the keys of spec/cli.md."""
    return {
        "session_id": each.session_id,
        "title": each.title,
        "first_prompt": each.first_prompt,
        "updated_at": datetime.fromtimestamp(each.updated_at, UTC).isoformat(timespec="seconds"),
        "branches": each.branches,
        "size": each.size,
        "cost_usd": each.cost_usd,
        "status": each.status,
        "path": str(each.path),
        "cwd": each.cwd,
        "git_branch": each.git_branch,
    }


def _row(each: SessionSummary, *, with_folder: bool) -> str:
    when = datetime.fromtimestamp(each.updated_at, UTC).astimezone()
    title = cut(each.title or "(empty)", 60)
    row = f"{each.session_id}  {when:%Y-%m-%d %H:%M}  {each.status:<11}  {title}"
    return f"{row}  {each.cwd}" if with_folder and each.cwd else row


def show_hits(here: Installation, text: str, scope: Scope, *, as_json: bool) -> int:
    """Print where a text occurs, in text mode as it is found; returns the exit code.

    Raises `UsageError` when nothing is sought.
    """
    if not Query(text).words:
        raise UsageError("Give a word to search for.")
    tariff = tariff_of(here.settings(Options()).settings)
    found = list_sessions(here.places, here.folder, scope, tariff)
    missed: set[Path] = set()
    if as_json:
        print_json({"sessions": _with_hits(here, found, text, missed)})
    else:
        _print_hits(found, text, missed)
    for file in sorted(missed):
        note(f"{file} could not be searched to its end.")
    return 0


def _print_hits(found: list[SessionSummary], text: str, missed: set[Path]) -> None:
    titles = {each.path: each.title for each in found}
    count = 0
    for hit in search_sessions(found, text, missed):
        count += 1
        print_lines(f"{hit.session_id}  {cut(titles[hit.path], 30):<30}  {hit.role}: {hit.snippet}")
    if not count:
        print_lines(f"No session here holds “{text}”.")


def _with_hits(
    here: Installation, found: list[SessionSummary], text: str, missed: set[Path]
) -> list[JsonObject]:
    hits: dict[str, list[Hit]] = {}
    for hit in search_sessions(found, text, missed):
        hits.setdefault(str(hit.path), []).append(hit)
    holding = [each for each in found if str(each.path) in hits]
    return [
        entry(each)
        | {
            "hits": [
                {"uuid": hit.uuid or None, "role": hit.role, "snippet": hit.snippet}
                for hit in hits[str(each.path)]
            ]
        }
        for each in _exactly(here, holding)
    ]
