from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.memory import instructions as module
from app.memory.instructions import Instructions, Source, load_instructions, signature

OTHER_USER = 54_321


class World:
    """A home with a project in it, and what is loaded from there."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.root = self.home / "code" / "shop"
        self.config = self.home / ".config" / "reverie"
        self.secret: Path | None = None
        for folder in (self.root, self.config, self.home / ".claude"):
            folder.mkdir(parents=True)

    def write(self, name: str, text: str | bytes = "") -> Path:
        """A file by its path from the home folder; `:` stands for the project's."""
        file = self.root / name[1:] if name.startswith(":") else self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else (text or f"{name}\n").encode())
        return file

    def load(self, folder: str = "") -> Instructions:
        def refuses(path: Path) -> str:
            return "it may hold secrets" if path == self.secret else ""

        return load_instructions(self.root / folder, self.root, self.home, self.config, refuses)

    def sources(self, folder: str = "") -> list[Source]:
        """What was loaded of this world; the machine's own files do not count."""
        return [s for s in self.load(folder).sources if s.path.is_relative_to(self.home)]

    def texts(self, folder: str = "") -> list[str]:
        return [source.text.strip() for source in self.sources(folder)]

    def skipped(self, folder: str = "") -> dict[str, str]:
        """Reasons by path from the home folder."""
        home = f"{self.home}/"
        return {each.name.removeprefix(home): each.reason for each in self.load(folder).skipped}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    yield World(tmp_path.resolve())


def test_the_general_comes_before_the_particular(world: World) -> None:
    names = [
        ".config/reverie/CLAUDE.md",
        ".config/reverie/AGENTS.md",
        ".config/reverie/rules/a.md",
        ".claude/CLAUDE.md",
        ".claude/rules/b.md",
        "code/CLAUDE.md",
        "code/CLAUDE.local.md",
        ":CLAUDE.md",
        ":AGENTS.md",
        ":.claude/CLAUDE.md",
        ":.claude/rules/a/z.md",
        ":.claude/rules/b.md",
        ":CLAUDE.local.md",
        ":sub/AGENTS.md",
    ]
    for name in reversed(names):
        world.write(name)
    world.write(":.claude/rules/not.txt")
    world.write(":other/CLAUDE.md")
    assert world.texts("sub") == names
    scopes = [source.scope for source in world.sources("sub")]
    assert scopes == ["user"] * 5 + ["project", "local"] + ["project"] * 5 + ["local", "project"]
    assert world.texts() == names[:-1]


def test_the_home_folder_as_working_folder_loads_each_file_once(world: World) -> None:
    world.write(".claude/CLAUDE.md", "mine")
    found = load_instructions(world.home, world.home, world.home, world.config, lambda _: "")
    ours = [s for s in found.sources if s.path.is_relative_to(world.home)]
    assert [(source.text, source.scope) for source in ours] == [("mine", "user")]
    root = Path("/")
    assert load_instructions(root, root, world.home, world.config, lambda _: "").sources


def test_an_import_follows_the_file_that_asks_for_it(world: World) -> None:
    world.write(":CLAUDE.md", "see @docs/a.md, and (@./b.txt).\n")
    world.write(":docs/a.md", "a @../c.md")
    world.write(":b.txt", "b")
    world.write(":c.md", "c")
    found = world.sources()
    assert [source.text[0] for source in found] == ["s", "a", "c", "b"]
    assert [source.scope for source in found] == ["project", "import", "import", "import"]
    assert found[2].imported_by == world.root / "docs" / "a.md"
    assert world.skipped() == {}


def test_an_import_may_hold_blanks_and_be_absolute(world: World) -> None:
    world.write(":with blank.md", "blank")
    absolute = world.write(":abs.md", "absolute")
    world.write(":CLAUDE.md", f"@with\\ blank.md\n@{absolute}\n")
    assert world.texts()[1:] == ["blank", "absolute"]


def test_code_mail_addresses_and_decorators_are_no_imports(world: World) -> None:
    world.write(":x.md", "never")
    world.write(
        ":CLAUDE.md",
        "`@x.md` me@x.md @property @someone, @dataclass(frozen)\n```\n@x.md\n```\n~~~py\n@x.md\n",
    )
    assert len(world.sources()) == 1
    assert world.skipped() == {}


def test_a_word_that_names_a_file_is_an_import(world: World) -> None:
    world.write(":NOTES", "notes")
    (world.root / "src").mkdir()
    world.write(":CLAUDE.md", "Read @NOTES; @src and @nobody are no files.")
    assert world.texts()[1:] == ["notes"]
    assert world.skipped() == {}


def test_missing_imports_that_look_like_paths_are_named_with_their_importer(world: World) -> None:
    world.write(":CLAUDE.md", "@gone.md @docs/none @nobody")
    skipped = world.skipped()
    assert set(skipped) == {"code/shop/gone.md", "code/shop/docs/none"}
    assert "no such file" in skipped["code/shop/gone.md"]
    assert str(world.root / "CLAUDE.md") in skipped["code/shop/gone.md"]


def test_cycles_are_cut_and_imports_are_followed_five_deep(world: World) -> None:
    world.write(":CLAUDE.md", "@CLAUDE.md @1.md")
    for number in range(1, 8):
        world.write(f":{number}.md", f"{number} @{number + 1}.md @1.md")
    assert [text[0] for text in world.texts()[1:]] == ["1", "2", "3", "4", "5"]
    assert "5 deep" in world.skipped()["code/shop/6.md"]


def test_a_project_imports_only_itself_and_the_persons_texts(world: World) -> None:
    world.write(".claude/style.md", "style")
    world.write(".config/reverie/more.txt", "more")
    world.write(".claude/settings.json", "{}")
    world.write("diary.md", "dear diary")
    world.write(
        ":CLAUDE.md",
        "@~/.claude/style.md @~/.config/reverie/more.txt @~/.claude/settings.json @~/diary.md "
        "@../../diary.md @/etc/passwd",
    )
    assert world.texts()[1:] == ["style", "more"]
    skipped = world.skipped()
    assert set(skipped) == {".claude/settings.json", "diary.md", "/etc/passwd"}
    assert "may not be loaded" in skipped["diary.md"]


def test_a_persons_file_imports_anything_below_home_and_lends_a_project_no_rights(
    world: World,
) -> None:
    world.write(".claude/CLAUDE.md", "@~/diary.md @/etc/passwd @~/code/shop/README.md")
    world.write("diary.md", "dear diary")
    world.write("poem.txt", "a poem")
    world.write(":README.md", "readme @~/poem.txt")
    assert world.texts()[1:] == ["dear diary", "readme @~/poem.txt"]
    assert set(world.skipped()) == {"/etc/passwd", "poem.txt"}


def test_what_is_refused_is_named_and_not_read(world: World) -> None:
    world.secret = world.write(":.env", "KEY=1")
    world.write(":CLAUDE.md", "@.env")
    (world.root / "AGENTS.md").symlink_to(".env")
    assert len(world.sources()) == 1
    assert world.skipped()["code/shop/AGENTS.md"] == "it may hold secrets"
    assert "secrets" in world.skipped()["code/shop/.env"]


def test_a_link_out_of_the_project_is_not_followed_and_one_within_is(world: World) -> None:
    world.write("diary.md", "dear diary")
    world.write(":docs/agents.md", "within")
    (world.root / "CLAUDE.md").symlink_to(world.home / "diary.md")
    (world.root / "AGENTS.md").symlink_to("docs/agents.md")
    (world.root / "CLAUDE.local.md").symlink_to("CLAUDE.local.md")
    (world.root / ".claude").symlink_to(world.home)
    world.write("rules/rule.md", "not of the project")
    assert world.texts() == ["within"]
    skipped = world.skipped()
    assert "may not be loaded" in skipped["code/shop/CLAUDE.md"]
    assert "link" in skipped["code/shop/CLAUDE.local.md"]
    assert "may not be loaded" in skipped["code/shop/.claude/rules/rule.md"]


def test_above_the_project_what_anybody_may_write_does_not_count(world: World) -> None:
    world.write("code/CLAUDE.md").chmod(0o666)
    assert world.texts() == []
    assert "somebody else" in world.skipped()["code/CLAUDE.md"]
    world.write(":CLAUDE.md").chmod(0o666)
    assert world.texts() == [":CLAUDE.md"]


def test_above_the_project_what_belongs_to_another_does_not_count(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As another user without being root: the files here are then a stranger's.
    if os.getuid() == 0:
        monkeypatch.setattr(
            module, "_is_foreign", lambda owner, _mode: owner in (os.getuid(), OTHER_USER)
        )
    else:
        monkeypatch.setattr(os, "getuid", lambda: OTHER_USER)
    world.write("code/AGENTS.md")
    world.write(":AGENTS.md")
    world.write(".claude/CLAUDE.md")
    assert world.texts() == [".claude/CLAUDE.md", ":AGENTS.md"]
    assert "somebody else" in world.skipped()["code/AGENTS.md"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_above_the_project_another_users_link_or_folder_does_not_count(world: World) -> None:
    world.write("diary.md", "dear diary")
    (world.home / "code" / "CLAUDE.md").symlink_to("../diary.md")
    world.write("code/.claude/rules/rule.md")
    os.lchown(world.home / "code" / "CLAUDE.md", OTHER_USER, OTHER_USER)
    os.lchown(world.home / "code" / ".claude", OTHER_USER, OTHER_USER)
    assert world.texts() == []
    assert set(world.skipped()) == {"code/CLAUDE.md", "code/.claude/rules/rule.md"}


def test_what_is_no_text_is_named_and_never_waited_for(world: World) -> None:
    world.write(":CLAUDE.md", b"caf\xe9")
    world.write(":AGENTS.md", b"a\0b")
    (world.root / ".claude" / "rules").mkdir(parents=True)
    os.mkfifo(world.root / "CLAUDE.local.md")
    with (world.root / ".claude" / "CLAUDE.md").open("wb") as file:
        file.truncate(1 << 30)
    (world.root / ".claude" / "rules" / "folder.md").mkdir()
    world.write(":.claude/rules/mark.md", b"\xef\xbb\xbfmark\r\n")
    assert [source.text for source in world.sources()] == ["mark\r\n"]
    skipped = world.skipped()
    assert "UTF-8" in skipped["code/shop/CLAUDE.md"]
    assert "NUL" in skipped["code/shop/AGENTS.md"]
    assert "NUL" in skipped["code/shop/.claude/CLAUDE.md"]
    assert "regular file" in skipped["code/shop/CLAUDE.local.md"]
    assert "regular file" in skipped["code/shop/.claude/rules/folder.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(world: World) -> None:
    world.write(":CLAUDE.md").chmod(0)
    assert world.skipped()["code/shop/CLAUDE.md"] == "it may not be read"


def test_names_are_shown_without_control_characters(world: World) -> None:
    world.write(":.claude/rules/a\x1b\nb.md", b"\xff")
    assert list(world.skipped()) == ["code/shop/.claude/rules/a␛ b.md"]


def test_a_large_file_is_cut_and_said(world: World) -> None:
    world.write(":CLAUDE.md", "é" * 60_000)
    world.write(":AGENTS.md", "x" * 102_400)
    cut, whole = world.sources()
    assert (len(cut.text), cut.is_cut) == (51_200, True)
    assert (len(whole.text), whole.is_cut) == (102_400, False)


def test_no_more_than_100_files_and_400_000_code_units_are_loaded(world: World) -> None:
    for number in range(105):
        world.write(f":.claude/rules/{number:03}.md", "rule")
    found = world.load()
    assert len(found.sources) == 100
    assert any("100 files" in each.reason for each in found.skipped)
    for number in range(5):
        world.write(f":.claude/rules/{number:03}.md", "🙂" * 25_000 + "x" * 400)
    world.write(":.claude/rules/003.md", "x" * 90_000)
    found = world.load()
    units = [len(source.text.encode("utf-16-le")) // 2 for source in found.sources]
    assert sum(units) <= 400_000
    for number in range(5, 14):
        world.write(f":.claude/rules/{number:03}.md", "y" * 60_000)
    found = world.load()
    units = [len(source.text.encode("utf-16-le")) // 2 for source in found.sources]
    assert sum(units) == 400_000
    assert found.sources[-1].is_cut
    assert any("400000 code units" in each.reason for each in found.skipped)


def test_a_thousand_imports_are_followed_up(world: World) -> None:
    world.write(":CLAUDE.md", " ".join(f"@d/{number}" for number in range(1_100)))
    found = world.load()
    assert len(found.skipped) == 1_001
    assert "not followed up" in found.skipped[-1].reason


def changed(found: Instructions) -> bool:
    return signature(found.watched) != found.signature


def test_the_signature_tells_of_what_changed_came_and_went(world: World) -> None:
    file = world.write(":CLAUDE.md", "@docs/later.md @NOTES")
    found = world.load()
    assert not changed(found)
    file.write_text("other words")
    assert changed(found)
    file.write_text("@docs/later.md @NOTES")
    for name in (":docs/later.md", ":NOTES", ":AGENTS.md", ":CLAUDE.local.md", "code/CLAUDE.md"):
        found = world.load()
        assert not changed(found)
        came = world.write(name)
        assert changed(found), name
        found = world.load()
        came.unlink()
        assert changed(found), name


def test_the_signature_tells_of_rules_in_folders(world: World) -> None:
    found = world.load()
    world.write(":.claude/rules/deep/a.md")
    assert changed(found)
    found = world.load()
    world.write(":.claude/rules/deep/b.md")
    assert changed(found)
    found = world.load()
    world.write(".config/reverie/rules/c.md")
    assert changed(found)


def test_a_working_folder_that_is_gone_still_loads_what_is_above(world: World) -> None:
    world.write(":CLAUDE.md")
    assert world.texts("gone/deeper") == [":CLAUDE.md"]
