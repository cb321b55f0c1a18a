"""Phrases that the product's own instructions contain, by which the rehearsal knows a call.

Whoever writes such an instruction puts the constant into it; a real model reads it as plain text.
"""

from __future__ import annotations

from typing import Final

WORKING_FOLDER_MARKER: Final = "Working folder: "
"""In the system prompt, followed by the path and the end of the line."""

RECAP_MARKER: Final = "Recap for a reader who has been away"
SUGGESTION_MARKER: Final = "Suggest what the user may want to ask next"
SUMMARY_MARKER: Final = "Summarise the conversation so that it can go on"
DREAM_MARKER: Final = "Put the memory folder in order"
