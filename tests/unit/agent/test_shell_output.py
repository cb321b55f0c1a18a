from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.agent.tools import shell_output
from app.agent.tools.base import LIVE_CHARACTERS, LIVE_LINES
from app.agent.tools.shell_output import NOTICE_CHARACTERS, LiveText, OutputKeeper

_TEXT = st.text(st.sampled_from("aé\U0001f680\n漢"), max_size=120)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXT, step=st.integers(1, 7))
def test_cut_keeps_whole_characters_of_both_ends(text: str, step: int, tmp_path: Path) -> None:
    keeper = OutputKeeper(tmp_path / "s", limit=NOTICE_CHARACTERS + 40)
    data = text.encode()
    passed = "".join(keeper.take(data[n : n + step]) for n in range(0, len(data), step))
    assert passed + keeper.close() == text
    shown = keeper.text()
    assert len(shown) <= NOTICE_CHARACTERS + 40
    if len(text) <= 40:
        assert shown == text
    else:
        assert shown.startswith(text[:20])
        assert shown.endswith(text[-20:])
        assert keeper.path is not None
        assert keeper.path.read_bytes() == data


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), step=st.integers(1, 9))
def test_any_bytes_give_text_that_can_be_sent(data: bytes, step: int, tmp_path: Path) -> None:
    keeper = OutputKeeper(tmp_path / "s", limit=NOTICE_CHARACTERS + 40)
    for start in range(0, len(data), step):
        keeper.take(data[start : start + step])
    keeper.close()
    keeper.text().encode("utf-8")
    assert "\0" not in keeper.text()


def test_file_on_disk_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = OutputKeeper(tmp_path, limit=NOTICE_CHARACTERS + 2)
    monkeypatch.setattr(shell_output, "MOST_ON_DISK", 10)
    for _ in range(5):
        keeper.take(b"12345")
    keeper.close()
    assert keeper.path is not None
    assert keeper.path.read_bytes() == b"1234512345"
    assert keeper.size == 25
    assert "the first" in keeper.text()


def test_output_that_cannot_be_kept_is_still_shown(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    keeper = OutputKeeper(tmp_path / "file", limit=NOTICE_CHARACTERS + 4)
    keeper.take(b"abcdefgh")
    keeper.close()
    assert keeper.path is None
    assert "could not be kept" in keeper.text()


def test_live_text_comes_once_a_frame_and_wholly() -> None:
    now = [0.0]
    shown: list[str] = []
    live = LiveText(shown.append, lambda: now[0], interval=1)
    for moment in (0.0, 0.1, 0.2, 1.5):
        now[0] = moment
        live.add("x")
    live.add("y")
    live.flush()
    live.flush()
    assert shown == ["x", "xxxx", "xxxxy"]


def test_live_text_is_the_bounded_end_of_everything_so_far() -> None:
    shown: list[str] = []
    live = LiveText(shown.append, lambda: 0.0, interval=0)
    for number in range(100):
        live.add(f"{number}\n")
    assert shown[1] == "0\n1\n"
    assert shown[-1].split() == [str(number) for number in range(100 - LIVE_LINES, 100)]
    live.add("x" * 3 * LIVE_CHARACTERS)
    assert shown[-1] == "x" * LIVE_CHARACTERS
