from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.sessions import search
from app.sessions.glance import exact
from app.sessions.records import Record
from app.sessions.search import MOST_HITS, SNIPPET, Hit, Query, search_sessions
from tests.fakes.sessions import Made


def hits(made: Made, tmp_path: Path, text: str) -> list[Hit]:
    return list(search_sessions([exact(made.write(tmp_path))], text))


def places(made: Made, tmp_path: Path, text: str) -> list[tuple[str, str]]:
    return [(hit.role, hit.uuid[-2:]) for hit in hits(made, tmp_path, text)]


def test_titles_come_before_texts(tmp_path: Path) -> None:
    one = Made(1).talk("the clock jumps", "A clock, I see.")
    two = Made(2).titled("Clocks").talk("hello")
    found = list(search_sessions([exact(each.write(tmp_path)) for each in (one, two)], "CLOCK"))
    assert [(h.session_id, h.role, h.uuid[-2:]) for h in found] == [
        (one.id, "title", ""),
        (two.id, "title", ""),
        (one.id, "user", "u1"),
        (one.id, "assistant", "u2"),
    ]


def test_calls_and_results_are_searched(tmp_path: Path) -> None:
    made = Made().user("go").calls("t1", "Edit", edits=[{"old": "alpha beta"}])
    made.result("t1", "gamma").result("t1", [{"type": "text", "text": "delta"}])
    made.add("attachment", attachment={"type": "queued_command", "prompt": "epsilon"})
    assert places(made, tmp_path, "beta") == [("tool", "u2")]
    assert places(made, tmp_path, "gamma") == [("tool", "u3")]
    assert places(made, tmp_path, "delta") == [("tool", "u4")]
    assert places(made, tmp_path, "epsilon") == [("user", "u5")]


def test_what_nobody_sees_is_not_searched(tmp_path: Path) -> None:
    made = Made(cwd="/needle").user("go", isMeta=False, version="needle")
    made.assistant({"type": "thinking", "thinking": "needle", "signature": "needle"})
    made.user("needle", isSidechain=True).user("needle", isMeta=True)
    made.user("<task-notification>needle").add("system", subtype="x", content="needle")
    assert hits(made, tmp_path, "needle") == []
    assert hits(made, tmp_path, "user") == []
    assert len(hits(made.user("a needle"), tmp_path, "needle")) == 1


def test_all_words_must_be_in_one_message(tmp_path: Path) -> None:
    made = Made().user("red").user("green and red").user("green")
    assert places(made, tmp_path, "Red  GREEN") == [("user", "u2")]
    assert hits(made, tmp_path, "red blue") == []
    assert hits(made, tmp_path, "   ") == []


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ('say "hello" now', '"hello"'),
        ("C:\\temp\\new", "\\temp\\new"),
        ("one\ntwo", "two"),
        ("grüße aus Köln", "GRÜ"),
        ("Привет, мир", "пРИВЕТ"),
        ("日本語の本", "本語"),
        ("a 👍🏽 b", "👍🏽"),
        ("<b>&'</b>", "<b>&'"),
        ("path/to/file", "TO/FILE"),
        ("+", "+"),
        ('"', '"'),
        ("in İstanbul", "İstanbul"),
        ("300 \u212a", "\u212a"),
        ("ΟΔΟΣ", "οδος"),
        ("οδος", "ΟΔΟΣ"),
        ("STRAẞE", "straße"),
        ("5 \u2126", "ω"),
        ("Σ", "ς"),
    ],
)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_however_a_text_is_written_in_json_it_is_found(
    tmp_path: Path, text: str, sought: str, ascii_only: bool
) -> None:
    made = Made().talk("x").user(text).talk("y")
    if ascii_only:
        made.lines = [json.dumps(json.loads(line), separators=(",", ":")) for line in made.lines]
        made.lines = [line.replace("/", "\\/").replace("<", "\\u003C") for line in made.lines]
    assert places(made, tmp_path, sought) == [("user", "u3")]


def test_the_snippet_shows_the_place(tmp_path: Path) -> None:
    long = "before " * 100 + "the\n needle   here " + "after " * 100
    (hit,) = hits(Made().user("go").says(long), tmp_path, "needle")
    start, stop = hit.at
    assert hit.snippet[start:stop] == "needle"
    assert hit.snippet.startswith("…") and hit.snippet.endswith("…")
    assert "before the needle here after" in hit.snippet
    assert len(hit.snippet) <= SNIPPET + 2
    (short,) = hits(Made().user("go").says("İİ Needle"), tmp_path, "needle")
    assert (short.snippet, short.at) == ("İİ Needle", (3, 9))


def test_every_letter_is_found_by_itself_and_by_its_other_case() -> None:
    for code in range(0x21, 0x1F000):
        letter = chr(code)
        if letter.isalpha():
            line = f'{{"text":"{letter}"}}'.encode("utf-8", "surrogatepass")
            for sought in {letter, letter.lower(), letter.upper()}:
                query = Query(sought)
                assert not query.holds(letter) or list(query.lines(line)) == [line], sought
            assert Query(letter).holds(letter)


def test_one_session_does_not_bury_the_others(tmp_path: Path) -> None:
    made = Made().user("go")
    for _ in range(MOST_HITS + 5):
        made.says("needle")
    assert len(hits(made, tmp_path, "needle")) == MOST_HITS


def test_lines_across_blocks_and_broken_ones_are_searched(tmp_path: Path) -> None:
    made = Made().user("go").long(2_500_000).says("the needle")
    made.lines[-1] += made.lines[0]
    made.lines.append('{"type":"user","message":{"content":"needle')
    assert [role for role, _ in places(made, tmp_path, "needle")] == ["assistant"]


def test_a_session_that_went_meanwhile_has_no_hits(tmp_path: Path) -> None:
    file = Made().user("go").says("needle").write(tmp_path)
    known = exact(file)
    file.unlink()
    assert list(search_sessions([known], "needle")) == []


def test_hits_come_before_everything_was_read(tmp_path: Path) -> None:
    known = [exact(Made(n).user("go").says("needle").write(tmp_path)) for n in (1, 2)]
    found = search_sessions(known, "needle")
    assert next(found).session_id == known[0].session_id
    known[1].path.unlink()
    assert list(found) == []


def test_a_record_that_cannot_be_searched_hides_no_other_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Made().user("go").says("needle one").says("needle two").write(tmp_path)
    known, seen = exact(file), search.seen_texts

    def deep(record: Record) -> object:
        if record.uuid == "00000001-u2":
            raise RecursionError
        return seen(record)

    monkeypatch.setattr(search, "seen_texts", deep)
    missed: set[Path] = set()
    assert [hit.snippet for hit in search_sessions([known], "needle", missed)] == ["needle two"]
    assert missed == {file}


def test_results_within_results_however_deep_stop_no_search(tmp_path: Path) -> None:
    inner = '{"type":"text","text":"needle"}'
    for _ in range(300):
        inner = f'{{"type":"tool_result","content":[{inner}]}}'
    made = Made().user("go").says("the needle")
    line = json.dumps({"type": "user", "uuid": "d", "message": {"content": ["X"]}})
    made.lines.append(line.replace('"X"', inner))
    assert "assistant" in [role for role, _ in places(made, tmp_path, "needle")]
