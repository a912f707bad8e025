"""`openai:MODEL`: text encoders behind an OpenAI-compatible embeddings endpoint.

Such endpoints are OpenAI's own, Gemini's, Voyage's, vLLM, TEI and Ollama. `asking.py` makes
requests of texts and checks the vectors that come back; `endpoint.py` sends them and explains the
errors. No text is truncated here: the endpoint truncates or refuses texts that are too long.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from harness.digest import digest
from harness.embedder import Card, ModelInfo, Role
from harness.errors import HarnessError, InvalidOption, PartlyEncoded
from harness.plugins.embedders import model_info
from harness.plugins.embedders.hosted.answers import Row
from harness.plugins.embedders.hosted.asking import Asking
from harness.plugins.embedders.hosted.endpoint import PARALLEL, Endpoint
from harness.plugins.embedders.hosted.request_texts import RequestTexts
from harness.plugins.embedders.hosted.retrying import MAX_WAIT, RETRIES, TIMEOUT
from harness.plugins.embedders.hosted.threads import map_in_threads
from harness.plugins.embedders.hosted.usage import usage_notes

if TYPE_CHECKING:
    from harness.arrays import Vectors


class OpenAIEmbedder:
    """A text encoder behind an endpoint.

    Parameters
    ----------
    reference
        Name of the model at the endpoint.
    base_url
        Address such as `http://localhost:8000/v1`; None for the variable OPENAI_BASE_URL, else for
        OpenAI's own endpoint.
    key
        Name of the environment variable that holds the key, never the key itself. None for
        OPENAI_API_KEY with OpenAI's endpoint or OPENAI_BASE_URL, and for no key with a `base_url`.
    dimensions
        Length of vector to request, 1 or more, for models that can shorten theirs; None for the
        model's own.
    prompt
        Text put before each text, whatever its role. A single word is the name of a prompt on the
        model's card; anything else is the prompt itself. None for the card's prompts.
    query_prompt, document_prompt
        The same for texts that a task calls queries, and for its documents.
    input_type
        Whether each request says in its field `input_type` that its texts are queries (`query`) or
        documents (`document`), for endpoints that put the prompts before texts themselves.
    batch_texts
        Most texts of a request, 1 or more. A refused request is split in halves; if both halves
        succeed, this number is halved too.
    batch_tokens
        Most tokens of a request, 1 or more, estimated as a quarter of the characters. A longer text
        is sent alone.
    parallel
        Number of concurrent requests, 1 or more.
    encoding
        Format requested for vectors, `base64` or `float`; answers may use either. If base64 is
        refused, or is not of float32 numbers, `float` is requested from then on.
    timeout
        Seconds to wait for a connection, and for a whole answer; above 0.
    retries
        How often a failed request is repeated, 0 or more.
    max_wait
        Longest wait in seconds that the endpoint may ask for, 0 or more. Shorter ones are waited
        for; beyond it the run ends, and says so.
    rpm, tpm
        Most requests and tokens a minute, above 0, for all threads together; None for no limit.
        Either way the rate is halved when the endpoint says that it is too high (status 429), and
        rises again slowly.
    price
        US$ per million tokens, for `harness plan` and the notes; None for the card's.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If an option is out of range, or the address or `key` is invalid.

    Notes
    -----
    The fingerprint covers the endpoint's host and path, the model's name, `dimensions`, the prompts
    and `input_type`. The weights behind an endpoint are unknown: `harness.encode.canary` finds out
    whether another model answers under the same name.
    """

    def __init__(
        self,
        reference: str,
        *,
        base_url: str | None = None,
        key: str | None = None,
        dimensions: int | None = None,
        prompt: str | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        input_type: bool = False,
        batch_texts: int = 100,  # what the strictest of the large providers takes
        batch_tokens: int = 8_192,
        parallel: int = PARALLEL,
        encoding: Literal["base64", "float"] = "base64",
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        max_wait: float = MAX_WAIT,
        rpm: float | None = None,
        tpm: float | None = None,
        price: float | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        numbers = {
            "dimensions": dimensions,
            "batch_texts": batch_texts,
            "batch_tokens": batch_tokens,
            "parallel": parallel,
        }
        for option, value in numbers.items():
            if value is not None and value < 1:
                raise InvalidOption(f"{option}={value}: must be 1 or more")
        self._endpoint = Endpoint(
            base_url, key, timeout=timeout, retries=retries, max_wait=max_wait, rpm=rpm, tpm=tpm
        )
        request: dict[str, Any] = {"model": reference, "encoding_format": encoding}
        if dimensions is not None:
            request["dimensions"] = dimensions
        self._texts = RequestTexts(
            reference,
            card,
            prompt=prompt,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            input_type=input_type,
        )
        self._parallel = parallel
        # What the engine passes to one call, and stores after it: a request for each thread.
        self.batch_tokens = batch_tokens * parallel
        self.batch_texts = max(1, batch_texts - 1) * parallel  # one more is watched
        role_prompts = self._texts.role_prompts
        identity: dict[str, Any] = {
            "endpoint": self._endpoint.identity,
            "model": reference,
            "dimensions": dimensions,
            "prompt": role_prompts.get("text", ""),
        }
        if len(role_prompts) > 1:
            identity["role_prompts"] = role_prompts
        self.info: ModelInfo = model_info.describe(
            card,
            name=name or f"openai:{reference}",
            kind="text",
            fingerprint=f"openai-{digest(identity)}",
            dimensions=dimensions,
            price=price,
            role_prompts=role_prompts,
            hosted=True,
        )
        self._asking = Asking(
            self._endpoint,
            self._texts,
            request,
            batch_texts=batch_texts,
            batch_tokens=batch_tokens,
            length=self.info.dimensions,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines on the tokens that the endpoint counted, and on what it did that was not asked."""
        name, asking, stated = self.info.name, self._asking, self._endpoint.stated_model
        lines = list(usage_notes(name, self._endpoint.usage, self.info.price))
        if asking.as_list is not None and asking.has_succeeded:
            lines.append(f"{name}: asked with encoding=float instead of base64 ({asking.as_list})")
        if stated:
            lines.append(f"{name}: the endpoint says that the model '{stated}' answers")
        return tuple(lines)

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return (n, d) float32 vectors of `n` texts of one role.

        Once the endpoint is unavailable, nothing more is sent.

        Raises
        ------
        PartlyEncoded
            If a text is refused, its vector is invalid, or the endpoint has become unavailable.
        HarnessError
            If the endpoint was unavailable from the start.
        """
        request = functools.partial(self._asking.encode, role=role)
        batches = list(self._asking.batches(list(dict.fromkeys(texts)), role))
        answers: dict[str, Row | HarnessError] = {}
        for encoded in map_in_threads(request, batches, self._parallel):
            answers |= encoded
        unavailable = self._asking.unavailable
        if unavailable is not None and not self._asking.has_succeeded:
            raise type(unavailable)(f"model '{self.info.name}': {unavailable}")
        vectors = np.full((len(texts), self._asking.length or 0), np.nan, dtype=np.float32)
        reasons = {}
        for i, answer in enumerate(map(answers.__getitem__, texts)):
            if isinstance(answer, HarnessError):
                reasons[i] = str(answer)
            else:
                vectors[i] = answer
        if reasons:
            raise PartlyEncoded(vectors, reasons)
        return vectors

    def lengths(self, texts: Sequence[str], *, role: Role = "text") -> list[int]:
        """Return an estimate of the tokens of each text, the prompt's included."""
        return self._asking.lengths(texts, role)

    def watch(self, text: str | None, vector: Row | None) -> None:
        """Send `text` with each request of several texts, and compare its vector with `vector`.

        If it is another one, another model answers: then the endpoint counts as unavailable. With
        None, no text is added.
        """
        self._asking.watch(text, vector)

    def share(self, processes: int) -> None:
        """Take only the part of the limits of one of so many processes."""
        self._endpoint.retrying.limiter.share(processes)

    def tell(self, say: Callable[[str], None]) -> None:
        """Show lines with `say` while requests wait."""
        self._endpoint.retrying.say = say

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()
