"""Ids and names of tools as the API takes them; other tools' sessions hold others, as `a|b`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import cast

from app.sessions.records import JsonObject

_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 128  # the Messages API's limit for the name of a tool


def name_for_api(messages: Iterable[JsonObject]) -> None:
    """Rename in place what the API would refuse; a call and its result stay a pair.

    The same id always gets the same new one, so that a cached request stays one.
    """
    for message in messages:
        for block in cast("list[JsonObject]", message["content"]):
            if block["type"] == "tool_use":
                block["id"] = _id(str(block["id"]))
                block["name"] = _REFUSED.sub("_", str(block["name"]))[:_LONGEST_NAME]
            elif block["type"] == "tool_result":
                block["tool_use_id"] = _id(str(block["tool_use_id"]))


def _id(own: str) -> str:
    changed = _REFUSED.sub("_", own)
    if changed == own:
        return own
    digest = hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{changed}_{digest}"
