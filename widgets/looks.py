"""Which colours and signs the running app draws with."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.color import Color
from textual.theme import Theme

from widgets.glyphs import UNICODE, Glyphs
from widgets.palette import DUSK, PALETTES, Palette


def theme_of(palette: Palette) -> Theme:
    """A palette as a Textual theme; the style sheets use its variables and nothing else."""
    return Theme(
        name=palette.name,
        primary=palette.accent,
        secondary=palette.user,
        accent=palette.tool,
        warning=palette.warn,
        error=palette.error,
        success=palette.ok,
        foreground=palette.text,
        background=palette.surface,
        surface=palette.surface,
        panel=palette.panel,
        dark=palette.dark,
        variables=_variables(palette),
    )


def _variables(palette: Palette) -> dict[str, str]:
    return {
        "r-surface": palette.surface,
        "r-panel": palette.panel,
        "r-raised": palette.raised,
        "r-text": palette.text,
        "r-muted": palette.muted,
        "r-accent": palette.accent,
        "r-user": palette.user,
        "r-tool": palette.tool,
        "r-ok": palette.ok,
        "r-warn": palette.warn,
        "r-error": palette.error,
        "r-dream": palette.dream,
        "block-cursor-background": palette.raised,
        "block-cursor-foreground": palette.text,
        "scrollbar": palette.raised,
        "scrollbar-background": palette.surface,
        "scrollbar-hover": palette.muted,
        "scrollbar-active": palette.accent,
        "border": palette.muted,
        "border-blurred": palette.muted,
        "input-selection-background": palette.raised,
    }


def palette_of(app: App[Any]) -> Palette:
    """The colours of the theme in use; of a theme that is not ours, the nearest ones."""
    known = PALETTES.get(app.theme)
    if known is not None:
        return known
    theme = app.current_theme
    variables = app.theme_variables

    def colour(name: str, fallback: str) -> str:
        try:
            return Color.parse(variables.get(name, fallback)).rgb and _hex(
                variables.get(name, fallback)
            )
        except ValueError:
            return fallback

    surface = colour("background", DUSK.surface)
    text = colour("foreground", DUSK.text)
    return Palette(
        theme.name,
        theme.dark,
        surface=surface,
        panel=colour("panel", DUSK.panel),
        text=text,
        muted=_mix(text, surface, 0.35),
        accent=colour("primary", DUSK.accent),
        user=colour("secondary", DUSK.user),
        tool=colour("accent", DUSK.tool),
        ok=colour("success", DUSK.ok),
        warn=colour("warning", DUSK.warn),
        error=colour("error", DUSK.error),
        added=colour("success", DUSK.added),
        removed=colour("error", DUSK.removed),
        dream=colour("secondary", DUSK.dream),
        raised=_mix(surface, text, 0.12),
    )


def _hex(value: str) -> str:
    return Color.parse(value).hex6.lower()


def _mix(first: str, second: str, share: float) -> str:
    return Color.parse(first).blend(Color.parse(second), share).hex6.lower()


def glyphs_of(app: App[Any]) -> Glyphs:
    """The signs the app was started with."""
    return getattr(app, "glyphs", UNICODE)
