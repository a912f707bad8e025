"""Asks a language model about texts, each once; its valid answers are cached on disk by text.

What an answer must be is up to the caller. `chat` knows the endpoint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from harness.errors import HarnessError, ModelError, Unavailable
from harness.store.answers import AnswerCache

from ..embedders.hosted.chat import Chat

T = TypeVar("T")
SHOWN = 3  # texts that a note quotes
_FENCE = re.compile(r"\A\s*```[^\n`]*\n(.*?)\n?```\s*\Z", re.DOTALL)


class ModelAnswers(Generic[T]):
    """The answers of a language model to one prompt, one request for each text.

    Parameters
    ----------
    chat
        The language model.
    name
        Name of the cache of its answers.
    prompt
        Instruction before each text.
    read
        Returns what an answer to a text says; raises HarnessError if the answer is invalid.
    in_message
        Whether the prompt stands in one message with the text, and not in the system's message.

    Attributes
    ----------
    failed
        What is wrong with an answer, by text, for the invalid ones.
    """

    def __init__(
        self,
        chat: Chat,
        name: str,
        prompt: str,
        read: Callable[[str, str], T],
        *,
        in_message: bool = False,
    ) -> None:
        self.failed: dict[str, str] = {}
        self._has_valid = False
        self.identity = {"prompt": prompt, **chat.identity}
        self._chat, self._prompt, self._read, self._in_message = chat, prompt, read, in_message
        self._cache = AnswerCache(name, self.identity)

    def of(self, texts: Sequence[str]) -> dict[str, T]:
        """Return what the valid answers say, by text; blank texts are not sent.

        Raises
        ------
        Unavailable
            If the endpoint is unavailable; the answers so far are kept.
        ModelError
            If texts were sent and every answer is invalid, or no answer so far is valid.
        """
        unique = [text for text in dict.fromkeys(texts) if text.strip()]
        known = {text: self._read(text, answer) for text, answer in self._cache.get(unique).items()}
        new = [text for text in unique if text not in known and text not in self.failed]
        answered = self._ask(new)
        self._has_valid |= bool(known or answered)
        asked = new or unique  # texts of an earlier call are not asked for again
        if asked and not answered and (new or not self._has_valid):
            raise ModelError(
                f"every answer of the language model is invalid ({len(asked)} texts), such as for "
                f"'{short(asked[0])}': {self.failed[asked[0]]}"
            )
        return known | answered

    def notes(self, missing: str) -> tuple[str, ...]:
        """Return a line about the texts that keep their names.

        `missing` says what the model did not return.
        """
        lines = []
        if self.failed:
            examples = [f"'{short(text)}': {why}" for text, why in self.failed.items()][:SHOWN]
            more = len(self.failed) - len(examples)
            n = len(self.failed)
            many = "1 text keeps its names" if n == 1 else f"{n} texts keep their names"
            rest = f"; and {more} more" if more else ""
            lines.append(
                f"{many}, because the language model returned no {missing}: "
                f"{'; '.join(examples)}{rest}"
            )
        return tuple(lines)

    def _ask(self, texts: Sequence[str]) -> dict[str, T]:
        """Ask the model; remember the texts whose answer is invalid.

        A valid answer is cached as soon as it has arrived, so that an end of the run loses only
        the requests in flight: there may be thousands of texts, and each is paid for.
        """
        read: dict[str, T] = {}
        invalid: dict[str, HarnessError] = {}

        def keep(position: int, answer: str) -> None:
            text = texts[position]
            try:
                value = self._read(text, answer)
            except HarnessError as error:
                invalid[text] = error
                return
            self._cache.add({text: answer})
            read[text] = value

        if self._in_message:
            prompts = [f"{self._prompt}\n{text}" for text in texts]
            answers = self._chat.ask_many(None, prompts, keep)
        else:
            answers = self._chat.ask_many(self._prompt, texts, keep)
        unavailable: Unavailable | None = None
        for text, answer in zip(texts, answers, strict=True):
            problem = invalid.get(text) if isinstance(answer, str) else answer
            if isinstance(problem, Unavailable):
                unavailable = problem
            elif problem is not None:
                self.failed[text] = str(problem)
        if unavailable is not None:
            raise unavailable
        return read


def short(text: str) -> str:
    """Return a text as messages quote it, at most 40 characters."""
    return text if len(text) <= 40 else f"{text[:39]}…"


def unfenced(answer: str) -> str:
    """Return an answer without the code fence and the blanks around it."""
    fence = _FENCE.match(answer)
    return (fence.group(1) if fence else answer).strip()
