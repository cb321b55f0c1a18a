"""`reverie sessions export`: a session for other programs, or for people."""

from __future__ import annotations

import sys
from pathlib import Path

from app.cli.output import json_text, print_bytes, print_json, print_lines
from app.cli.transcript import Transcript
from app.errors import ReverieError
from app.paths import create_private, write_private
from app.sessions.export import markdown_of

FORMATS = ("markdown", "json", "jsonl")


def export(
    transcript: Transcript, form: str, output: Path | None, *, force: bool, as_json: bool
) -> int:
    """Write a session to stdout or to `output`; returns the exit code.

    Raises `ReverieError` for a file that is there already, unless `force`.
    """
    content = _content(transcript, form)
    facts = {"session_id": transcript.session_id, "format": form, "bytes": len(content)}
    if output is not None:
        _write(output, content, force=force)
        if as_json:
            print_json(facts | {"output": str(output)})
        else:
            print_lines(f"Exported to {output}.")
    elif as_json:
        print_json(facts | {"content": content.decode("utf-8", "replace")})
    elif sys.stdout.isatty():
        print_lines(*content.decode("utf-8", "replace").removesuffix("\n").split("\n"))
    else:
        print_bytes(content)
    return 0


def _content(transcript: Transcript, form: str) -> bytes:
    records = transcript.parsed.records
    if form == "jsonl":
        return b"".join(record.raw + b"\n" for record in records)
    if form == "json":
        document = {
            "session_id": transcript.session_id,
            "title": transcript.title,
            "records": [record.data for record in records],
        }
        try:
            return f"{json_text(document, indent=2)}\n".encode()
        except RecursionError:
            raise ReverieError(
                "A record of this session is nested too deeply to be written in this form.",
                todo="Take --format jsonl, which gives the records as they are.",
            ) from None
    view = transcript.view
    return markdown_of(view.graph, view.leaf, transcript.title).encode("utf-8", "replace")


def _write(file: Path, content: bytes, *, force: bool) -> None:
    if force:
        write_private(file, content)
        return
    try:
        create_private(file, content)
    except FileExistsError:
        raise ReverieError(
            f"{file} is there already.",
            kept="It was not changed.",
            todo="Choose another name, or overwrite it with --force.",
        ) from None
