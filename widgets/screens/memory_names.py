"""The names of documents in the memory screen, and its trash."""

from __future__ import annotations

from app.errors import ReverieError
from app.plain_text import plain_line
from app.storage.names import SUFFIX, checked_name, folded
from widgets.ask.choices import Choice
from widgets.memory.around import ENTRY
from widgets.screens.memory_keys import Question
from widgets.screens.memory_past import MemoryPast

TRASH_CHOICES = (Choice("1", "Move to trash", "trash", "Trash"), Choice("2", "Keep", ""))


class MemoryNames(MemoryPast):
    """Documents that are made, renamed, thrown away and brought back."""

    _renamed = ""
    """The document that gets another name; empty while a new one is named."""

    async def action_new(self) -> None:
        """Ask for the name of a new document."""
        self._renamed = ""
        first = not any(row.name == ENTRY for row in self._rows if row.kind == "document")
        self._enter("name", " name of the new document ", ENTRY if first else "", chosen=True)

    async def action_rename(self) -> None:
        """Ask for another name of the document under the cursor."""
        row = self.row
        if row is not None and row.kind == "document":
            self._renamed = row.name
            self._enter("name", " new name ", plain_line(row.name))

    async def action_take_name(self) -> None:
        """Use the name; one that cannot be used stays in the line."""
        name = self.line.value.strip()
        if name and not name.endswith(SUFFIX):
            name += SUFFIX
        if not name or name == self._renamed:
            self._enter("list")
            return
        try:
            if self._renamed:
                await self._rename(self._renamed, name)
            else:
                await self._create(name)
        except ReverieError as error:
            self.tell(str(error), "error")

    async def _create(self, name: str) -> None:
        page = await self._desk.create(name)
        self._check_free(page.name)
        await self._add(page)
        self._enter("list")
        await self.open_document(page.name)

    def _check_free(self, name: str, but: str = "") -> None:
        """Raises `ReverieError` where a document that is open has that name."""
        for other, buffer in self._buffers.items():
            if other != but and folded(other) == folded(name):
                state = "open and not written yet" if buffer.is_unwritten else "open"
                words = f"There is a document {plain_line(other)} already: it is {state}."
                raise ReverieError(words, kept="Nothing was changed.")

    async def _rename(self, name: str, new: str) -> None:
        self._check_free(checked_name(new), but=name)
        buffer = self._buffers.get(name)

        async def rename() -> None:
            if buffer is not None and buffer.is_unwritten:
                named = (await self._desk.create(new)).name
            else:
                named = await self._desk.rename(name, new)
            if buffer is not None:
                del self._buffers[name]
                buffer.rename(named)
                self._buffers[named] = buffer
            self._enter("list")
            self.hold("document", named)

        await self.with_links(name, rename)
        self.catch_up()

    # Trash

    async def action_trash(self) -> None:
        """Put the document under the cursor into the trash, once that is said."""
        row = self.row
        if row is None or row.kind != "document":
            return

        async def answer(value: str) -> None:
            if value:
                await self._trash(row.name)

        buffer = self._buffers.get(row.name)
        body = ["It can be restored: u on its line in the trash."]
        if buffer is not None and buffer.is_dirty:
            body.append("Its unsaved text goes into its history first.")
        title = f"Move {plain_line(row.name)} to the trash?"
        await self.ask(Question(title, body, TRASH_CHOICES, answer))

    async def _trash(self, name: str) -> None:
        buffer = self._buffers.get(name)

        async def trash() -> None:
            if buffer is not None and buffer.is_dirty:
                await self.set_aside(buffer)
            if buffer is None or not buffer.is_unwritten:
                await self._desk.trash(name)
            if buffer is not None:
                self._close(buffer)

        try:
            await self.with_links(name, trash)
        except ReverieError as error:
            self.tell(str(error), "error")
        self.catch_up()

    async def action_restore(self) -> None:
        """Bring the document under the cursor back from the trash, as it was put there."""
        row = self.row
        if row is None or row.kind != "trashed":
            self.tell("u restores a document in the trash: put the cursor on one.")
            return
        try:
            versions = await self._desk.history(row.name)
            gone = next((each for each in versions if each.is_deletion), None)
            if gone is None:
                self.tell(f"Nothing of {plain_line(row.name)} was kept in its history.", "warning")
                return
            await self.restored(row.name, gone.id)
        except ReverieError as error:
            self.tell(str(error), "error")
            return
        self.tell(f"{plain_line(row.name)} is back.")
        self.hold("document", row.name)
        self.catch_up()
