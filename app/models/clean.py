"""Make outgoing values safe to encode (cases/B07): a request must always go out."""

from __future__ import annotations

from typing import Any, cast

REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """`text` with lone surrogates and NULs replaced by U+FFFD; itself when there are none.

    Two surrogates that form a pair are joined to the character they stand for.
    """
    if text.isascii():
        return text.replace("\0", REPLACEMENT)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", REPLACEMENT)


def clean(value: Any) -> Any:
    """A JSON value with every string cleaned; whatever needs no change stays the same object."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        source = cast("dict[str, Any]", value)
        cleaned = {clean_text(key): clean(item) for key, item in source.items()}
        same = all(
            new_key == key and cleaned[new_key] is item
            for new_key, (key, item) in zip(cleaned, source.items(), strict=False)
        )
        return source if same and len(cleaned) == len(source) else cleaned
    if isinstance(value, (list, tuple)):
        items = cast("list[Any] | tuple[Any, ...]", value)
        renewed = [clean(item) for item in items]
        return items if all(a is b for a, b in zip(renewed, items, strict=True)) else renewed
    return value
