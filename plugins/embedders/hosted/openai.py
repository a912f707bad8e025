"""`openai:MODEL`, `cohere:MODEL` and `jina:MODEL`: text encoders behind an embeddings endpoint.

OpenAI-compatible endpoints are OpenAI's own, Gemini's, Voyage's, vLLM, TEI, Ollama and LiteLLM.
`forms.py` says where the requests of Cohere and Jina differ; `endpoint.py` sends requests and
explains errors. Vectors are asked for as lists of floats, and anything else is refused. No text is
truncated here: the endpoint truncates or refuses texts that are too long.
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
from .endpoint import PARALLEL, RETRIES, TIMEOUT, Endpoint, Refused, map_in_threads, usage_notes
from .forms import COHERE_FORM, JINA_FORM, OPENAI_FORM, Form

if TYPE_CHECKING:
    from harness.arrays import Vectors

Row: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

PATIENCE = 5
"""Refused texts, and no answered one, after which no more are sent."""


def in_order(answer: Mapping[str, Any], n: int) -> list[object]:
    """Return the embeddings of an answer in the order of its `n` texts, by their index.

    Raises
    ------
    Refused
        If there is not exactly one item for each text.
    """
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
        raise Refused("the answer has no list of vectors")
    if len(data) != n:
        raise Refused(f"{len(data)} vectors for {n} texts")
    by_index = {i: item for item in data if type(i := item.get("index")) is int}
    if by_index.keys() != set(range(n)):
        raise Refused(f"the indices of its vectors are not 0 to {n - 1}")
    return [by_index[i].get("embedding") for i in range(n)]


def vector(embedding: object, length: int | None) -> Row | Refused:
    """Return an embedding as a (d,) vector, or the reason why it is none.

    Parameters
    ----------
    embedding
        What an answer has for a text.
    length
        Length of a vector; None if unknown.
    """
    if not isinstance(embedding, list) or not set(map(type, embedding)) <= {int, float}:
        return Refused("its vector is not a list of numbers")
    try:
        with np.errstate(over="ignore"):  # checked below: not finite
            row = np.asarray(embedding, dtype=np.float64).astype(np.float32)
    except OverflowError:
        return Refused("its vector has numbers beyond any float")
    if not row.size or length not in (None, row.size):
        return Refused(f"its vector has {row.size} dimensions, not {length or 'one or more'}")
    if not np.isfinite(row).all():
        return Refused("its vector has NaN or infinity")
    if not row.any():
        return Refused("its vector is zero, which has no direction")
    return row


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
    timeout
        Seconds to wait for a connection and for each part of an answer; above 0.
    retries
        How often the client repeats a failed request, 0 or more. It waits as long as the endpoint
        asks for, up to two minutes.
    price
        US$ per million tokens, for `harness plan` and the notes; None for the card's.
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

    form: ClassVar[Form] = OPENAI_FORM

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
        numbers = {
            "dimensions": dimensions,
            "batch_texts": batch_texts,
            "batch_tokens": batch_tokens,
            "parallel": parallel,
        }
        for option, value in numbers.items():
            if value is not None and value < 1:
                raise InvalidOption(f"{option}={value}: must be 1 or more")
        form = self.form
        self._endpoint = Endpoint(base_url, key, home=form.home, timeout=timeout, retries=retries)
        self._request: dict[str, Any] = {"model": reference}
        if dimensions is not None:
            self._request["dimensions"] = dimensions
        self._roles: Mapping[Role, str] = {}
        self._prompts: Mapping[Role, str] = {}
        if input_type or form.purposes:
            if {prompt, query_prompt, document_prompt} != {None}:
                raise InvalidOption(
                    f"{form.provider if form.purposes else 'input_type=true'}: the endpoint puts "
                    "the prompts itself; leave out prompt, query_prompt and document_prompt"
                )
            self._roles = form.roles
            role_prompts: dict[Role, str] = {"text": ""}
        if purpose is not None:
            if purpose not in form.purposes:
                known = ", ".join(form.purposes) or "none; Cohere's and Jina's requests have one"
                raise InvalidOption(f"purpose={purpose}: {form.provider} has {known}")
            self._roles = {**form.roles, "text": purpose}
        if self._roles:
            role_prompts |= {role: f"{form.role}={to}" for role, to in self._roles.items()}
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
        self._most_texts, self._most_tokens = min(batch_texts, form.most_texts), batch_tokens
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
            name=name or f"{form.provider}:{reference}",
            kind="text",
            fingerprint=f"{form.provider}-{digest(identity)}",
            dimensions=dimensions,
            price=price,
            role_prompts=role_prompts,
            hosted=True,
        )
        self._length = self.info.dimensions
        self._unavailable: HarnessError | None = None
        self._has_succeeded, self._n_refused = False, 0

    @property
    def notes(self) -> tuple[str, ...]:
        """One line on the tokens that the endpoint counted; none without a request."""
        return usage_notes(self.info.name, self._endpoint.usage, self.info.price)

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
            request[self.form.role] = self._roles[role]
        answer = self._endpoint.request(self.form.path, self.form.request(request))
        answer = self.form.answer(answer)
        self._endpoint.usage.add(answer.get("usage"))
        rows = []
        for embedding in in_order(answer, len(texts)):
            row = vector(embedding, self._length)
            if self._length is None and not isinstance(row, Refused):
                self._length = len(row)
            rows.append(row)
        refused = [row for row in rows if isinstance(row, Refused)]
        if len(refused) == len(rows):
            raise refused[0]
        return rows


class CohereEmbedder(OpenAIEmbedder):
    """A text encoder of Cohere, by the second version of its `embed`.

    Its `input_type` is search_query for queries and search_document for all other texts. Options
    are those of `OpenAIEmbedder`.
    """

    form = COHERE_FORM


class JinaEmbedder(OpenAIEmbedder):
    """A text encoder of Jina that takes a `task`, as jina-embeddings-v3 and later ones do.

    Its `task` is retrieval.query for queries, retrieval.passage for documents, and text-matching
    for all other texts. Options are those of `OpenAIEmbedder`.
    """

    form = JINA_FORM
