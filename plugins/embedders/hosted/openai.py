"""`openai:MODEL`: text encoders behind an OpenAI-compatible embeddings endpoint.

OpenAI's own, Gemini's, Voyage's, vLLM, TEI, Ollama … How an endpoint is asked, and what its errors
mean, is in `plugins/endpoint.py`; here texts become requests, and answers vectors that are checked.
Texts are not cut: what the endpoint finds too long it cuts or refuses by itself.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from harness.digest import digest
from harness.embedder import Card, ModelInfo
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable
from harness.plugins.embedders import model_info
from harness.plugins.embedders.hosted.at_once import at_once
from harness.plugins.embedders.hosted.endpoint import (
    PARALLEL,
    RETRIES,
    TIMEOUT,
    Endpoint,
    Refused,
    used,
)

if TYPE_CHECKING:
    from harness.arrays import Vectors

PROBE = "a"
"""What is sent to tell texts that an endpoint refuses from an endpoint that refuses all."""
PATIENCE = 5  # texts refused on end, before the probe is sent
CHANGING = ("base_url", "dimensions", "prompt")
"""The options that change vectors; no other belongs to what a model is reported as."""

_Row: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"


class EndpointError(Exception):
    """Why a text, or the first of several, has no vector."""


class OpenAIEmbedder:
    """A text encoder behind an endpoint.

    Parameters
    ----------
    reference
        The model, as the endpoint names it.
    base_url, key, timeout, retries
        See `harness.plugins.embedders.hosted.endpoint.Endpoint`.
    dimensions
        Length of vector to ask for, of models that can shorten theirs; None for their own.
    prompt
        Text put before each text.
    batch_texts
        Texts of a request at most. A request that is refused is halved, and so is this number if
        its halves are taken.
    batch_tokens
        Tokens of a request at most, estimated as a quarter of the characters; a longer text is
        sent alone.
    parallel
        Requests under way at once.
    encoding
        How vectors are asked for; either is understood in the answer.
    price
        US$ per million tokens, for `harness plan` and the notes; None for the card's.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If an option does not fit.
    """

    def __init__(
        self,
        reference: str,
        *,
        base_url: str | None = None,
        key: str | None = None,
        dimensions: int | None = None,
        prompt: str = "",
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
                raise InvalidOption(f"{option}={value} should be 1 or more")
        self._endpoint = Endpoint(base_url, key, timeout=timeout, retries=retries)
        self._asked: dict[str, Any] = {"model": reference, "encoding_format": encoding}
        if dimensions is not None:
            self._asked["dimensions"] = dimensions
        self._prompt, self._parallel = prompt, parallel
        self._most_texts, self._most_tokens = batch_texts, batch_tokens
        self.batch_tokens = batch_tokens * parallel  # what the engine hands over at once
        identity = {
            "endpoint": self._endpoint.where,
            "model": reference,
            "dimensions": dimensions,
            "prompt": prompt,
        }
        self.info: ModelInfo = model_info.describe(
            card,
            name=_reported(name or f"openai:{reference}"),
            kind="text",
            fingerprint=f"openai-{digest(identity)}",
            dimensions=dimensions,
            price=price,
        )
        self._length = self.info.dimensions
        # Answers that were not handed out yet, since another text of their batch has none.
        self._answers: dict[str, _Row | HarnessError] = {}
        self._gone: HarnessError | None = None
        self._accepted = False
        self._refused_on_end = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """A line on the tokens that the endpoint counted."""
        return used(self.info.name, self._endpoint.usage, self.info.price)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32 vectors of `n` texts.

        If some have none, the vectors of the others are kept, and asking for these again, together
        or one by one, costs no request. Once the endpoint cannot be had, nothing more is sent.

        Raises
        ------
        EndpointError
            If a text is refused or its vector is unsound, or the endpoint cannot be had any more.
        HarnessError
            If the endpoint could not be had from the start.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._answers]
        for found in at_once(self._encode, list(self._requests(new)), self._parallel):
            self._answers |= found
        wrong = [a for a in map(self._answers.get, texts) if isinstance(a, HarnessError)]
        if wrong:
            if len(texts) == 1:
                del self._answers[texts[0]]
            if self._gone is not None and not self._accepted:
                raise type(self._gone)(f"model '{self.info.name}': {self._gone}")
            raise EndpointError(str(wrong[0]))
        rows = [self._answers[text] for text in texts]
        for text in dict.fromkeys(texts):
            del self._answers[text]
        return np.reshape(np.asarray(rows, dtype=np.float32), (len(texts), self._length or 0))

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate of each text's tokens, its prompt's included."""
        return [2 + (len(self._prompt) + len(text)) // 4 for text in texts]

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _requests(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the texts of each request."""
        batch: list[str] = []
        tokens = 0
        for text, size in zip(texts, self.lengths(texts), strict=True):
            if batch and (len(batch) >= self._most_texts or tokens + size > self._most_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    def _encode(
        self, texts: list[str], retries: int | None = None
    ) -> dict[str, _Row | HarnessError]:
        """Return the vector of each text, or why it has none."""
        if self._gone is not None:
            return dict.fromkeys(texts, self._gone)
        try:
            rows = self._ask(texts, retries)
        except Unavailable as error:
            self._gone = error
            return dict.fromkeys(texts, error)
        except Refused as error:
            if error.broken:
                # It fails on one of these texts, most likely, and will again.
                retries = min(1, self._endpoint.retries)
            if len(texts) > 1:
                return self._halved(texts, retries)
            self._refused_on_end += 1
            if self._refused_on_end >= PATIENCE:
                self._probe(error, retries)
            return {texts[0]: self._gone or error}
        self._accepted, self._refused_on_end = True, 0
        return dict(zip(texts, rows, strict=True))

    def _halved(self, texts: list[str], retries: int | None) -> dict[str, _Row | HarnessError]:
        half = (len(texts) + 1) // 2
        found = self._encode(texts[:half], retries) | self._encode(texts[half:], retries)
        if not any(isinstance(answer, HarnessError) for answer in found.values()):
            self._most_texts = min(self._most_texts, half)  # their number was the matter
        return found

    def _probe(self, error: Refused, retries: int | None) -> None:
        """Find out whether the endpoint takes anything at all."""
        self._refused_on_end = 0
        try:
            self._ask([PROBE], retries, prompt="")
        except Unavailable as unavailable:
            self._gone = unavailable
        except Refused:
            self._gone = ModelError(f"{self._endpoint.where} refuses whatever is sent ({error})")

    def _ask(
        self, texts: Sequence[str], retries: int | None, prompt: str | None = None
    ) -> list[_Row | HarnessError]:
        """Return what one request gives; Refused if that is not one sound vector at least."""
        before = self._prompt if prompt is None else prompt
        body = {**self._asked, "input": [before + text for text in texts]}
        rows = [
            _vector(item)
            for item in _in_order(self._endpoint.embeddings(**body, retries=retries), len(texts))
        ]
        if self._length is None:
            lengths = Counter(len(row) for row in rows if not isinstance(row, HarnessError))
            self._length = lengths.most_common(1)[0][0] if lengths else None
        checked = [self._checked(row) for row in rows]
        unsound = [row for row in checked if isinstance(row, Refused)]
        if len(unsound) == len(checked):
            raise unsound[0]
        return checked

    def _checked(self, row: _Row | HarnessError) -> _Row | HarnessError:
        if isinstance(row, HarnessError) or len(row) == self._length:
            return row
        return Refused(f"its vector has {len(row)} dimensions, not {self._length}")


def _reported(name: str) -> str:
    """Return a model's name with those options alone that change its vectors."""
    head, _, query = name.partition("?")
    kept = [pair for pair in query.split("&") if pair.partition("=")[0] in CHANGING]
    return head + ("?" + "&".join(kept) if kept else "")


def _in_order(answer: Mapping[str, Any], n: int) -> list[Mapping[str, Any]]:
    """Return what an answer has for each of `n` texts, by the numbers that it gives them."""
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
        raise Refused("the answer has no list of vectors")
    if len(data) != n:
        raise Refused(f"{len(data)} vectors came for {n} texts")
    places = [item.get("index") for item in data]
    placed = {
        place if isinstance(place, int) else i: item
        for i, (place, item) in enumerate(zip(places, data, strict=True))
    }
    if set(placed) != set(range(n)):
        raise Refused(f"its vectors are not numbered from 0 to {n - 1}")
    return [placed[i] for i in range(n)]


def _vector(item: Mapping[str, Any]) -> _Row | HarnessError:
    given = item.get("embedding")
    try:
        if isinstance(given, str):
            row = np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4")
        else:
            with np.errstate(over="ignore"):  # found as not finite
                row = np.asarray(given, dtype=np.float64).astype(np.float32)
    except (TypeError, ValueError):
        return Refused("its vector is not one of numbers")
    if row.ndim != 1:
        return Refused("its vector is not one of numbers")
    if not row.size:
        return Refused("its vector is empty")
    if not np.isfinite(row).all():
        return Refused("its vector has NaN or infinity in it")
    return row.astype(np.float32, copy=False)
