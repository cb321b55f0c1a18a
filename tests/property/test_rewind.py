"""Whatever model, shell and person do to files: a rewind keeps every byte it promised."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app.checkpoints.plan import RewindError
from tests.fakes.going_back import GoingBack

NAMES = st.sampled_from(["a", "A", "b.txt", "d/c", "d/e/f", "g/h", "a/x"])
CONTENTS = st.sampled_from(
    [
        b"",
        b"one\n",
        b"two\r\nlines\r\n",
        b"\xef\xbb\xbfbom",
        b"no end",
        b"caf\xe9\n",
        b"\x00\xff\x89PNG",
    ]
)
MODES = st.sampled_from([0o644, 0o600, 0o755])


Tree = dict[str, tuple[int, bytes]]


class Rewinds(RuleBasedStateMachine):
    """The model: what every file held at every prompt, and who has changed it since."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="rewind-"))
        (self.folder / "project").mkdir()
        self.session = GoingBack(self.folder / "project", self.folder / "data")
        self.root = self.session.root
        (self.root / "theirs").write_bytes(b"nobody touches this")
        self.points: list[tuple[str, Tree]] = []
        self.ours: list[set[str]] = []
        """For each point the files that the model has written since."""
        self.shells: list[set[str]] = []
        self.hands: list[set[str]] = []
        self.left: Tree = {}
        """What whoever is tracked left last, of every file; missing where nothing is there."""
        self.tracked: set[tuple[str, bytes | None]] = set()
        """What the model or a command has ever left, by name: not the person's alone."""
        self.rewinds: list[tuple[Tree, set[str]]] = []
        """Rewinds that stand: what was there before, and the files they changed."""
        self.prompt()

    def teardown(self) -> None:
        self.session.close()
        shutil.rmtree(self.folder)

    def _fits(self, name: str) -> bool:
        path = self.root / name
        return not path.is_dir() and all(
            not folder.is_file() for folder in path.parents if folder != self.root
        )

    def _mark(self, sets: list[set[str]], before: Tree) -> set[str]:
        after = self.session.tree()
        changed = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
        for names in sets:
            names.update(changed)
        if sets is self.shells:
            self.tracked |= {(name, _bytes(after, name)) for name in changed}
        if sets is not self.hands:
            self.left = {n: w for n, w in self.left.items() if n not in changed}
            self.left |= {name: after[name] for name in changed if name in after}
        return changed

    @rule()
    def prompt(self) -> None:
        self.points.append((self.session.prompt(), self.session.tree()))
        self.ours.append(set())
        self.shells.append(set())
        self.hands.append(set())

    @rule(name=NAMES, content=CONTENTS)
    def the_model_writes(self, name: str, content: bytes) -> None:
        if self._fits(name):
            self.session.write(name, content)
            self.left[name] = self.session.tree()[name]
            self.tracked.add((name, content))
            for names in self.ours:
                names.add(name)

    @rule(name=NAMES, content=CONTENTS, mode=MODES)
    def a_command_writes(self, name: str, content: bytes, mode: int) -> None:
        if self._fits(name):
            before = self.session.tree()
            self.session.shell(lambda: self._put(name, content, mode))
            self._mark(self.shells, before)

    @rule(name=NAMES)
    def a_command_deletes(self, name: str) -> None:
        before = self.session.tree()
        self.session.shell(lambda: self._delete(name))
        self._mark(self.shells, before)

    @rule(name=NAMES, other=NAMES)
    def a_command_renames(self, name: str, other: str) -> None:
        if (self.root / name).is_file() and self._fits(other) and name != other:
            before = self.session.tree()
            self.session.shell(lambda: self._rename(name, other))
            self._mark(self.shells, before)

    @rule(name=NAMES, content=CONTENTS)
    def the_person_writes(self, name: str, content: bytes) -> None:
        if self._fits(name):
            before = self.session.tree()
            self._put(name, content, None)
            self._mark(self.hands, before)

    @rule(name=NAMES)
    def the_person_deletes(self, name: str) -> None:
        before = self.session.tree()
        self._delete(name)
        self._mark(self.hands, before)

    @rule(data=st.data(), with_shell=st.booleans())
    def files_go_back(self, data: st.DataObject, with_shell: bool) -> None:
        chosen = data.draw(st.integers(0, len(self.points) - 1))
        before = self.session.tree()
        try:
            done = self.session.files(self.points[chosen][0], with_shell=with_shell)
        except RewindError:
            assert self.session.tree() == before
            return
        self._check(chosen, before, with_shell=with_shell)
        self._nothing_of_others_is_lost(before)
        changed = self._mark(self.ours, before)
        if done.uuid:
            self.rewinds.append((before, changed))

    @rule(data=st.data(), with_shell=st.booleans())
    def files_are_forced_back(self, data: st.DataObject, with_shell: bool) -> None:
        chosen = data.draw(st.integers(0, len(self.points) - 1))
        before = self.session.tree()
        try:
            done = self.session.files(self.points[chosen][0], with_shell=with_shell, force=True)
        except RewindError:
            assert self.session.tree() == before
            return
        self._check(chosen, before, with_shell=with_shell)
        if done.uuid:
            after = self.session.tree()
            changed = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
            for names in self.ours:
                names.update(changed)
            self.session.undo()
        assert self.session.tree() == before

    @rule()
    def the_last_rewind_is_undone(self) -> None:
        before = self.session.tree()
        try:
            self.session.undo()
        except RewindError:
            assert self.session.tree() == before
            return
        then, changed = self.rewinds.pop()
        now = self.session.tree()
        for name in now.keys() | before.keys() | then.keys():
            assert _bytes(now, name) == _bytes(then if name in changed else before, name), name
        self._nothing_of_others_is_lost(before)
        self._mark(self.ours, before)

    def _nothing_of_others_is_lost(self, before: Tree) -> None:
        """Without force, what the person changed last is as the person left it."""
        now = self.session.tree()
        tracked = self.ours[0] | self.shells[0]
        for name in tracked & self.hands[0]:
            is_theirs = (name, _bytes(before, name)) not in self.tracked
            if is_theirs and _bytes(before, name) != _bytes(self.left, name):
                assert _bytes(now, name) == _bytes(before, name), name

    def _check(self, chosen: int, before: Tree, *, with_shell: bool) -> None:
        """What only the model wrote is as it was; what nobody of ours touched is as it is."""
        then, now = self.points[chosen][1], self.session.tree()
        ours, shells, hands = self.ours[chosen], self.shells[chosen], self.hands[chosen]
        for name in ours - hands - shells:
            assert _bytes(now, name) == _bytes(then, name), name
        if with_shell:
            for name in shells - hands:
                assert _bytes(now, name) == _bytes(then, name), name
        else:
            for name in shells - ours:
                assert now.get(name) == before.get(name), name
        for name in (now.keys() | before.keys()) - ours - shells:
            assert now.get(name) == before.get(name), name

    @invariant()
    def nothing_lies_about(self) -> None:
        assert not [name for name in self.session.tree() if ".reverie-" in name]
        assert (self.root / "theirs").read_bytes() == b"nobody touches this"
        assert not self.session.note.exists()

    def _put(self, name: str, content: bytes, mode: int | None) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if mode is not None:
            path.chmod(mode)

    def _delete(self, name: str) -> None:
        path = self.root / name
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)

    def _rename(self, name: str, other: str) -> None:
        (self.root / other).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).replace(self.root / other)


def _bytes(tree: Tree, name: str) -> bytes | None:
    return tree[name][1] if name in tree else None


TestRewinds = Rewinds.TestCase
TestRewinds.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
