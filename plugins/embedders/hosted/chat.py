"""Language models behind an OpenAI-compatible endpoint: a text in, a text out.

Answers are cached elsewhere: in `harness.store.answers.AnswerCache`, under `Chat.identity`. Whether
the provider has put another model behind the name is not noticed: answers have no distance, and
differ from call to call. Requests and errors are in `endpoint.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.errors import HarnessError, InvalidOption, Unavailable

from .endpoint import (
    MESSAGE_LENGTH,
    PARALLEL,
    RETRIES,
    TIMEOUT,
    Endpoint,
    Refused,
    map_in_threads,
)


class Chat:
    """A language model behind an endpoint that completes chats.

    Parameters
    ----------
    model
        Name of the model at the endpoint.
    base_url, key, timeout, retries
        See `Endpoint`.
    temperature, seed
        Sent with each request; temperature 0 gives the likeliest answer. None to send nothing, for
        models that refuse them.
    parallel
        Number of concurrent requests, 1 or more.
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
            raise InvalidOption(f"parallel={parallel}: must be 1 or more")
        self.model, self.parallel = model, parallel
        self._endpoint = Endpoint(base_url, key, timeout=timeout, retries=retries)
        sampling = {"temperature": temperature, "seed": seed}
        self._sampling = {name: value for name, value in sampling.items() if value is not None}

    @property
    def identity(self) -> dict[str, Any]:
        """Everything but the texts that an answer depends on, as JSON values; without the key."""
        return {"endpoint": self._endpoint.address, "model": self.model, **self._sampling}

    def ask(self, system: str | None, text: str) -> str:
        """Return the model's answer to `text` under the instruction `system`, if there is one.

        Raises
        ------
        Refused
            If the endpoint refuses this text, or its answer is incomplete, declined or not a text.
        Unavailable
            If the endpoint does not answer, rejects the key, or does not know the model.
        """
        messages = [] if system is None else [{"role": "system", "content": system}]
        messages.append({"role": "user", "content": text})
        body = {"model": self.model, "messages": messages, **self._sampling}
        return _content(self._endpoint.request("/chat/completions", body))

    def ask_many(
        self,
        system: str | None,
        texts: Sequence[str],
        keep: Callable[[int, str], None] = lambda *_: None,
    ) -> list[str | HarnessError]:
        """Return for each text its answer, or the error of `ask`.

        Once the endpoint is unavailable, the remaining texts are not sent. `keep` is called with
        the position of a text and its answer as soon as that has arrived, by any thread.
        """
        unavailable: list[Unavailable] = []

        def answer(position: int) -> str | HarnessError:
            if unavailable:
                return unavailable[0]
            try:
                content = self.ask(system, texts[position])
            except Unavailable as error:
                unavailable.append(error)
                return error
            except HarnessError as error:
                return error
            keep(position, content)
            return content

        return map_in_threads(answer, range(len(texts)), self.parallel)

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


def _content(answer: Mapping[str, Any]) -> str:
    try:
        choice = answer["choices"][0]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
        refusal = choice["message"].get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Refused("the answer has no choices[0].message.content") from None
    if refusal:
        raise Refused(f"the model declined: {' '.join(str(refusal).split())[:MESSAGE_LENGTH]}")
    if reason in ("length", "content_filter"):
        raise Refused(f"the answer is incomplete (finish_reason: {reason})")
    if not isinstance(content, str):
        raise Refused("the answer has no text")
    return content
