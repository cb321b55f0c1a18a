"""What the person answers to the boxes in the prompt's place, and where it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from widgets.ask.choices import ChoiceBox
from widgets.ask.foot import Foot
from widgets.ask.line import LineBox
from widgets.ask.permission import PermissionBox
from widgets.ask.question import QuestionBox
from widgets.ask.receipt import ReceiptBox
from widgets.conversation.conversation import Conversation
from widgets.prompt.prompt import Prompt

if TYPE_CHECKING:
    from app.controller import Controller


class ChatAnswers(Screen[None]):
    """The answers; `ChatScreen` is made on top of it."""

    controller: Controller

    @property
    def foot(self) -> Foot:
        """The prompt, or a question in its place."""
        return self.query_one(Foot)

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.query_one(Prompt)

    @property
    def conversation(self) -> Conversation:
        """What was said."""
        return self.query_one(Conversation)

    @on(ChoiceBox.Taken)
    async def _taken(self, message: ChoiceBox.Taken) -> None:
        box = message.box
        if isinstance(box, PermissionBox):
            await self._permission_taken(box, message.value)
        elif isinstance(box, ReceiptBox):
            self._receipt_taken(box, message.value)
        elif box.id == "trust":
            await self.controller.settle_trust(message.value == "trust")
        elif box.id == "welcome":
            await self._welcome_taken(message.value)

    async def _permission_taken(self, box: PermissionBox, value: str) -> None:
        if value == "why":
            await self.foot.ask_line(LineBox("why", "Why not? The model is told."))
        elif value == "":
            self.controller.answer_permission(box.request.id, "interrupt")
        elif value in {"once", "session", "always", "no"}:
            self.controller.answer_permission(box.request.id, value)  # pyright: ignore[reportArgumentType] - the set is the type's own

    def _receipt_taken(self, box: ReceiptBox, value: str) -> None:
        if value == "edit":
            box.edit()
        elif value == "use" and not box.summary.strip():
            self.controller.notice("An empty summary would lose what was said.", "warning")
        elif value == "use":
            self.controller.compaction.accept(box.summary)
            self.prompt.put_back(box.receipt.goes_back)
        elif value == "discard":
            self.controller.compaction.discard()
            self.prompt.put_in_front(self.controller.take_queue())
        else:
            self.controller.compaction.postpone(box.summary)
            self.prompt.put_in_front(self.controller.take_queue())

    async def _welcome_taken(self, value: str) -> None:
        if value == "key":
            await self.foot.ask_line(LineBox("key", "Your Anthropic API key:", secret=True))
        elif value in {"local", "rehearsal"}:
            await self.controller.choose_model(value)
        elif value == "look":
            await self.controller.reach.search()
        elif value.startswith("server:"):
            servers = self.controller.state.access.servers
            await self.controller.use_server(servers[int(value.removeprefix("server:"))])

    @on(LineBox.Given)
    async def _line_given(self, message: LineBox.Given) -> None:
        await self.foot.close_line()
        if message.purpose == "why" and message.text is not None:
            requests = self.controller.state.permission.requests
            if requests:
                self.controller.answer_permission(requests[0].id, "no", message.text)
        elif message.purpose == "key" and message.text:
            await self.controller.use_key(message.text)
        elif message.purpose == "find" and message.text:
            found = await self.conversation.find(message.text)
            self.conversation.focus()
            if not found:
                self.controller.notice(f"Nothing here holds “{message.text}”.")

    @on(QuestionBox.Answered)
    def _answered(self, message: QuestionBox.Answered) -> None:
        self.controller.questions.answer(message.request_id, message.answers)
