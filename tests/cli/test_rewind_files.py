"""`--rewind-files` without a process: conflicts, messages, owners, forks."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.cli.parser import parse_flags
from app.cli.rewind import run_rewind
from app.errors import ReverieError
from app.installation import Options
from tests.cli.runner import ROOT, Done
from tests.fakes.provider import calls, reply
from tests.fakes.stage import SESSION, Stage, stage

OTHER = "22222222-2222-4333-8444-555555555555"
FREE = Options(mode="bypassPermissions")


@dataclass
class Played:
    """A session of two turns: one makes a.txt, the next one changes it and makes sub/b.txt."""

    play: Stage
    capture: pytest.CaptureFixture[str]

    @property
    def root(self) -> Path:
        return self.play.here.folder

    @property
    def prompts(self) -> list[str]:
        records = self.play.records()
        return [r.uuid or "" for r in records if r.data.get("promptSource") == "typed"]

    def files(self) -> dict[str, str]:
        found = (file for file in self.root.rglob("*") if file.is_file())
        return {str(file.relative_to(self.root)): file.read_text() for file in found}

    def rewind(self, uuid: str, *words: str, session: str = SESSION) -> Done:
        flags = parse_flags(["--resume", session, "--rewind-files", uuid, *words])
        self.capture.readouterr()
        try:
            code = run_rewind(self.play.here, flags)
        except ReverieError as error:
            code, told = 1, str(error)
        else:
            told = ""
        out, err = self.capture.readouterr()
        return Done(code, out, err + told)


@pytest.fixture
async def played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Played:
    play = await stage(
        tmp_path,
        calls(("Write", {"file_path": "a.txt", "content": "v1\n"}, "t1")),
        reply("done", 2),
        calls(
            ("Write", {"file_path": "a.txt", "content": "v2\n"}, "t2"),
            ("Write", {"file_path": "sub/b.txt", "content": "b\n"}, "t3"),
            number=3,
        ),
        reply("done again", 4),
        options=FREE,
    )
    await play.turn("write")
    await play.turn("change")
    await play.runtime.close()
    return Played(play, capsys)


def in_thread(work: Any) -> Any:
    """`asyncio.run` needs a thread of its own where a loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


async def test_a_conflict_changes_nothing_without_force(played: Played) -> None:
    first, _ = played.prompts
    (played.root / "a.txt").write_text("by hand\n")
    before = played.files()
    done = in_thread(lambda: played.rewind(first))
    assert done.code == 1
    assert "Failed to rewind: a.txt" in done.err and "--force" in done.err
    told = in_thread(lambda: played.rewind(first, "--output-format", "json"))
    assert told.code == 1
    assert told.json["can_rewind"] is False
    assert told.json["conflicts"] == ["a.txt"]
    assert told.json["error"] == "Failed to rewind: a.txt"
    dry = in_thread(lambda: played.rewind(first, "--dry-run"))
    assert dry.code == 1 and "conflict" in dry.out
    assert played.files() == before

    forced = in_thread(lambda: played.rewind(first, "--force", "--output-format", "json")).json
    assert played.files() == {}
    assert in_thread(lambda: played.rewind(forced["undo"])).code == 0
    assert played.files() == before


async def test_a_message_without_a_checkpoint(played: Played) -> None:
    unknown = "99999999-2222-4333-8444-555555555555"
    done = in_thread(lambda: played.rewind(unknown))
    assert (done.code, done.out) == (1, "")
    assert "No file checkpoint found for this message." in done.err
    told = in_thread(lambda: played.rewind(unknown, "--dry-run", "--output-format", "json"))
    assert told.code == 1
    assert told.json["error"] == "No file checkpoint found for this message."
    assert told.json["can_rewind"] is False


async def test_rewinding_can_be_switched_off(played: Played) -> None:
    played.play.here.places.config.mkdir()
    played.play.here.places.settings.write_text("checkpoints = false\n")
    done = in_thread(lambda: played.rewind(played.prompts[0]))
    assert done.code == 1
    assert "File rewinding is not enabled." in done.err


async def test_a_link_in_a_files_place_is_listed(played: Played, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    (played.root / "a.txt").unlink()
    (played.root / "a.txt").symlink_to(outside)
    told = in_thread(lambda: played.rewind(played.prompts[0], "--output-format", "json"))
    assert told.code == 0
    assert told.json["skipped_links"] == ["a.txt"]
    assert told.json["files_changed"] == ["sub/b.txt"]
    assert outside.read_text() == "theirs"


async def test_a_file_of_another_program_is_only_read(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "theirs.jsonl"
    file.write_bytes(played.play.file.read_bytes())
    done = in_thread(lambda: played.rewind(played.prompts[0], session=str(file)))
    assert done.code == 1
    assert "Failed to rewind" in done.err and "import" in done.err


async def test_the_process_that_has_the_session_owns_its_files(played: Played) -> None:
    script = (
        "import sys; from pathlib import Path; from app.sessions.ownership import own;"
        f"owner = own(Path({str(played.play.file)!r})); print('owned', flush=True);"
        "sys.stdin.read()"
    )
    words = [sys.executable, "-c", script]
    # Nothing else runs in this loop, so that a call may block it.
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, cwd=ROOT, **pipes) as owner:  # noqa: ASYNC220
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"owned\n"
        before = played.files()
        done = in_thread(lambda: played.rewind(played.prompts[0]))
        assert done.code == 1
        assert "open in another process" in done.err
        assert played.files() == before
        branch = await stage(
            played.play.here.folder.parent, options=Options(resume=played.play.file)
        )
        warnings = " ".join(branch.runtime.opened.session.warnings)
        assert "cannot be rewound here" in warnings
        assert not branch.runtime.rewinder.restorable()
        await branch.runtime.close()


async def test_a_fork_shares_the_checkpoints(played: Played) -> None:
    fork = await stage(
        played.play.here.folder.parent,
        options=Options(resume=played.play.file, fork=True, session_id=OTHER),
    )
    file = played.play.file.with_name(f"{OTHER}.jsonl")
    await fork.runtime.close()
    blobs = list((file.with_suffix("") / "file-history").iterdir())
    assert blobs and all(blob.stat().st_nlink == 2 for blob in blobs), "they are on disk once"
    copied = [json.loads(line) for line in file.read_text().splitlines()]
    prompts = [r["uuid"] for r in copied if r["type"] == "user" and "promptSource" in r]
    done = in_thread(lambda: played.rewind(prompts[1], session=OTHER))
    assert done.code == 0
    assert played.files() == {"a.txt": "v1\n"}


async def test_a_rewind_that_was_cut_off_is_told_at_the_next_start(played: Played) -> None:
    note = played.play.file.with_suffix("") / "rewind.json"
    aside = played.root / ".reverie-cut-0.old"
    (played.root / "a.txt").rename(aside)
    state = {"kind": "file", "sha256": "0" * 64, "size": 3, "mode": 420, "names": 1}
    move = {
        "path": str(played.root / "a.txt"),
        "aside": str(aside),
        "staged": None,
        "now": state,
        "then": {"kind": "absent"},
    }
    note.write_text(json.dumps({"rewind": "cut", "moves": [move], "folders": []}))
    again = await stage(played.play.here.folder.parent, options=Options(resume=played.play.file))
    warnings = " ".join(again.runtime.opened.session.warnings)
    assert "a rewind of 1 file was cut off" in warnings
    assert played.files()["a.txt"] == "v2\n"
    assert not note.exists()
    await again.runtime.close()


async def test_a_session_that_is_not_there_is_told_as_json_too(played: Played) -> None:
    for session in ("no-id", "99999999-2222-4333-8444-555555555555"):
        told = in_thread(lambda s=session: played.rewind("x", "--output-format", "json", session=s))
        assert told.code == 1
        assert told.json["can_rewind"] is False and session in told.json["error"]


async def test_force_does_what_can_be_done_and_names_the_rest(played: Played) -> None:
    _, second = played.prompts
    for blob in (played.play.file.with_suffix("") / "file-history").iterdir():
        blob.unlink()
    plain = in_thread(lambda: played.rewind(second))
    assert plain.code == 1 and "its saved bytes are gone" in plain.err
    assert played.files() == {"a.txt": "v2\n", "sub/b.txt": "b\n"}
    done = in_thread(lambda: played.rewind(second, "--force"))
    assert done.code == 0
    assert "Left as it is: a.txt" in done.err
    assert played.files() == {"a.txt": "v2\n"}


async def test_a_dry_run_says_who_wrote_what(played: Played) -> None:
    (played.root / "a.txt").write_text("by hand\n")
    done = in_thread(lambda: played.rewind(played.prompts[1], "--dry-run"))
    assert "a.txt  (ours, someone else; changed by someone else" in done.out
    assert "sub/b.txt  (ours)" in done.out
