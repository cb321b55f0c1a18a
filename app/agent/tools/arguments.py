"""Checks a tool's arguments against its schema before anything is done with them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from app.agent.tools.base import Tool, ToolFailure, ToolInput

_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list, tuple), "a list"),
    "object": ((dict,), "an object"),
}


def checked(tool: Tool, arguments: ToolInput) -> dict[str, Any]:
    """The arguments as a plain dict, known to fit `tool.schema`.

    Raises `ToolFailure` that names the first field that does not fit.
    """
    values = dict(arguments)
    _check_object(values, tool.schema, tool.name, "")
    return values


def title_of(arguments: ToolInput, name: str) -> str:
    """The first line of the argument `name` for a card, whatever the model put there."""
    value = arguments.get(name)
    if not isinstance(value, str):
        return ""
    return clean(value.strip().split("\n", 1)[0].strip())


def clean(text: str) -> str:
    """`text` without what no request may carry: NULs and lone surrogates become U+FFFD."""
    return re.sub("[\x00\ud800-\udfff]", "\ufffd", text)


def _check_object(
    values: Mapping[str, Any], schema: Mapping[str, Any], tool: str, place: str
) -> None:
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in values:
            raise ToolFailure(f"{tool}: the argument `{place}{name}` is missing.")
    for name, value in values.items():
        if name not in properties:
            known = ", ".join(f"`{known}`" for known in properties)
            raise ToolFailure(
                clean(f"{tool}: there is no argument `{place}{name}`; there are {known}.")
            )
        _check_value(value, properties[name], tool, f"{place}{name}")


def _check_value(value: Any, schema: Mapping[str, Any], tool: str, place: str) -> None:
    kinds, word = _KINDS[schema["type"]]
    is_stray_bool = isinstance(value, bool) and bool not in kinds
    if is_stray_bool or not isinstance(value, kinds):
        raise ToolFailure(f"{tool}: `{place}` must be {word}, not {_shown(value)}.")
    _check_limits(value, schema, tool, place)
    if schema["type"] == "array":
        items = cast("list[Any]", value)
        _check_count(len(items), schema, tool, place)
        for index, item in enumerate(items):
            _check_value(item, schema["items"], tool, f"{place}[{index}]")
    if schema["type"] == "object":
        _check_object(cast("dict[str, Any]", value), schema, tool, f"{place}.")


def _check_limits(value: Any, schema: Mapping[str, Any], tool: str, place: str) -> None:
    if "enum" in schema and value not in schema["enum"]:
        raise ToolFailure(f"{tool}: `{place}` must be one of {', '.join(schema['enum'])}.")
    if "minimum" in schema and value < schema["minimum"]:
        raise ToolFailure(f"{tool}: `{place}` must be {schema['minimum']} or more.")
    if "maximum" in schema and value > schema["maximum"]:
        raise ToolFailure(f"{tool}: `{place}` must be {schema['maximum']} or less.")
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        raise ToolFailure(f"{tool}: `{place}` must not be empty.")


def _check_count(count: int, schema: Mapping[str, Any], tool: str, place: str) -> None:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if count < least:
        raise ToolFailure(f"{tool}: `{place}` needs at least {least} entries, not {count}.")
    if most is not None and count > most:
        raise ToolFailure(f"{tool}: `{place}` takes at most {most} entries, not {count}.")


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    try:
        return clean(json.dumps(value, ensure_ascii=False))[:80]
    except (TypeError, ValueError):
        return type(value).__name__
