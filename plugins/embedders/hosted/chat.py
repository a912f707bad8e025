"""Language models behind an OpenAI-compatible endpoint: a text in, a text out.

Answers are not kept here: `harness.store.answers.AnswerCache` does that,
by `Chat.identity`. How the endpoint is asked, and what its errors mean, is in `endpoint.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import HarnessError, InvalidOption, Unavailable
from harness.plugins.embedders.hosted.at_once import at_once
from harness.plugins.embedders.hosted.endpoint import (
    MOST_TOLD,
    PARALLEL,
    RETRIES,
    TIMEOUT,
    Endpoint,
    Refused,
    used,
)


class Chat:
    """A language model behind an endpoint that completes chats.

    Parameters
    ----------
    model
        As the endpoint names it.
    base_url, key, timeout, retries
        See `Endpoint`.
    temperature, seed
        Sent with each request; 0 gives the likeliest answer. None for models that refuse them.
    parallel
        Requests under way at once.

    Attributes
    ----------
    usage
        What the endpoint counted so far.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key: str | None = None,
        *,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        parallel: int = PARALLEL,
    ) -> None:
        if parallel < 1:
            raise InvalidOption("parallel must be 1 or more")
        self.model, self.parallel = model, parallel
        self._endpoint = Endpoint(base_url, key, timeout=timeout, retries=retries)
        sampling = {"temperature": temperature, "seed": seed}
        self._sampling = {name: value for name, value in sampling.items() if value is not None}
        self.usage = self._endpoint.usage

    @property
    def identity(self) -> dict[str, Any]:
        """What an answer depends on besides the texts, as JSON-like values; without the key."""
        return {"endpoint": self._endpoint.where, "model": self.model, **self._sampling}

    @property
    def notes(self) -> tuple[str, ...]:
        """A line on what the endpoint counted, if it was asked for anything."""
        return used(self.model, self.usage, None)

    def ask(self, system: str, text: str) -> str:
        """Return the model's answer to `text` under the instruction `system`.

        Raises
        ------
        Refused
            If the endpoint refuses this text, or its answer is cut, withheld or not a text.
        Unavailable
            If the endpoint does not answer, wants another key, or does not know the model.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        answer = self._endpoint.chat(model=self.model, messages=messages, **self._sampling)
        return _content(answer)

    def ask_many(self, system: str, texts: Sequence[str]) -> list[str | HarnessError]:
        """Return an answer for each text, or why there is none; see `ask` for the errors.

        Once the endpoint cannot be had, the texts that are left are not sent.
        """
        gone: list[Unavailable] = []

        def one(text: str) -> str | HarnessError:
            if gone:
                return gone[0]
            try:
                return self.ask(system, text)
            except Unavailable as error:
                gone.append(error)
                return error
            except HarnessError as error:
                return error

        return at_once(one, texts, self.parallel)

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


def _content(answer: Mapping[str, Any]) -> str:
    try:
        choice = answer["choices"][0]
        content, ended = choice["message"]["content"], choice.get("finish_reason")
        refusal = choice["message"].get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Refused("the answer has no choices[0].message.content") from None
    if refusal:
        raise Refused(f"the model declines: {' '.join(str(refusal).split())[:MOST_TOLD]}")
    if ended in ("length", "content_filter"):
        raise Refused(f"the answer is not whole (finish_reason: {ended})")
    if not isinstance(content, str):
        raise Refused("the answer has no text")
    return content
