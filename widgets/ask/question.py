"""The model's questions, one after the other; every one can be answered in own words."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from app.plain_text import plain, plain_line
from app.state.model import AskedQuestion, QuestionRequest
from widgets.ask.choices import Choice, ChoiceBox

OTHER = "\x00other"
DONE = "\x00done"


class QuestionBox(Vertical):
    """Asks all questions of one request."""

    class Answered(Message):
        """All answers in order, None when they were declined."""

        def __init__(self, request_id: str, answers: tuple[str, ...] | None) -> None:
            super().__init__()
            self.request_id = request_id
            self.answers = answers

    def __init__(self, request: QuestionRequest) -> None:
        super().__init__(id="question")
        self.request = request
        self._answers: list[str] = []
        self._marked: list[str] = []

    def compose(self) -> ComposeResult:
        yield self._box()

    @property
    def _question(self) -> AskedQuestion:
        return self.request.questions[len(self._answers)]

    def _box(self) -> ChoiceBox:
        question = self._question
        choices: list[Choice] = []
        for position, (label, description) in enumerate(question.options[:8], 1):
            mark = ("[x] " if label in self._marked else "[ ] ") if question.multiple else ""
            words = f"{mark}{plain_line(label)}"
            if description:
                words += f" · {plain_line(description)}"
            choices.append(Choice(str(position), words, label))
        if question.multiple:
            choices.append(Choice("d", "Done", DONE))
        choices.append(Choice("o", "Something else…", OTHER))
        title = plain_line(question.header) or "A question"
        return ChoiceBox(title, [Content(plain(question.text))], choices, id="question-box")

    async def on_choice_box_taken(self, message: ChoiceBox.Taken) -> None:
        message.stop()
        if message.value == "":
            self.post_message(self.Answered(self.request.id, None))
        elif message.value == OTHER:
            await self._show_input()
        elif message.value == DONE:
            await self._answer(", ".join(self._marked))
        elif self._question.multiple:
            self._marked = (
                [m for m in self._marked if m != message.value]
                if message.value in self._marked
                else [*self._marked, message.value]
            )
            await self._show_box()
        else:
            await self._answer(message.value)

    async def _show_box(self) -> None:
        await self.remove_children()
        await self.mount(self._box())
        self.query_one(ChoiceBox).focus()

    async def _show_input(self) -> None:
        await self.remove_children()
        await self.mount(
            Static(Content(plain(self._question.text))),
            Input(placeholder="enter sends, esc goes back"),
        )
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    async def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if message.value.strip():
            await self._answer(message.value)

    async def on_key(self, event: events.Key) -> None:
        if event.key == "escape" and self.query(Input):
            event.stop()
            await self._show_box()

    async def _answer(self, answer: str) -> None:
        self._answers.append(answer)
        self._marked = []
        if len(self._answers) == len(self.request.questions):
            self.post_message(self.Answered(self.request.id, tuple(self._answers)))
        else:
            await self._show_box()

    def focus(self, scroll_visible: bool = True) -> QuestionBox:
        for box in self.query(ChoiceBox):
            box.focus(scroll_visible)
        return self
