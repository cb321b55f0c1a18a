"""Looks into objects of unknown shape, and the content blocks that several tools share."""

from __future__ import annotations

import json
import re
from typing import cast

from app.sessions.records import JsonObject

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types that the API takes; a request with any other is refused."""

_DATA_URL = re.compile(r"data:(image/[a-z0-9.+-]+);base64,(.+)", re.DOTALL)


def text_at(data: JsonObject, key: str) -> str:
    """The string under a key; empty when there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def object_at(data: JsonObject, key: str) -> JsonObject:
    """The object under a key; empty when there is none."""
    value = data.get(key)
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def objects_at(data: JsonObject, key: str) -> list[JsonObject]:
    """The objects in the list under a key; whatever else it holds is left out."""
    value = data.get(key)
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    return [cast("JsonObject", item) for item in items if isinstance(item, dict)]


def number_at(data: JsonObject, key: str) -> int:
    """The whole number under a key, 0 when there is none."""
    value = data.get(key)
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else 0


def arguments_from(value: object) -> JsonObject:
    """A tool call's arguments as an object, also where they are a string of JSON or no JSON."""
    if isinstance(value, dict):
        return cast("JsonObject", value)
    parsed: object = value
    if isinstance(value, str):
        try:
            parsed = json.loads(value or "{}", strict=False)
        except (ValueError, RecursionError):
            return {"arguments": value}
    if parsed is None:
        return {}
    return cast("JsonObject", parsed) if isinstance(parsed, dict) else {"arguments": parsed}


def text_block(text: str) -> JsonObject:
    """A block of text."""
    return {"type": "text", "text": text}


def image_block(media_type: str, base64: str) -> JsonObject:
    """A picture in the API's form."""
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": media_type, "data": base64},
    }


def image_from_url(url: str) -> JsonObject | None:
    """A picture from a data or web address; None when it is none that can be sent."""
    match = _DATA_URL.fullmatch(url)
    if match and match[1] in PICTURES:
        return image_block(match[1], match[2])
    if url.startswith("https://"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    return None
