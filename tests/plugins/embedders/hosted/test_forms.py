"""Cohere's and Jina's own requests, to a server that refuses what their types do not have.

The types are those of the package `cohere` 7.3 (`V2Client.embed`, `EmbedByTypeResponse`), and of
the documentation of Jina's embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from loopback import DIMENSIONS, Loopback, vector
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import InvalidOption, Unavailable
from harness.registry.registry import Registry

pytestmark = pytest.mark.long
TEXTS = ["a nurse", "a doctor"]
ROLES = {"text": TEXTS, "query": TEXTS, "document": TEXTS}
SECRET = "Zq7Wx9Yv2Kp4Lm6Nt8Rb1"


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    model: str


class CohereBody(Body):
    """What `cohere.ClientV2.embed` may send for texts."""

    input_type: Literal["search_document", "search_query", "classification", "clustering"]
    texts: Annotated[list[str], Field(min_length=1, max_length=96)]
    embedding_types: list[Literal["float"]]
    output_dimension: int | None = None
    max_tokens: int | None = None
    truncate: Literal["NONE", "START", "END"] = "END"


class JinaBody(Body):
    task: Literal[
        *("retrieval.query", "retrieval.passage", "text-matching", "classification"),
        *("clustering", "separation", "code.query", "code.passage"),
    ]
    input: Annotated[list[str], Field(min_length=1, max_length=512)]
    embedding_type: Literal["float"]
    normalized: bool = False
    dimensions: int | None = None
    late_chunking: bool = False
    truncate: bool = False


def vectors(purpose: str, texts: list[str], dimensions: int | None) -> list[np.ndarray]:
    return [vector(f"{purpose}: {text}", dimensions or DIMENSIONS) for text in texts]


def of_cohere(path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
    try:
        asked = CohereBody.model_validate(body)
    except ValidationError as error:
        return 400, {"id": "1", "message": f"invalid request: {error.errors()[0]['msg']}"}
    if path != "/v2/embed" or asked.model != "embed-v4.0":
        return 404, {"id": "1", "message": f"model '{asked.model}' not found"}
    rows = vectors(asked.input_type, asked.texts, asked.output_dimension)
    return 200, {
        "id": "1",
        "response_type": "embeddings_by_type",
        "texts": asked.texts,
        "embeddings": {"float": [row.tolist() for row in rows]},
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 2.0}},
    }


def of_jina(path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
    try:
        asked = JinaBody.model_validate(body)
    except ValidationError as error:
        return 422, {"detail": f"[{error.errors()[0]['msg']}]"}
    if path != "/v1/embeddings" or asked.model != "jina-embeddings-v3":
        return 404, {"detail": f"Model {asked.model} not found"}
    rows = vectors(asked.task, asked.input, asked.dimensions)
    rows = [row * (1 if asked.normalized else 3) for row in rows]
    return 200, {
        "object": "list",
        "model": asked.model,
        "usage": {"total_tokens": 2, "prompt_tokens": 2},
        "data": [
            {"object": "embedding", "index": i, "embedding": row.tolist()}
            for i, row in enumerate(rows)
        ],
    }


PROVIDERS = {
    "cohere": (of_cohere, "embed-v4.0", "v2"),
    "jina": (of_jina, "jina-embeddings-v3", "v1"),
}
PURPOSES = {
    "cohere": ("search_document", "search_query", "search_document"),
    "jina": ("text-matching", "retrieval.query", "retrieval.passage"),
}


@pytest.fixture
def create(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Return a function that makes the embedder of a provider: `create("cohere", option=…)`."""
    monkeypatch.setenv("LOOPBACK_KEY", SECRET)
    loopback.key = SECRET
    embedders = []

    def make(provider: str, reference: str = "", **options: object) -> Any:
        loopback.answer, model, version = PROVIDERS[provider]
        address = f"http://127.0.0.1:{loopback.port}/{version}"
        options = {"base_url": address, "key": "LOOPBACK_KEY", "retries": 1, **options}
        query = "&".join(f"{name}={value}" for name, value in options.items() if value is not None)
        embedders.append(Registry().embedder(f"{provider}:{reference or model}?{query}"))
        return embedders[-1]

    yield make
    for embedder in embedders:
        embedder.close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_role_has_the_vectors_of_its_purpose(create, loopback, provider):
    encoder = create(provider, dimensions=4)
    for role, purpose in zip(ROLES, PURPOSES[provider], strict=True):
        np.testing.assert_array_equal(encoder.encode(TEXTS, role=role), vectors(purpose, TEXTS, 4))
        assert encoder.info.role_prompts[role].endswith(f"={purpose}")
    assert len(loopback.requests) == 3
    assert encoder.info.fingerprint.startswith(f"{provider}-")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_texts_without_a_role_may_have_another_purpose(create, provider):
    encoder = create(provider, purpose="classification")
    rows = encoder.encode(TEXTS)
    np.testing.assert_array_equal(rows, vectors("classification", TEXTS, None))
    assert encoder.info.fingerprint != create(provider).info.fingerprint
    with pytest.raises(InvalidOption, match=r"purpose=passage: \w+ has .*classification"):
        create(provider, purpose="passage")
    with pytest.raises(InvalidOption, match="puts the prompts itself"):
        create(provider, query_prompt="query")


def test_a_request_to_cohere_has_at_most_96_texts(create, loopback):
    texts = [f"text {i}" for i in range(200)]
    rows = create("cohere", batch_texts=500, parallel=1).encode(texts)
    assert [len(request["texts"]) for request in loopback.requests] == [96, 96, 8]
    np.testing.assert_array_equal(rows, vectors("search_document", texts, None))


@pytest.mark.parametrize(("provider", "key"), [("cohere", "CO_API_KEY"), ("jina", "JINA_API_KEY")])
def test_the_key_of_a_provider_is_in_its_own_variable(monkeypatch, provider, key):
    monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(Unavailable, match=rf"api\.{provider}\..* requires a key: .* {key}$"):
        Registry().embedder(f"{provider}:a-model").encode(TEXTS)


@pytest.mark.parametrize(
    "answer", [{}, {"embeddings": [[1.0]]}, {"embeddings": {"float": None}, "meta": 1}]
)
def test_an_answer_of_cohere_without_vectors_is_refused(create, loopback, answer):
    encoder = create("cohere", retries=0)
    loopback.answer = lambda path, body: (200, answer)
    with pytest.raises(Exception, match="no list of vectors"):
        encoder.encode(["a"])
