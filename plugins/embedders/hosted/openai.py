"""`openai:MODEL`, `cohere:MODEL` and `jina:MODEL`: text encoders behind an embeddings endpoint.

OpenAI-compatible endpoints are OpenAI's own, Gemini's, Voyage's, vLLM, TEI, Ollama and LiteLLM.
Cohere and Jina have words of their own for what a text is for, and other names of fields. Vectors
are asked for as lists of floats, and anything else is refused. No text is truncated here: the
endpoint truncates or refuses texts that are too long. `endpoint.py` sends requests and explains
errors.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from harness.digest import digest
from harness.embedder import Card, ModelInfo, Role
from harness.errors import HarnessError, InvalidOption, ModelError, PartlyEncoded, Unavailable

from .. import cards, prompts
from .endpoint import OPENAI, PARALLEL, RETRIES, TIMEOUT, Endpoint, Home, Refused, map_in_threads

if TYPE_CHECKING:
    from harness.arrays import Vectors

Row: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

PATIENCE = 5
"""Refused texts, and no answered one, after which no more are sent."""


class OpenAIEmbedder:
    """A text encoder behind an endpoint.

    `CohereEmbedder` and `JinaEmbedder` have the same options with another form of requests.

    Parameters
    ----------
    reference
        Name of the model at the endpoint.
    base_url
        Address such as `http://localhost:8000/v1`; None for the variable OPENAI_BASE_URL, else for
        the provider's own endpoint.
    key
        Name of the environment variable that holds the key, never the key itself. None for
        OPENAI_API_KEY with OpenAI's endpoint or OPENAI_BASE_URL, for CO_API_KEY with Cohere's, for
        JINA_API_KEY with Jina's, and for no key with another `base_url`.
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
        documents (`document`), for endpoints that put the prompts before texts themselves. Cohere's
        and Jina's requests always say it, in their own words, and cannot have prompts.
    purpose
        What Cohere's and Jina's requests say of texts without a role, such as `classification`;
        None for `search_document` and `text-matching`.
    batch_texts
        Most texts of a request, 1 or more; with Cohere never above 96. A refused request is split
        in halves; if both halves succeed, this number is halved too.
    batch_tokens
        Most tokens of a request, 1 or more, estimated as a quarter of the characters. A longer text
        is sent alone.
    parallel
        Number of concurrent requests, 1 or more.
    timeout, retries
        See `Endpoint`.
    price
        US$ per million tokens, for `harness plan`; None for the card's.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If an option is out of range, or the address or `key` is invalid; if no prompt has the name,
        a prompt is set where the endpoint puts them, or the endpoint does not know the purpose.

    Notes
    -----
    The fingerprint covers the endpoint's host and path, the model's name, `dimensions`, the prompts
    and `input_type`. The weights behind an endpoint are unknown: `harness.encode.admission` finds
    out whether another model answers under the same name.
    """

    provider: ClassVar[str] = "openai"
    home: ClassVar[Home] = OPENAI
    path: ClassVar[str] = "/embeddings"
    role_field: ClassVar[str] = "input_type"
    roles: ClassVar[Mapping[Role, str]] = {"query": "query", "document": "document"}
    """What `role_field` says for texts of each role."""
    purposes: ClassVar[tuple[str, ...]] = ()
    """What it may say for texts without a role; none if it is sent only where the user asks."""
    most_texts: ClassVar[int] = 2048

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
        purpose: str | None = None,
        batch_texts: int = 100,  # what the strictest of the large providers takes
        batch_tokens: int = 8_192,
        parallel: int = PARALLEL,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        price: float | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        length = {} if dimensions is None else {"dimensions": dimensions}
        if min(*length.values(), batch_texts, batch_tokens, parallel) < 1:
            raise InvalidOption(
                "dimensions, batch_texts, batch_tokens and parallel must be 1 or more"
            )
        if purpose is not None and purpose not in self.purposes:
            known = ", ".join(self.purposes) or "none; Cohere's and Jina's requests have one"
            raise InvalidOption(f"purpose={purpose}: {self.provider} has {known}")
        self._endpoint = Endpoint(base_url, key, home=self.home, timeout=timeout, retries=retries)
        self._request: dict[str, Any] = {"model": reference, **length}
        self._roles: Mapping[Role, str] = {}
        self._prompts: Mapping[Role, str] = {}
        if input_type or self.purposes:
            if {prompt, query_prompt, document_prompt} != {None}:
                raise InvalidOption(
                    f"{self.provider if self.purposes else 'input_type=true'}: the endpoint puts "
                    "the prompts itself; leave out prompt, query_prompt and document_prompt"
                )
            self._roles = {**self.roles, "text": purpose} if purpose else self.roles
            role_prompts: dict[Role, str] = {"text": ""}
            role_prompts |= {role: f"{self.role_field}={to}" for role, to in self._roles.items()}
        else:
            stated = card.prompts if card else {}
            role_prompts = prompts.by_role(
                stated,
                model=reference,
                default=stated.get("text", ""),
                prompt=prompt,
                query_prompt=query_prompt,
                document_prompt=document_prompt,
            )
            self._prompts = role_prompts
        self._most_texts, self._most_tokens = min(batch_texts, self.most_texts), batch_tokens
        self._parallel = parallel
        # What the engine passes to one call, and stores after it: a request for each thread.
        self.batch_tokens = batch_tokens * parallel
        self.batch_texts = self._most_texts * parallel
        identity: dict[str, Any] = {
            "endpoint": self._endpoint.address,
            "model": reference,
            "dimensions": dimensions,
            "role_prompts": role_prompts,
        }
        self.info: ModelInfo = cards.describe(
            card,
            name=name or f"{self.provider}:{reference}",
            kind="text",
            fingerprint=f"{self.provider}-{digest(identity)}",
            dimensions=dimensions,
            price=price,
            role_prompts=role_prompts,
            hosted=True,
        )
        self._length = self.info.dimensions
        self._unavailable: HarnessError | None = None
        self._has_succeeded, self._n_refused = False, 0

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
        ask = functools.partial(self._ask, role=role)
        batches = list(self._batches(list(dict.fromkeys(texts)), role))
        answers: dict[str, Row | HarnessError] = {}
        for answered in map_in_threads(ask, batches, self._parallel):
            answers |= answered
        if self._unavailable is not None and not self._has_succeeded:
            problem = self._unavailable
            raise type(problem)(f"model '{self.info.name}': {problem}")
        vectors = np.full((len(texts), self._length or 0), np.nan, dtype=np.float32)
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
        return [2 + (len(self._prompt(role)) + len(text)) // 4 for text in texts]

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _prompt(self, role: Role) -> str:
        return self._prompts.get(role, self._prompts.get("text", ""))

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

    def _ask(self, texts: list[str], role: Role) -> dict[str, Row | HarnessError]:
        """Return the vector of each text of a request, or the error.

        A refused request is split in halves; a text that is refused alone is reported.
        """
        if self._unavailable is not None:
            return dict.fromkeys(texts, self._unavailable)
        try:
            rows = self._send(texts, role)
        except Unavailable as error:
            self._unavailable = error
            return dict.fromkeys(texts, error)
        except Refused as error:
            if len(texts) > 1:
                return self._halved(texts, role)
            self._n_refused += 1
            if self._n_refused >= PATIENCE and not self._has_succeeded:
                self._unavailable = ModelError(
                    f"{self._endpoint.address} refuses every text ({error})"
                )
            return {texts[0]: self._unavailable or error}
        self._has_succeeded = True
        return dict(zip(texts, rows, strict=True))

    def _halved(self, texts: list[str], role: Role) -> dict[str, Row | HarnessError]:
        half = (len(texts) + 1) // 2
        answers = self._ask(texts[:half], role) | self._ask(texts[half:], role)
        if not any(isinstance(answer, HarnessError) for answer in answers.values()):
            self._most_texts = min(self._most_texts, half)  # the number of texts was the problem
        return answers

    def _send(self, texts: list[str], role: Role) -> list[Row | Refused]:
        """Return the vectors of one request; raise Refused if none of them is valid."""
        request = {**self._request, "input": [self._prompt(role) + text for text in texts]}
        if role in self._roles:
            request[self.role_field] = self._roles[role]
        answer = self._endpoint.request(self.path, self._body(request))
        rows = []
        for embedding in _in_order(self._data(answer), len(texts)):
            row = _vector(embedding, self._length)
            if self._length is None and not isinstance(row, Refused):
                self._length = len(row)
            rows.append(row)
        refused = [row for row in rows if isinstance(row, Refused)]
        if len(refused) == len(rows):
            raise refused[0]
        return rows

    def _body(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with the fields model, input, dimensions and role in its form."""
        return {**request, "encoding_format": "float"}

    def _data(self, answer: Mapping[str, Any]) -> object:
        """Return the embeddings of an answer with their indices, as in OpenAI's form."""
        return answer.get("data")


class CohereEmbedder(OpenAIEmbedder):
    """A text encoder of Cohere, by the second version of its `embed`; see `OpenAIEmbedder`.

    A text without a role is a document, as Cohere recommends where the use is unknown, and as
    MTEB's wrapper has it.
    """

    provider = "cohere"
    home = Home("https://api.cohere.com/v2", "CO_API_KEY")
    path = "/embed"
    roles: ClassVar[Mapping[Role, str]] = {
        "text": "search_document",
        "query": "search_query",
        "document": "search_document",
    }
    purposes = ("search_document", "search_query", "classification", "clustering")
    most_texts = 96

    def _body(self, request: Mapping[str, Any]) -> dict[str, Any]:
        fields = {"input": "texts", "dimensions": "output_dimension"}
        body = {fields.get(name, name): value for name, value in request.items()}
        return body | {"embedding_types": ["float"]}

    def _data(self, answer: Mapping[str, Any]) -> object:
        by_type = answer.get("embeddings")
        rows = by_type.get("float") if isinstance(by_type, Mapping) else None
        if not isinstance(rows, list):
            return None
        return [{"index": i, "embedding": row} for i, row in enumerate(rows)]


class JinaEmbedder(OpenAIEmbedder):
    """A text encoder of Jina that takes a `task`, as jina-embeddings-v3 and later ones do.

    It asks for unit vectors, whatever the default is, and never for `late_chunking`, with which a
    vector depends on the other texts of its request. See `OpenAIEmbedder`.
    """

    provider = "jina"
    home = Home("https://api.jina.ai/v1", "JINA_API_KEY")
    role_field = "task"
    roles: ClassVar[Mapping[Role, str]] = {
        "text": "text-matching",
        "query": "retrieval.query",
        "document": "retrieval.passage",
    }
    purposes = (
        *("text-matching", "classification", "clustering", "separation"),
        *("retrieval.passage", "retrieval.query", "code.passage", "code.query"),
    )

    def _body(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {**request, "embedding_type": "float", "normalized": True}


def _in_order(data: object, n: int) -> list[object]:
    """Return the embeddings of an answer in the order of its `n` texts; else raise Refused."""
    if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
        raise Refused("the answer has no list of vectors")
    if len(data) != n:
        raise Refused(f"{len(data)} vectors for {n} texts")
    by_index = {i: item for item in data if type(i := item.get("index")) is int}
    if by_index.keys() != set(range(n)):
        raise Refused(f"the indices of its vectors are not 0 to {n - 1}")
    return [by_index[i].get("embedding") for i in range(n)]


def _vector(embedding: object, length: int | None) -> Row | Refused:
    """Return an embedding as a (d,) vector, of `length` if it is known; or why it is none."""
    if not isinstance(embedding, list) or not set(map(type, embedding)) <= {int, float}:
        return Refused("its vector is not a list of numbers")
    with np.errstate(over="ignore"):  # checked below: not finite
        row = np.array(list(map(float, embedding)), dtype=np.float32)
    if not row.size or length not in (None, row.size):
        return Refused(f"its vector has {row.size} dimensions, not {length or 'one or more'}")
    if not np.isfinite(row).all() or not row.any():
        return Refused("its vector has NaN or infinity, or is zero")
    return row
