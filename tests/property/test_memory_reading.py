from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.memory.entry import MOST_LINES, MOST_UNITS, fit, gauge
from app.memory.links import links, with_renamed_link, without_link
from app.memory.markdown import front_matter, without_code
from app.memory.paragraphs import Known, paragraphs, similarity

BOM = "\ufeff"


def units(text: str) -> int:
    return sum(2 if ord(letter) > 0xFFFF else 1 for letter in text)


@st.composite
def near_the_budget(draw: st.DrawFn) -> str:
    """Texts that end a little before or behind one of the two limits."""
    edge = st.text(st.sampled_from("a\né🙂\r\ufeff\ud800\udc00 "), max_size=12)
    lines = draw(st.sampled_from([0, 1, MOST_LINES - 2, MOST_LINES - 1, MOST_LINES]))
    long = draw(st.sampled_from([0, 1, MOST_UNITS - 210, MOST_UNITS - 202, MOST_UNITS - 3]))
    letter = draw(st.sampled_from("xé"))
    return draw(edge) + "\n" * lines + letter * long + draw(edge)


def naive(text: str) -> str:
    """The budget by its words: whole lines as far as they go, then letter by letter."""
    text = text.removeprefix(BOM)
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    kept = "".join(lines[:MOST_LINES])
    done = count = 0
    for letter in kept:
        count += units(letter)
        if count > MOST_UNITS:
            break
        done += 1
    return kept[:done]


@given(near_the_budget())
def test_what_is_loaded_is_the_longest_beginning_within_the_budget(text: str) -> None:
    fitted = fit(text)
    assert fitted.text == naive(text)
    assert fitted.is_cut == (fitted.text != text.removeprefix(BOM))
    assert (fitted.lines, fitted.code_units) == gauge(BOM + fitted.text)
    assert (fitted.whole_lines, fitted.whole_units) == gauge(text)
    assert fitted.code_units == units(fitted.text)


@given(st.text(st.sampled_from("a\n🙂\r\u2028é\x0b"), max_size=30))
def test_a_newline_ends_a_line_and_begins_none(text: str) -> None:
    lines = text.split("\n")
    assert gauge(text)[0] == len(lines) - (lines[-1] == "")


NAMES = ["a.md", "two words.md", "sub/c.md", "d(1).md", "50%.md", "x#y.md", "e:f.md", "é.md"]
PIECES = st.sampled_from(
    [
        "[one](a.md)",
        '[b **c**](./a.md#part "title")',
        "[two](<two words.md>)",
        "[two](two%20words.md)",
        "[three](sub/../sub/c.md)",
        "[[in]](d(1).md)",
        "[p](50%25.md)",
        "[h](x%23y.md)",
        "[s](./e:f.md)",
        "[é](é.md)",
        "[web](https://x.test/a.md)",
        "![picture](a.md)",
        "[![i](i.png)](a.md)",
        "[out](../a.md)",
        "[[a](a.md)](a.md)",
        "`[code](a.md)`",
        "``",
        "\n```\n[fenced](a.md)\n```\n",
        "words",
        "[",
        "](",
        ")",
        "\n",
        "\r\n",
        "\n- ",
        "\n  1. ",
        "\r",
        " ",
    ]
)
TEXTS = st.builds(
    lambda mark, pieces: mark + " ".join(pieces),
    st.sampled_from(["", BOM]),
    st.lists(PIECES, max_size=14),
)
PLACES = st.sampled_from(["MEMORY.md", "sub/x.md", "other/deep/x.md"])


def targets(text: str, place: str) -> list[str]:
    return [name for _, name in links(text, place)]


@given(TEXTS, st.sampled_from(NAMES), PLACES)
def test_a_link_that_is_taken_away_leaves_all_others(text: str, name: str, place: str) -> None:
    left = without_link(text, name, place)
    assert name not in targets(left, place)
    assert left.startswith(BOM) == text.startswith(BOM)
    if name not in targets(text, place):
        assert left == text


@given(TEXTS, st.sampled_from(NAMES))
def test_lines_that_do_not_link_there_stay_byte_for_byte(text: str, name: str) -> None:
    numbers = {number for number, target in links(text) if target == name}
    kept = [line for n, line in enumerate(text.split("\n"), 1) if n not in numbers]
    left = without_link(text, name).split("\n")
    positions = iter(left)
    assert all(line in positions for line in kept if line != BOM)


@given(TEXTS, st.sampled_from(NAMES), st.sampled_from(NAMES), PLACES)
def test_a_renamed_link_leads_to_the_new_name_and_no_other_does(
    text: str, old: str, new: str, place: str
) -> None:
    renamed = with_renamed_link(text, old, new, place)
    expected = [new if name == old else name for name in targets(text, place)]
    assert targets(renamed, place) == expected
    assert [n for n, _ in links(renamed, place)] == [n for n, _ in links(text, place)]
    if old not in targets(text, place):
        assert renamed == text


@given(TEXTS, st.sampled_from(NAMES))
def test_a_rename_to_a_free_name_and_back_changes_nothing_more(text: str, name: str) -> None:
    there = with_renamed_link(text, name, "free.md")
    back = with_renamed_link(there, "free.md", name)
    assert with_renamed_link(back, name, "free.md") == there


@given(st.text(st.sampled_from("`~\n\r a>-1."), max_size=40))
def test_code_is_blanked_and_everything_stays_in_its_place(text: str) -> None:
    blanked = without_code(text)
    assert len(blanked) == len(text)
    assert all(new in (old, " ") for new, old in zip(blanked, text, strict=True))
    assert blanked.count("\n") == text.count("\n")


@given(st.text(st.sampled_from("-\r\nab: #'\"."), max_size=40))
def test_front_matter_is_read_or_passed_over_but_never_refused(text: str) -> None:
    fields, taken = front_matter(f"---\n{text}\n---\nrest")
    assert 2 <= taken <= text.count("\n") + 3
    assert all("\n" not in value for value in fields.values())


COLOURS = ["red", "green", "blue", "one", "two", "six", "ten", "far"]
WORDS = st.lists(st.sampled_from(COLOURS), max_size=60)


@given(st.lists(WORDS, max_size=8))
def test_whatever_is_reported_as_near_is_near(blocks: list[list[str]]) -> None:
    found = list(paragraphs("\n\n".join(" ".join(block) for block in blocks)))
    known = Known()
    for number, paragraph in enumerate(found):
        nearest = known.nearest(paragraph)
        if nearest is not None:
            assert nearest[0] < number
            assert nearest[1] >= 0.7
            assert nearest[1] <= similarity(paragraph.pairs, found[nearest[0]].pairs)
        equal = [each for each in found[:number] if each.words == paragraph.words]
        if equal:
            assert nearest is not None
            assert found[nearest[0]].words == paragraph.words
        assert known.add(paragraph) == number
