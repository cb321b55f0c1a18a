"""Drafts and reports that are only looked at, or written to a file: list, show, preview, export."""

from __future__ import annotations

import hashlib
import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any, cast

from app.background.feedback.configured import NoSink
from app.background.feedback.drafts import Draft
from app.background.feedback.payload import build
from app.background.feedback.redact import Finding
from app.background.feedback.sinks import export
from app.cli.feedback.call import Call, row
from app.cli.feedback.removed import MOST_TITLE
from app.cli.feedback.report import (
    attachment_keys,
    begins,
    report_of,
    secret_row,
    tell,
    wish_of,
)
from app.cli.output import note, print_bytes, print_json, print_lines
from app.plain_text import cut, laid_bare, plain


def show_list(call: Call, _arguments: Namespace) -> int:
    """Print the drafts, oldest first; returns the exit code, 1 when they could not be read."""
    found = call.listing()
    if found.trouble:
        note(found.trouble)
    for name in found.damaged:
        note(f"{call.outbox.folder / name} is no draft; it was put aside and is kept.")
    if call.as_json:
        sent = call.outbox.sent_reports()
        print_json(
            {
                "drafts": [row(draft) for draft in found.drafts],
                "damaged": list(found.damaged),
                "expired": [{"id": draft.id, "title": draft.title} for draft in found.expired],
                "sent": [
                    {"id": each.id, "remote_id": each.remote_id, "at": each.at, "sink": each.sink}
                    for each in sent
                ],
                "trouble": found.trouble or None,
            }
        )
    elif found.drafts:
        print_lines(*(_line(draft) for draft in found.drafts))
    elif not found.trouble:
        print_lines("There are no drafts.")
    return 1 if found.trouble and not found.drafts else 0


def _line(draft: Draft) -> str:
    title = cut(draft.title, MOST_TITLE)
    about = f"{draft.id}  {draft.status:<7}  {draft.created[:16]}  {draft.size:>6}  {title}"
    return f"{about}  ({draft.reason})" if draft.reason else about


def show(call: Call, arguments: Namespace) -> int:
    """Print a draft with its secrets struck out, and which these are; returns the exit code.

    Raises `DraftNotFound`.
    """
    draft = call.draft(arguments.id)
    payload = build(draft)
    leaving: dict[str, Any] = json.loads(payload.data)
    texts = {name: str(leaving[name]) for name in ("title", "category", "body", "evidence")}
    if call.as_json:
        secrets = [secret_row(finding) for finding in payload.findings]
        print_json({**row(draft), "project": draft.project or None, **texts, "findings": secrets})
        return 0
    facts = {
        "title": texts["title"],
        "status": draft.status,
        "reason": draft.reason,
        "category": texts["category"],
        "session": draft.session_id,
        "created": draft.created,
        "bytes": str(draft.size),
    }
    lines = [f"{name + ':':<10}{said}" for name, said in facts.items() if said]
    lines += ["", *plain(texts["body"]).split("\n")]
    if texts["evidence"]:
        lines += ["", "evidence:", *plain(texts["evidence"]).split("\n")]
    print_lines(*lines, *_secret_lines(payload.findings))
    return 0


def _secret_lines(findings: tuple[Finding, ...]) -> list[str]:
    if not findings:
        return []
    lines = [
        f"  {finding.key}  {finding.kind} in {finding.place}: {begins(finding)}"
        for finding in findings
    ]
    return ["", "Struck out when it leaves; --restore KEY keeps one:", *lines]


def preview(call: Call, arguments: Namespace) -> int:
    """Print exactly what `send` with the same flags would send; returns the exit code.

    Raises `UsageError`, `DraftNotFound` and what `report_of` raises.
    """
    wish = wish_of(arguments)
    draft = call.draft(arguments.id)
    try:
        sink = call.sink()
    except NoSink as error:
        note(f"{error.happened} This is what an export would hold.")
        sink = call.export_sink()
    payload = report_of(call, draft, wish, sink.budget)
    data = sink.encoded(payload)
    tell(payload)
    is_terminal = sys.stdout.isatty()
    if call.as_json:
        print_json(
            {
                "id": draft.id,
                "sink": sink.name,
                "target": sink.target,
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "data": data.decode(),
                "notes": list(payload.notes),
                "findings": [secret_row(finding) for finding in payload.findings],
                **attachment_keys(payload),
            }
        )
    elif arguments.form == "text" or (arguments.form is None and is_terminal):
        print_lines(*readable(json.loads(data)))
    elif is_terminal:
        print_lines(laid_bare(data.decode()))
    else:
        print_bytes(data)
    return 0


def readable(value: object, name: str = "", indent: str = "") -> Iterator[str]:
    """The lines of a JSON value for people, with nothing left out: texts as they are, indented."""
    label = f"{indent}{name if name in {'', '-'} else f'{name}:'}"
    inner = f"{indent}  " if name else indent
    if value and isinstance(value, (dict, list)):
        if name:
            yield label
        members = (
            cast("dict[str, object]", value).items()
            if isinstance(value, dict)
            else (("-", each) for each in cast("list[object]", value))
        )
        for key, each in members:
            yield from readable(each, key, inner)
    elif isinstance(value, str) and "\n" in (text := laid_bare(value)):
        yield label
        yield from (f"{inner}{line}" for line in text.split("\n"))
    else:
        yield f"{label} {laid_bare(value) if isinstance(value, str) else json.dumps(value)}"


def export_report(call: Call, arguments: Namespace) -> int:
    """Write the report to a file of its own; the draft stays. Returns the exit code.

    Raises `UsageError`, `DraftNotFound`, what `report_of` raises, and `StorageError` when the file
    is there already or cannot be written.
    """
    wish = wish_of(arguments)
    draft = call.draft(arguments.id)
    sink = call.export_sink()
    payload = report_of(call, draft, wish, sink.budget)
    data = sink.encoded(payload)
    tell(payload)
    wanted = call.here.folder / (arguments.file or f"{draft.id}.json")
    file = export(wanted, draft.id, data)
    if call.as_json:
        print_json(
            {
                "id": draft.id,
                "path": str(file),
                "bytes": len(data),
                "notes": list(payload.notes),
                **attachment_keys(payload),
            }
        )
    else:
        print_lines(f"Exported to {file}; the draft stays.")
    return 0
