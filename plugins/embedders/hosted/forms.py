"""How requests for embeddings, and the answers to them, differ between providers.

`OPENAI_FORM` is that of OpenAI and of most others. Cohere and Jina have words of their own for what
a text is for, and other names of fields. All are asked for lists of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.embedder import Role

from .endpoint import OPENAI, Home


def _to_openai(request: Mapping[str, Any]) -> dict[str, Any]:
    return {**request, "encoding_format": "float"}


def _as_answered(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return answer


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form of requests and answers of a provider.

    Parameters
    ----------
    provider
        The provider, as in `openai:MODEL`.
    home
        Its own endpoint.
    roles
        What the field `role` of a request says for texts of each role.
    path
        Where requests go, below the address of the endpoint.
    role
        Field of a request that says what its texts are for.
    purposes
        What the user may choose for texts without a role; none if the field is sent only where the
        user asks for it.
    most_texts
        Most texts of a request.
    request
        Makes the body of a request from the fields `model`, `input`, `dimensions` and `role`.
    answer
        Makes an answer in OpenAI's form from one of the provider.
    """

    provider: str
    home: Home
    roles: Mapping[Role, str]
    path: str = "/embeddings"
    role: str = "input_type"
    purposes: tuple[str, ...] = ()
    most_texts: int = 2048
    request: Callable[[Mapping[str, Any]], dict[str, Any]] = _to_openai
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_answered


OPENAI_FORM = Form(provider="openai", home=OPENAI, roles={"query": "query", "document": "document"})


def _to_cohere(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of Cohere's second version of `embed`."""
    fields = {"input": "texts", "dimensions": "output_dimension"}
    body = {fields.get(name, name): value for name, value in request.items()}
    return body | {"embedding_types": ["float"]}


def _of_cohere(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of Cohere, whose vectors stand in a list for each type, in order."""
    by_type, meta = answer.get("embeddings"), answer.get("meta")
    rows = by_type.get("float") if isinstance(by_type, Mapping) else None
    # vLLM, which knows this form, bills nothing.
    counts = (meta.get("billed_units") or meta.get("tokens")) if isinstance(meta, Mapping) else None
    tokens = counts.get("input_tokens") if isinstance(counts, Mapping) else None
    return {
        "data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]
        if isinstance(rows, list)
        else None,
        "usage": {"prompt_tokens": tokens},
    }


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


def _to_jina(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of Jina.

    It asks for unit vectors, whatever the default is. It never asks for `late_chunking`, with which
    a vector depends on the other texts of its request.
    """
    return {**request, "embedding_type": "float", "normalized": True}


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
