from __future__ import annotations

from app.sessions.codec import parse_transcript
from app.sessions.export import MOST_RESULT, markdown_of
from app.sessions.graph import open_view
from tests.fakes.sessions import Made


def markdown(made: Made, title: str = "A title") -> str:
    view = open_view(parse_transcript(made.text().encode()).records)
    return markdown_of(view.graph, view.leaf, title)


def test_a_conversation_as_markdown() -> None:
    made = Made().user("mend **it**").assistant({"type": "thinking", "thinking": "hm"})
    made.calls("t1", "Bash", command="ls").result("t1", "a\nb")
    made.calls("t2", "Edit", path="a", new="b").result("t2", [{"type": "image"}]).says("Mended.")
    assert markdown(made) == (
        "# A title\n\n## Prompt\n\nmend **it**\n\n**Bash**\n\n```\nls\n```\n\n```\na\nb\n```\n\n"
        '**Edit**\n\n```\n{\n  "path": "a",\n  "new": "b"\n}\n```\n\n```\n(image)\n```\n\nMended.\n'
    )


def test_only_the_branch_is_exported() -> None:
    made = Made().talk("first", "One.")
    made.user("dropped").says("Two.")
    made.leaf = f"{made.id[:8]}-u2"
    made.talk("kept", "Three.")
    text = markdown(made)
    assert "kept" in text and "dropped" not in text and text.index("One.") < text.index("Three.")


def test_a_compaction_is_marked() -> None:
    made = Made().talk("early", "Yes.")
    before = made.leaf
    made.add("system", None, subtype="compact_boundary", logicalParentUuid=before)
    made.user("It was early.", isCompactSummary=True).talk("late")
    text = markdown(made)
    assert "*Earlier messages were compacted here.*" in text
    assert "## Summary of what came before\n\nIt was early." in text
    assert text.index("early") < text.index("compacted here") < text.index("late")


def test_what_is_long_is_cut_and_counted() -> None:
    made = Made().user("go").calls("t1", "Bash", command="cat").result("t1", "x" * 5_000)
    text = markdown(made)
    assert "x" * (MOST_RESULT - 1) + "…\n(3000 more characters)" in text
    assert "x" * MOST_RESULT not in text


def test_a_fence_inside_does_not_end_the_fence() -> None:
    made = Made().user("go").calls("t1", "Bash", command="cat").result("t1", "````\nx\n````")
    assert "`````\n````\nx\n````\n`````" in markdown(made)


def test_nothing_reaches_a_terminal() -> None:
    made = Made().user("a\x1b[2Jb").says("c\x07d")
    made.calls("t1", "Ba\x1bsh", command="x\x1by").result("t1", "\x1b]0;t\x07")
    assert "\x1b" not in markdown(made, "t\x1b]0;") and "\x07" not in markdown(made)


def test_what_people_did_beside_prompts_is_noted() -> None:
    made = Made().user("<command-name>/model</command-name>").user("meta", isMeta=True)
    made.user([{"type": "image"}, {"type": "text", "text": "what is it"}])
    made.user("[Request interrupted by user]")
    made.add("attachment", attachment={"type": "queued_command", "prompt": "and then"})
    text = markdown(made.says("Then."), "")
    assert text.startswith("# Untitled session\n\n*Command: /model*\n\n")
    assert "what is it\n\n*(picture)*\n\n*Interrupted.*\n\n## Prompt\n\nand then" in text
    assert "meta" not in text


def test_what_is_nested_too_deeply_is_said_so() -> None:
    inner: list[object] = []
    for _ in range(450):
        inner = [inner]
    made = Made().user("go").calls("t1", "Bash", command=inner).says("Done.")
    text = markdown(made)
    assert "**Bash**" in text and text.endswith("Done.\n")
