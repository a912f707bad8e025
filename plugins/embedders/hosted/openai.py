"""`openai:MODEL`: text encoders behind an OpenAI-compatible embeddings endpoint.

Such endpoints are OpenAI's own, Gemini's, Voyage's, vLLM, TEI and Ollama. `endpoint.py` sends the
requests and explains the errors; this module makes requests of texts and checks the vectors that
come back. It truncates no text: the endpoint truncates or refuses texts that are too long.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from harness.digest import digest
from harness.embedder import Card, ModelInfo, Role
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable
from harness.plugins.embedders import model_info
from harness.plugins.embedders.hosted import answers
from harness.plugins.embedders.hosted.answers import Row
from harness.plugins.embedders.hosted.endpoint import (
    PARALLEL,
    RETRIES,
    TIMEOUT,
    Endpoint,
    Refused,
)
from harness.plugins.embedders.hosted.request_texts import RequestTexts
from harness.plugins.embedders.hosted.threads import map_in_threads
from harness.plugins.embedders.hosted.usage import usage_notes

if TYPE_CHECKING:
    from harness.arrays import Vectors

PROBE = "a"
"""Text sent to find out whether an endpoint refuses some texts or all of them."""
PATIENCE = 5  # refused texts in a row before the probe is sent


class EndpointError(Exception):
    """Why a text, or the first of several, got no vector."""


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
        Format requested for vectors, `base64` or `float`; answers may use either.
    timeout
        Seconds to wait for an answer, above 0.
    retries
        How often a failed request is repeated, 0 or more.
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
    and `input_type`. The weights behind an endpoint are unknown: delete the stored vectors if the
    provider changes a model under the same name.
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
        self._endpoint = Endpoint(base_url, key, timeout=timeout, retries=retries)
        self._request: dict[str, Any] = {"model": reference, "encoding_format": encoding}
        if dimensions is not None:
            self._request["dimensions"] = dimensions
        self._texts = RequestTexts(
            reference,
            card,
            prompt=prompt,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            input_type=input_type,
        )
        self._most_texts, self._most_tokens, self._parallel = batch_texts, batch_tokens, parallel
        self.batch_tokens = batch_tokens * parallel  # what the engine passes to one call
        role_prompts = self._texts.role_prompts
        identity: dict[str, Any] = {
            "endpoint": self._endpoint.address,
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
        )
        self._length = self.info.dimensions
        # Answers not returned yet, because another text of their batch has none.
        self._answers: dict[tuple[Role, str], Row | HarnessError] = {}
        self._unavailable: HarnessError | None = None
        self._has_succeeded = False
        self._refused_in_a_row = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """One line on the tokens that the endpoint counted; none without a request."""
        return usage_notes(self.info.name, self._endpoint.usage, self.info.price)

    def encode(self, texts: Sequence[str], *, role: Role = "text") -> Vectors:
        """Return (n, d) float32 vectors of `n` texts of one role.

        If some texts get no vector, the vectors of the others are kept, so that encoding these
        again, together or one by one, costs no request. Once the endpoint is unavailable, nothing
        more is sent.

        Raises
        ------
        EndpointError
            If a text is refused, its vector is invalid, or the endpoint has become unavailable.
        HarnessError
            If the endpoint was unavailable from the start.
        """
        keys = [(role, text) for text in texts]
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self._answers]
        request = functools.partial(self._encode, role=role)
        for encoded in map_in_threads(request, list(self._batches(new, role)), self._parallel):
            self._answers |= {(role, text): answer for text, answer in encoded.items()}
        errors = [a for a in map(self._answers.get, keys) if isinstance(a, HarnessError)]
        if errors:
            if len(texts) == 1:
                del self._answers[keys[0]]
            if self._unavailable is not None and not self._has_succeeded:
                raise type(self._unavailable)(f"model '{self.info.name}': {self._unavailable}")
            raise EndpointError(str(errors[0]))
        rows = [self._answers[key] for key in keys]
        for key in dict.fromkeys(keys):
            del self._answers[key]
        return np.reshape(np.asarray(rows, dtype=np.float32), (len(texts), self._length or 0))

    def lengths(self, texts: Sequence[str], *, role: Role = "text") -> list[int]:
        """Return an estimate of the tokens of each text, the prompt's included."""
        return [2 + (len(self._texts.prompt(role)) + len(text)) // 4 for text in texts]

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _batches(self, texts: Sequence[str], role: Role) -> Iterator[list[str]]:
        """Yield the texts of each request."""
        batch: list[str] = []
        tokens = 0
        for text, size in zip(texts, self.lengths(texts, role=role), strict=True):
            if batch and (len(batch) >= self._most_texts or tokens + size > self._most_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    def _encode(
        self, texts: list[str], retries: int | None = None, *, role: Role
    ) -> dict[str, Row | HarnessError]:
        """Return the vector of each text, or the error."""
        if self._unavailable is not None:
            return dict.fromkeys(texts, self._unavailable)
        try:
            rows = self._send(texts, retries, role)
        except Unavailable as error:
            self._unavailable = error
            return dict.fromkeys(texts, error)
        except Refused as error:
            if error.broken:
                # Most likely it fails on one of these texts, and will again.
                retries = min(1, self._endpoint.retries)
            if len(texts) > 1:
                return self._halved(texts, retries, role)
            self._refused_in_a_row += 1
            if self._refused_in_a_row >= PATIENCE:
                self._probe(error, retries)
            return {texts[0]: self._unavailable or error}
        self._has_succeeded, self._refused_in_a_row = True, 0
        return dict(zip(texts, rows, strict=True))

    def _halved(
        self, texts: list[str], retries: int | None, role: Role
    ) -> dict[str, Row | HarnessError]:
        half = (len(texts) + 1) // 2
        encoded = self._encode(texts[:half], retries, role=role)
        encoded |= self._encode(texts[half:], retries, role=role)
        if not any(isinstance(answer, HarnessError) for answer in encoded.values()):
            self._most_texts = min(self._most_texts, half)  # the number of texts was the problem
        return encoded

    def _probe(self, error: Refused, retries: int | None) -> None:
        """Find out whether the endpoint accepts any text, and give it up if not."""
        self._refused_in_a_row = 0
        try:
            self._send([PROBE], retries)
        except Unavailable as unavailable:
            self._unavailable = unavailable
        except Refused:
            self._unavailable = ModelError(f"{self._endpoint.address} refuses every text ({error})")

    def _send(
        self, texts: Sequence[str], retries: int | None, role: Role | None = None
    ) -> list[Row | HarnessError]:
        """Return the vectors of one request; raise Refused if none of them is valid."""
        body = self._request | self._texts.body(texts, role)
        answer = self._endpoint.embeddings(**body, retries=retries)
        rows = [answers.vector(item) for item in answers.in_order(answer, len(texts))]
        if self._length is None:
            lengths = Counter(len(row) for row in rows if not isinstance(row, HarnessError))
            self._length = lengths.most_common(1)[0][0] if lengths else None
        checked = [self._checked(row) for row in rows]
        invalid = [row for row in checked if isinstance(row, Refused)]
        if len(invalid) == len(checked):
            raise invalid[0]
        return checked

    def _checked(self, row: Row | HarnessError) -> Row | HarnessError:
        if isinstance(row, HarnessError) or len(row) == self._length:
            return row
        return Refused(f"its vector has {len(row)} dimensions, not {self._length}")
