"""Settings: one typed schema, read in layers; what is wrong is named and the rest still counts.

Layers, strongest first: managed, flags, project-local, project, user (spec/cli.md, Settings).
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec

from app.background_settings import (
    AwaySettings,
    BackgroundSettings,
    Dollars,
    DreamSettings,
    FeedbackSettings,
    PostTurnSettings,
    SuggestionSettings,
)
from app.errors import SettingsError
from app.paths import Places, read_small, write_private
from app.project_limits import NARROWS, WIDENS_TRUST

PermissionModeName: TypeAlias = Literal["default", "acceptEdits", "plan", "bypassPermissions"]


class PermissionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[permissions]`: rules such as `Bash(npm test:*)`; lists of all layers are joined."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    mode: PermissionModeName = "default"
    """The mode a session starts in."""


class CompactSettings(msgspec.Struct, frozen=True, kw_only=True):
    """When a conversation is summed up by itself (spec/sessions.md, Compact)."""

    auto: bool = True
    at: Annotated[float, msgspec.Meta(gt=0.2, le=1)] = 0.85
    """Share of the model's window; the summary is begun a tenth of the window earlier."""
    keep_tokens: Annotated[int, msgspec.Meta(ge=0)] = 10_000
    """Tokens of the last whole turns that are kept word for word, at most."""


class MemorySettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[memory]`: what the model may do with what is remembered (spec/memory.md)."""

    writes: Literal["ask", "allow", "deny"] = "ask"
    """Whether the model asks before it changes memory, changes it silently, or only reads it."""
    folder: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """Another folder for the documents; None = the project's own in the data folder."""


class ModelPrice(msgspec.Struct, frozen=True, kw_only=True):
    """`[prices."model-name"]`: USD per million tokens, for models the built-in table lacks."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write_5m: Dollars | None = None
    cache_write_1h: Dollars | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its default."""

    model: str | None = None
    """The main model; None = the built-in default."""
    small_model: str | None = None
    base_url: str | None = None
    """A server that speaks the Messages API; `ANTHROPIC_BASE_URL` beats it."""
    permissions: PermissionSettings = PermissionSettings()
    compact: CompactSettings = CompactSettings()
    theme: str = "dusk"
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    keys: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """`[keys]`: binding id to keys, for example `"chat.tasks" = "f6"`."""
    titles: bool = True
    """Whether the small model names a new session after its first turn."""
    checkpoints: bool = True
    """Whether what files held is kept before tools change them, so that one can go back."""
    auto_memory: bool = True
    """Whether the project's memory is read into requests and may be written by the model."""
    memory: MemorySettings = MemorySettings()
    background: BackgroundSettings = BackgroundSettings()
    away_summary: AwaySettings = AwaySettings()
    suggestion: SuggestionSettings = SuggestionSettings()
    post_turn: PostTurnSettings = PostTurnSettings()
    dream: DreamSettings = DreamSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    resume_interrupted_turn: bool = False
    """Whether a turn that was cut off goes on by itself when its session is opened again."""
    cleanup_period_days: Annotated[int, msgspec.Meta(ge=0)] = 30
    """Sessions older than this are removed at start; 0 = never."""
    max_turns: int | None = None
    """Model calls in one turn before it stops; None = no limit."""
    prices: Mapping[str, ModelPrice] = msgspec.field(default_factory=dict[str, ModelPrice])


@dataclass(frozen=True, slots=True)
class Problem:
    """A setting that does not count: where it stands and why."""

    file: Path
    line: int
    key: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {self.key + ': ' if self.key else ''}{self.reason}"


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of settings: its leaf values by dotted key."""

    name: Literal["managed", "flags", "local", "project", "user"]
    file: Path | None
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, where each came from, and what did not count."""

    settings: Settings
    origin: Mapping[str, str]
    """Dotted key to the name of the layer that set it."""
    problems: tuple[Problem, ...]


def settings_files(places: Places, project: Path | None) -> list[tuple[str, Path]]:
    """The files in reading order, weakest first; `project` None = no project layers."""
    files = [("user", places.settings)]
    if project is not None:
        files += [
            ("project", project / ".reverie" / "settings.toml"),
            ("local", project / ".reverie" / "settings.local.toml"),
        ]
    return files


def load_settings(
    places: Places,
    *,
    project: Path | None = None,
    extra: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    managed: Path | None = None,
) -> Loaded:
    """Read all layers.

    `project` is the folder whose `.reverie` counts: None while the folder is not trusted. `extra`
    is the file of `--settings`, `flags` are values by dotted key from the command line.
    """
    problems: list[Problem] = []
    layers: list[Layer] = []
    for name, file in settings_files(places, project):
        layers.append(_read_layer(cast("Any", name), file, problems))
    if extra is not None:
        layers.append(_read_layer("flags", extra, problems, must_exist=True))
    layers.append(Layer("flags", None, flags or {}))
    if managed is not None:
        layers.append(_read_layer("managed", managed, problems))
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for layer in layers:
        for key, value in layer.values.items():
            joins = key in {"permissions.allow", "permissions.ask", "permissions.deny"}
            merged[key] = (*merged.get(key, ()), *value) if joins else value
            origin[key] = layer.name
    return Loaded(_build(merged), origin, tuple(problems))


def _build(values: Mapping[str, Any]) -> Settings:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        table, leaf = _split(key)
        (nested.setdefault(table, {}) if table else nested)[leaf] = value
    return msgspec.convert(nested, Settings)


def _read_layer(
    name: Literal["managed", "flags", "local", "project", "user"],
    file: Path,
    problems: list[Problem],
    *,
    must_exist: bool = False,
) -> Layer:
    values: dict[str, Any] = {}
    try:
        text = read_small(file).decode("utf-8-sig")
        document = tomllib.loads(text)
    except FileNotFoundError:
        if must_exist:
            problems.append(Problem(file, 0, "", "there is no such file"))
        return Layer(name, file, {})
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(file, 0, "", f"it cannot be read: {error}"))
        return Layer(name, file, {})
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        problems.append(Problem(file, int(place[1]) if place else 0, "", f"not TOML: {error}"))
        return Layer(name, file, {})
    in_project = name in {"project", "local"}
    for key, value in flatten(document):
        reason = check_value(key, value)
        if reason is None and in_project and _widens_trust(key, value):
            reason = "a project's file may not set this; put it into your own settings"
        if (
            reason is None
            and name == "project"
            and key == "permissions.allow"
            and any(str(rule).partition("(")[0].strip() == "memory" for rule in value)
        ):
            reason = "a project's file may not allow changes to memory"
        if reason is None:
            values[key] = value
        else:
            problems.append(Problem(file, _line_of(text, key), key, reason))
    return Layer(name, file, values)


def _widens_trust(key: str, value: object) -> bool:
    return (
        _split(key)[0] in WIDENS_TRUST
        or key in WIDENS_TRUST
        or (key == "permissions.mode" and value == "bypassPermissions")
        or (key in NARROWS and value != NARROWS[key])
    )


def flatten(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Leaf values by dotted key."""
    for key, value in document.items():
        field = _FIELDS.get(key)
        if isinstance(value, dict) and (key in _FREE_TABLES or _is_table(field)):
            for leaf, item in cast("dict[str, Any]", value).items():
                yield f"{key}.{leaf}", item
        else:
            yield key, value


def _is_table(field: object) -> bool:
    return isinstance(field, type) and issubclass(field, msgspec.Struct)


def _fields_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(struct)}


_FIELDS = _fields_of(Settings)
_FREE_TABLES: Mapping[str, object] = {"keys": str, "prices": ModelPrice}
"""Tables whose names are the person's own, and what each of them holds."""


def setting_keys() -> list[str]:
    """Every dotted key of the schema."""
    keys: list[str] = []
    for name, kind in _FIELDS.items():
        keys += [f"{name}.{leaf}" for leaf in _fields_of(kind)] if _is_table(kind) else [name]
    return keys


def _split(key: str) -> tuple[str, str]:
    """A dotted key as table and leaf; the names in a free table may hold dots of their own."""
    first, dot, rest = key.partition(".")
    return (first, rest) if dot else ("", first)


def _kind_of(key: str) -> object | None:
    table, leaf = _split(key)
    if table in _FREE_TABLES:
        return _FREE_TABLES[table]
    if not table:
        return _FIELDS.get(leaf) if not _is_table(_FIELDS.get(leaf)) else None
    struct = _FIELDS.get(table)
    return _fields_of(cast("Any", struct)).get(leaf) if _is_table(struct) else None


def check_value(key: str, value: object) -> str | None:
    """Why this key cannot hold this value, or None when it can."""
    kind = _kind_of(key)
    if kind is None:
        near = difflib.get_close_matches(key, setting_keys(), 1)
        return "there is no such setting" + (f"; did you mean {near[0]}?" if near else "")
    try:
        msgspec.convert(value, cast("Any", kind))
    except msgspec.ValidationError as error:
        return str(error)
    return None


def value_of(settings: Settings, key: str) -> Any:
    """The value in force of a dotted key. Raises `SettingsError` for an unknown one."""
    if _kind_of(key) is None:
        raise SettingsError(check_value(key, None) or key)
    table, leaf = _split(key)
    if table in _FREE_TABLES:
        return msgspec.to_builtins(getattr(settings, table).get(leaf))
    return msgspec.to_builtins(getattr(getattr(settings, table) if table else settings, leaf))


def parse_value(key: str, text: str) -> Any:
    """The value a person typed for a key: TOML, or a bare string where the key takes one.

    Raises `SettingsError`.
    """
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    reason = check_value(key, value)
    if reason is not None and check_value(key, text) is None:
        return text
    if reason is not None:
        raise SettingsError(f"{key}: {reason}.", kept="Nothing was changed.")
    return value


def set_value(file: Path, key: str, value: Any) -> None:
    """Write one setting into a file; its comments and everything else stay.

    Raises `SettingsError` when the file is not TOML, `StorageError` when it cannot be written.
    """
    import tomlkit
    import tomlkit.exceptions

    try:
        document = tomlkit.parse(file.read_text("utf-8")) if file.exists() else tomlkit.document()
    except (tomlkit.exceptions.ParseError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{file} is not readable TOML: {error}.",
            kept="It was not changed.",
            todo="Mend it first: `reverie config check` names the place.",
        ) from error
    table, leaf = _split(key)
    holder: Any = document
    if table:
        if table not in document:
            document[table] = tomlkit.table()
        holder = document[table]
    holder[leaf] = list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value
    write_private(file, tomlkit.dumps(document).encode())


def with_value(settings: Settings, key: str, value: Any) -> Settings:
    """The settings with another value of a dotted key."""
    table, leaf = _split(key)
    if not table:
        return msgspec.structs.replace(settings, **{leaf: value})
    held = getattr(settings, table)
    free = {**held, leaf: value} if table in _FREE_TABLES else None
    changed = msgspec.structs.replace(held, **{leaf: value}) if free is None else free
    return msgspec.structs.replace(settings, **{table: changed})


def own_value(file: Path, key: str) -> Any:
    """What one file itself says of a key; None when it does not, or is not readable."""
    layer = _read_layer("user", file, [])
    return layer.values.get(key)


def _line_of(text: str, key: str) -> int:
    """The line on which a key is set, 0 when it cannot be told."""
    table, leaf = _split(key)
    current = ""
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[\s*([^\]]+?)\s*\]", line)
        if header:
            current = header[1]
        elif (current == table and re.match(rf"\s*[\"']?{re.escape(leaf)}[\"']?\s*=", line)) or (
            not current and re.match(rf"\s*{re.escape(key)}\s*=", line)
        ):
            return number
    return 0
