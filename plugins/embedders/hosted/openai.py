"""`openai:MODEL`, `cohere:MODEL` and `jina:MODEL`: text encoders behind an embeddings endpoint.

OpenAI-compatible endpoints are OpenAI's own, Gemini's, Voyage's, vLLM, TEI, Ollama and LiteLLM. A
`Form` says where the requests of Cohere and Jina differ. This module makes requests of texts and
checks the vectors that come back; `endpoint.py` sends them and explains the errors. No text is
truncated here: the endpoint truncates or refuses texts that are too long.
"""

from __future__ import annotations

import base64
import binascii
import functools
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from harness.digest import digest
from harness.embedder import Card, ModelInfo, Role
from harness.encode.admission import is_same
from harness.errors import HarnessError, InvalidOption, ModelError, PartlyEncoded, Unavailable

from .. import cards, prompts
from .endpoint import OPENAI, PARALLEL, Endpoint, Home, Reading, Refused, as_sent, usage_notes
from .retrying import MAX_WAIT, RETRIES, TIMEOUT, map_in_threads

if TYPE_CHECKING:
    from harness.arrays import Vectors


# Reads the vectors in the answer of an embeddings endpoint, and checks each of them.
#
# Vectors are lists of numbers, or float32 numbers in base64. Nothing in an answer says of what type
# its bytes are, and servers send doubles, halves and packed bits, too. Their bytes give numbers of
# any size when they are read as float32, or are a vector of another type as well: then the vector
# is refused. Quantised vectors, which are lists of small integers, are refused, too: their numbers
# have an offset, or are bits.


Row: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.floating[Any]]]"

FLOAT32 = (
    "its vector is in base64, and not of float32 numbers; the endpoint must send a list of numbers "
    "(encoding=float)"
)
INTEGERS = (
    "its vector has only integers from {low} to {high}, as quantised vectors have (int8, uint8, "
    "binary); the endpoint must send the numbers themselves (encoding=float)"
)


class _Limits(NamedTuple):
    """What numbers look like if their bytes are of the type that they are read as."""

    spread: float
    """Most bits between the 5% and the 95% quantile of their sizes. Normal numbers have 5 and a
    softmax 14. Halves that are read as float32 have 33, and doubles 128."""
    low: float
    high: float
    """Limits of their median size."""


_FLOAT32 = _Limits(20, 1e-9, 1e9)
_OTHER = _Limits(20, 1e-4, 1e3)
_HALF = _Limits(10, 1e-4, 1e3)  # there are no halves beyond 40 bits


def in_order(answer: Mapping[str, Any], n: int) -> list[Mapping[str, Any]]:
    """Return the items of an answer in the order of its `n` texts, by their index.

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
    stated = [item.get("index") for item in data]
    if all(index is None for index in stated):
        return list(data)
    if not all(type(index) is int for index in stated) or set(stated) != set(range(n)):
        shown = ", ".join(json.dumps(index)[:20] for index in stated[:3]) + ", …" * (n > 3)
        raise Refused(f"the indices of its vectors are not 0 to {n - 1}, but {shown}")
    by_index = dict(zip(stated, data, strict=True))
    return [by_index[i] for i in range(n)]


def vectors(items: Sequence[Mapping[str, Any]], length: int | None) -> list[Row | Refused]:
    """Return the (d,) float32 vector of each item, or the reason why it is invalid.

    Parameters
    ----------
    items
        Items of one answer.
    length
        Length of a vector; None if unknown. Then bytes that could be of two types are refused.
    """
    rows = [_vector(item) for item in items]
    valid = [row for row in rows if not isinstance(row, Refused)]
    reason = None
    if valid and _are_codes(valid):
        low, high = (int(bound(row.min() for row in valid)) for bound in (min, max))
        reason = INTEGERS.format(low=low, high=high)
    elif length is None and not _are_float32([i["embedding"] for i in items if _packed(i)]):
        reason = FLOAT32
    if reason is None:
        return rows
    return [row if isinstance(row, Refused) else Refused(reason) for row in rows]


def are_packed(items: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a vector is in base64."""
    return any(_packed(item) for item in items)


def _packed(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("embedding"), str)


def _vector(item: Mapping[str, Any]) -> Row | Refused:
    embedding = item.get("embedding")
    if isinstance(embedding, str):
        content = _decoded(embedding)
        if content is None:
            return Refused("its vector is not a list of numbers, but a text that is no base64")
        if len(content) % 4:
            return Refused(FLOAT32)
        row = np.frombuffer(content, dtype="<f4")
    else:
        if problem := _not_numbers(embedding):
            return Refused(f"its vector is not a list of numbers, but {problem}")
        try:
            with np.errstate(over="ignore"):  # checked below: not finite
                row = np.asarray(embedding, dtype=np.float64).astype(np.float32)
        except OverflowError:
            return Refused("its vector is not a list of numbers, but has some beyond any float")
    if not row.size:
        return Refused("its vector is empty")
    if not np.isfinite(row).all():
        return Refused("its vector has NaN or infinity")
    if not row.any():
        return Refused("its vector is zero, which has no direction")
    if isinstance(embedding, str) and not _looks_right(row, _FLOAT32):
        return Refused(FLOAT32)
    return row.astype(np.float32, copy=False)


def _not_numbers(embedding: object) -> str:
    """Return what an embedding is, if it is not a list of numbers; else an empty text."""
    if isinstance(embedding, Mapping):
        if {"indices", "values"} <= embedding.keys():
            return "a sparse vector, of indices and values"
        return "a mapping"
    if not isinstance(embedding, list):
        return "null" if embedding is None else "a single value"
    types = {type(value) for value in embedding}
    if types <= {int, float}:
        return ""
    if list in types:
        return "a list of lists, as models with a vector for each token send"
    return {str: "has texts", type(None): "has null", bool: "has true and false"}.get(
        next(iter(types - {int, float})), "has other values"
    )


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _are_codes(rows: Sequence[Row]) -> bool:
    """Return whether vectors have only integers of 8 bits, and not only -1, 0 and 1."""
    low, high = min(row.min() for row in rows), max(row.max() for row in rows)
    if low < -128 or high > 255 or max(-low, high) <= 1:
        return False
    return all(np.array_equal(row, np.rint(row)) for row in rows)


def _are_float32(texts: Sequence[str]) -> bool:
    """Return whether vectors in base64 look like float32 numbers, and like no others."""
    content = b"".join(decoded for text in texts if (decoded := _decoded(text)))
    if not content:
        return True
    with np.errstate(invalid="ignore"):  # some bytes are a NaN that signals
        right = [
            kind
            for kind, numbers, limits in _readings(content)
            if _looks_right(numbers, limits)
            # Else numbers with few digits are each read as two, one of them zero.
            and (len(numbers) == 1 or ((numbers[::2] != 0).any() and (numbers[1::2] != 0).any()))
        ]
    return right == ["<f4"]


def _readings(content: bytes) -> Iterator[tuple[str, Numbers, _Limits]]:
    """Yield what bytes are as floats of each size, and as bfloat16, in both byte orders."""
    if len(content) % 4 == 0:
        yield "<f4", np.frombuffer(content, dtype="<f4"), _FLOAT32
    for kind in ("<f8", ">f8", ">f4", "<f2", ">f2"):
        if len(content) % int(kind[-1]) == 0:
            limits = _HALF if kind[-1] == "2" else _OTHER
            yield kind, np.frombuffer(content, dtype=kind), limits
            if kind[-1] == "2":
                words = np.frombuffer(content, dtype=f"{kind[0]}u2").astype(np.uint32)
                yield "bfloat16", (words << 16).view(np.float32), _OTHER


def _looks_right(numbers: Numbers, limits: _Limits) -> bool:
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    if len(finite) < 0.9 * len(numbers) or not finite.any():
        return False
    sizes = np.abs(finite[finite != 0])
    low, median, high = np.quantile(np.log2(sizes), [0.05, 0.5, 0.95])
    return bool(limits.low < 2**median < limits.high and high - low < limits.spread)


# How the requests and answers of a provider differ from OpenAI's.


ENCODING = "encoding_format"
"""Field of a request."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """Where requests and answers of a provider differ from OpenAI's.

    Parameters
    ----------
    provider
        The provider, as in `openai:MODEL`.
    home
        Its own endpoint.
    path
        Where requests go, below the address of the endpoint.
    role
        Field of a request that says what its texts are for.
    roles
        Its value for each role.
    purposes
        The values that the user may choose for texts without a role; none if the field is sent
        only where the user asks for it.
    most_texts
        Most texts of a request; None for no limit of its own.
    request
        Makes a request of the provider from one in OpenAI's form.
    answer
        Makes an answer in OpenAI's form from one of the provider.
    """

    provider: str
    home: Home
    path: str = "/embeddings"
    role: str = "input_type"
    roles: Mapping[Role, str] = field(
        default_factory=lambda: {"query": "query", "document": "document"}
    )
    purposes: tuple[str, ...] = ()
    most_texts: int | None = None
    request: Reading = as_sent
    answer: Reading = as_sent


def _to_cohere(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of Cohere's second version of `embed`."""
    fields = {"input": "texts", "dimensions": "output_dimension"}
    body = {fields.get(name, name): value for name, value in request.items() if name != ENCODING}
    return body | {"embedding_types": [request[ENCODING]]}


def _of_cohere(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of Cohere, whose vectors stand in a list for each type."""
    by_type = answer.get("embeddings")
    lists = list(by_type.values()) if isinstance(by_type, Mapping) else []
    rows = next((rows for rows in lists if isinstance(rows, list) and rows), None)
    meta = answer.get("meta")
    # vLLM, which knows this form, bills nothing.
    counts = (meta.get("billed_units") or meta.get("tokens")) if isinstance(meta, Mapping) else None
    tokens = counts.get("input_tokens") if isinstance(counts, Mapping) else None
    return {
        "data": None if rows is None else [{"embedding": row} for row in rows],
        "usage": {"prompt_tokens": tokens},
    }


def _to_jina(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of Jina.

    It asks for unit vectors, whatever the default is. It never asks for `late_chunking`, with which
    a vector depends on the other texts of its request.
    """
    body = {name: value for name, value in request.items() if name != ENCODING}
    return body | {"embedding_type": request[ENCODING], "normalized": True}


OPENAI_FORM = Form(provider="openai", home=OPENAI)
COHERE_FORM = Form(
    provider="cohere",
    home=Home("https://api.cohere.com/v2", "CO_API_KEY"),
    path="/embed",
    # A text without a role is a document, as Cohere recommends where the use is unknown, and as
    # MTEB's wrapper has it.
    roles={"text": "search_document", "query": "search_query", "document": "search_document"},
    purposes=("search_document", "search_query", "classification", "clustering"),
    most_texts=96,
    request=_to_cohere,
    answer=_of_cohere,
)
JINA_FORM = Form(
    provider="jina",
    home=Home("https://api.jina.ai/v1", "JINA_API_KEY"),
    role="task",
    roles={"text": "text-matching", "query": "retrieval.query", "document": "retrieval.passage"},
    purposes=(
        *("text-matching", "classification", "clustering", "separation"),
        *("retrieval.passage", "retrieval.query", "code.passage", "code.query"),
    ),
    request=_to_jina,
)


# The texts of a request for embeddings, with what it says about their role.
#
# Either the prompts are put before the texts here, or the request names the role in a field, and
# the endpoint puts its own prompts.


class RequestTexts:
    """The texts of a request, by role.

    Parameters
    ----------
    model
        What errors call the model.
    card
        The model's card, which may state prompts.
    form
        The form of requests.
    prompt, query_prompt, document_prompt, input_type, purpose
        See `OpenAIEmbedder`.

    Attributes
    ----------
    role_prompts
        As in `harness.embedder.ModelInfo`; the field and its value if the endpoint puts prompts.

    Raises
    ------
    InvalidOption
        If no prompt has the name, a prompt is set where the endpoint puts them, or the endpoint
        does not know the purpose.
    """

    def __init__(
        self,
        model: str,
        card: Card | None,
        form: Form,
        *,
        prompt: str | None,
        query_prompt: str | None,
        document_prompt: str | None,
        input_type: bool,
        purpose: str | None,
    ) -> None:
        self._field = form.role
        self._roles: dict[Role, str] = {}
        self._prompts: dict[Role, str] = {}
        if purpose is not None and purpose not in form.purposes:
            known = ", ".join(form.purposes) or "none; Cohere's and Jina's requests have one"
            raise InvalidOption(f"purpose={purpose}: {form.provider} has {known}")
        if input_type or form.purposes:
            if {prompt, query_prompt, document_prompt} != {None}:
                raise InvalidOption(
                    f"{form.provider if form.purposes else 'input_type=true'}: the endpoint puts "
                    "the prompts itself; leave out prompt, query_prompt and document_prompt"
                )
            self._roles = dict(form.roles)
            if purpose is not None:
                self._roles["text"] = purpose
            self.role_prompts: dict[Role, str] = {"text": ""}
            self.role_prompts |= {role: f"{form.role}={to}" for role, to in self._roles.items()}
            return
        stated = card.prompts if card else {}
        self.role_prompts = self._prompts = prompts.by_role(
            stated,
            model=model,
            default=stated.get("text", ""),
            prompt=prompt,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
        )

    def prompt(self, role: Role) -> str:
        """Return the prompt put before each text of a role; empty for none."""
        return self._prompts.get(role, self._prompts.get("text", ""))

    @property
    def by_request(self) -> bool:
        """Whether requests name the role, so that a text has a vector for each role."""
        return not self._prompts

    def body(
        self, texts: Sequence[str], role: Role | None, as_they_are: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return the fields of a request for texts of one role; with None, for texts as they are.

        Texts without a prompt, `as_they_are`, follow.
        """
        prompted = texts if role is None else [self.prompt(role) + text for text in texts]
        body: dict[str, Any] = {"input": [*prompted, *as_they_are]}
        if value := self._roles.get(role or "text"):
            body[self._field] = value
        return body


# Asks an endpoint for the vectors of texts, in requests of bounded size, and checks the answers.
#
# A refused request is split in halves; a text that is refused alone is reported. After several such
# texts in a row, a probe finds out whether the endpoint accepts any text. Once it is unavailable,
# nothing more is sent.
#
# Vectors are asked for in base64, which is a quarter of the bytes. If the endpoint refuses that, or
# its first vectors are not float32 numbers, they are asked for as lists from then on.
#
# With `watch`, each request of several texts also has one whose vector is known. If its vector is
# another one, another model answers, or the vectors are in another order: then none of them is
# used.


PROBE = "a"
"""Text sent to find out whether an endpoint refuses some texts or all of them."""
PATIENCE = 5  # refused texts in a row before the probe is sent


class Asking:
    """Asks for vectors.

    Parameters
    ----------
    endpoint
        The endpoint.
    form
        The form of requests and answers.
    texts
        Makes the fields of a request from its texts.
    request
        Fields that every request has, `ENCODING` among them.
    batch_texts, batch_tokens
        Most texts and tokens of a request.
    length
        Length of a vector; None if unknown.

    Attributes
    ----------
    unavailable
        Why nothing more is sent; None while requests are sent.
    has_succeeded
        Whether a request had valid vectors.
    as_list
        Why vectors are no longer asked for in base64; None while they are as the user said.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        form: Form,
        texts: RequestTexts,
        request: Mapping[str, Any],
        *,
        batch_texts: int,
        batch_tokens: int,
        length: int | None,
    ) -> None:
        self._endpoint, self._form = endpoint, form
        self._texts, self._request = texts, dict(request)
        self._most_texts, self._most_tokens = batch_texts, batch_tokens
        self.length = self._stated = length
        self.unavailable: HarnessError | None = None
        self.has_succeeded = False
        self.as_list: str | None = None
        self._lock = threading.Lock()
        self._refused_in_a_row = 0
        self._takes_several = False
        self._watched: str | None = None
        self._known: dict[Role, Row] = {}  # the vector of the watched text, by role

    def watch(self, text: str | None, vector: Row | None) -> None:
        """Send `text` with each request of several texts, and compare its vector; None: nothing."""
        self._watched = text
        self._known = {} if vector is None else {"text": vector}
        self.length = self._stated if vector is None else len(vector)

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[list[str]]:
        """Yield the texts of each request."""
        room = max(1, self._most_texts - self._is_watching)
        batch: list[str] = []
        tokens = 0
        for text, size in zip(texts, self.lengths(texts, role), strict=True):
            if batch and (len(batch) >= room or tokens + size > self._most_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    def lengths(self, texts: Sequence[str], role: Role) -> list[int]:
        """Return an estimate of the tokens of each text, the prompt's included."""
        return [2 + (len(self._texts.prompt(role)) + len(text)) // 4 for text in texts]

    def encode(
        self, texts: list[str], retries: int | None = None, *, role: Role
    ) -> dict[str, Row | HarnessError]:
        """Return the vector of each text of a request, or the error."""
        if self.unavailable is not None:
            return dict.fromkeys(texts, self.unavailable)
        encoding = self._request[ENCODING]
        try:
            rows = self._send(texts, retries, role)
        except (Unavailable, Refused) as error:
            if _is_of_encoding(error) and self._asks_for_lists(encoding, error):
                return self.encode(texts, retries, role=role)
            if isinstance(error, Unavailable):
                self.unavailable = error
                return dict.fromkeys(texts, error)
            if error.broken:
                # Most likely it fails on one of these texts, and will again.
                retries = min(1, self._endpoint.retrying.retries)
            if len(texts) > 1:
                return self._halved(texts, retries, role)
            if self._is_watching and not self._takes_several:
                self._most_texts = 1  # the smallest request is two texts, and perhaps one too many
                return self.encode(texts, retries, role=role)
            self._refused_in_a_row += 1
            if self._refused_in_a_row >= PATIENCE:
                self._probe(error, retries)
                if encoding != self._request[ENCODING] and self.unavailable is None:
                    return self.encode(texts, retries, role=role)
            return {texts[0]: self.unavailable or error}
        self.has_succeeded, self._refused_in_a_row = True, 0
        return dict(zip(texts, rows, strict=True))

    @property
    def _is_watching(self) -> bool:
        return self._watched is not None and self._most_texts > 1

    def _halved(
        self, texts: list[str], retries: int | None, role: Role
    ) -> dict[str, Row | HarnessError]:
        half = (len(texts) + 1) // 2
        sent = half + self._is_watching
        encoded = self.encode(texts[:half], retries, role=role)
        encoded |= self.encode(texts[half:], retries, role=role)
        if not any(isinstance(answer, HarnessError) for answer in encoded.values()):
            self._most_texts = min(self._most_texts, sent)  # the number of texts was the problem
        return encoded

    def _probe(self, error: Refused, retries: int | None) -> None:
        """Find out whether the endpoint accepts any text, and give it up if not."""
        self._refused_in_a_row = 0
        encoding = self._request[ENCODING]
        try:
            self._send([PROBE], retries)
        except Unavailable as unavailable:
            self.unavailable = unavailable
        except Refused as refused:
            if self._asks_for_lists(encoding, refused):  # its message need not say that this is why
                self._probe(error, retries)
                return
            self.unavailable = ModelError(f"{self._endpoint.address} refuses every text ({error})")

    def _send(
        self, texts: list[str], retries: int | None, role: Role | None = None
    ) -> list[Row | Refused]:
        """Return the vectors of one request; raise Refused if none of them is valid."""
        watched: list[str] = []
        if role and self._watched is not None and self._is_watching:
            watched = [self._texts.prompt("text") + self._watched]  # as its vector was made
        body = {**self._request, **self._texts.body(texts, role, watched)}
        tokens = sum(self.lengths(texts, role or "text"))
        answer = self._endpoint.embeddings(
            self._form.request(body),
            path=self._form.path,
            read=self._form.answer,
            retries=retries,
            tokens=tokens,
        )
        items = in_order(answer, len(texts) + len(watched))
        self._takes_several |= len(items) > 1
        rows = vectors(items, self.length)
        if self.length is None:
            lengths = Counter(len(row) for row in rows if not isinstance(row, Refused))
            self.length = lengths.most_common(1)[0][0] if lengths else None
        checked = [self._checked(row) for row in rows]
        invalid = [row for row in checked if isinstance(row, Refused)]
        is_packed = len(invalid) == len(checked) and are_packed(items)
        if is_packed and self._asks_for_lists(body[ENCODING], invalid[0]):
            return self._send(texts, retries, role)
        if role and watched:
            self._compare(rows, role)
            checked.pop()
        if all(isinstance(row, Refused) for row in checked):
            raise invalid[0]
        return checked

    def _compare(self, rows: Sequence[Row | Refused], role: Role) -> None:
        """Compare the last vector, of the watched text, with the known one."""
        seen = rows[-1]
        if isinstance(seen, Refused):
            raise seen
        known = self._known.setdefault(role if self._texts.by_request else "text", seen)
        if is_same(seen, known):
            return
        if any(not isinstance(row, Refused) and is_same(row, known) for row in rows[:-1]):
            raise Refused("its vectors are not in the order of the texts")
        raise Unavailable(
            f"{self._endpoint.address} now answers as another model than before, with other "
            "vectors; what it sent is not used: run the same command again"
        )

    def _asks_for_lists(self, encoding: str, problem: HarnessError) -> bool:
        """Return whether to send a request again, for lists of numbers instead of base64.

        Once an answer was right, all others are of its type.
        """
        with self._lock:
            if encoding == "base64" == self._request[ENCODING] and not self.has_succeeded:
                self._request[ENCODING], self.as_list = "float", str(problem)
            return bool(encoding != self._request[ENCODING])

    def _checked(self, row: Row | Refused) -> Row | Refused:
        if isinstance(row, Refused) or len(row) == self.length:
            return row
        return Refused(f"its vector has {len(row)} dimensions, not {self.length}")


def _is_of_encoding(error: HarnessError) -> bool:
    """Return whether an endpoint's message may be about the format of the vectors."""
    return any(word in str(error).lower() for word in ("base64", "encoding"))


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
        form = self.form
        self._endpoint = Endpoint(
            base_url,
            key,
            home=form.home,
            timeout=timeout,
            retries=retries,
            max_wait=max_wait,
            rpm=rpm,
            tpm=tpm,
        )
        batch_texts = min(batch_texts, form.most_texts or batch_texts)
        request: dict[str, Any] = {"model": reference, ENCODING: encoding}
        if dimensions is not None:
            request["dimensions"] = dimensions
        self._texts = RequestTexts(
            reference,
            card,
            form,
            prompt=prompt,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            input_type=input_type,
            purpose=purpose,
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
        self._asking = Asking(
            self._endpoint,
            form,
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
