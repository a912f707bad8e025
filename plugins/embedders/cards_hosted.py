"""Hosted models of the name-bias paper, each with its endpoint; the key is the user's own.

Prices are in US$ per million tokens, as the sources gave them in 2026; they change, and the option
`price` goes before the card's. What is not known for sure is left out.
"""

from __future__ import annotations

from typing import Any

from harness.embedder import Card
from harness.plugins.embedders.cards import NAME_BIAS
from harness.specs import EmbedderSpec

ENCODER = "harness.plugins.embedders.hosted.openai:OpenAIEmbedder"


def specs() -> list[EmbedderSpec]:
    """Return the models."""
    return [
        _hosted(
            "text-embedding-3-small",
            dimensions=1536,
            max_tokens=8192,
            price=0.02,
            languages=("multilingual",),
            url="https://platform.openai.com/docs/models/text-embedding-3-small",
        ),
        _hosted(
            "text-embedding-3-large",
            dimensions=3072,
            max_tokens=8192,
            price=0.13,
            languages=("multilingual",),
            url="https://platform.openai.com/docs/models/text-embedding-3-large",
        ),
        _hosted(
            "text-embedding-ada-002",
            dimensions=1536,
            max_tokens=8192,
            price=0.10,
            languages=("en",),
            url="https://platform.openai.com/docs/models/text-embedding-ada-002",
            sources=("OpenAI's page of the model",),
        ),
        _hosted(
            "voyage-3-lite",
            options={"base_url": "https://api.voyageai.com/v1", "key": "VOYAGE_API_KEY"},
            dimensions=512,
            max_tokens=32_000,
            price=0.02,
            languages=("multilingual",),
            url="https://docs.voyageai.com/docs/embeddings",
            sources=(NAME_BIAS, "Voyage's pages of embeddings and of prices"),
        ),
        _hosted(
            "gemini-embedding-001",
            options={
                "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
                "key": "GEMINI_API_KEY",
            },
            dimensions=3072,
            max_tokens=2048,
            price=0.15,
            languages=("multilingual",),
            url="https://ai.google.dev/gemini-api/docs/embeddings",
            sources=(
                "Google's announcement of the model",
                "the successor of what the name-bias paper calls gemini without a version, which "
                "cannot be had any more",
            ),
        ),
    ]


def _hosted(
    name: str,
    *,
    options: dict[str, Any] | None = None,
    sources: tuple[str, ...] = (NAME_BIAS, "OpenAI's page of the model"),
    **facts: Any,
) -> EmbedderSpec:
    given = options or {}
    key = given.get("key", "OPENAI_API_KEY")
    return EmbedderSpec(
        name=name,
        target=ENCODER,
        summary=f"hosted: the texts are sent out, and paid for with the key in {key}",
        options={"reference": name, **given},
        card=Card(name=name, kind="text", sources=sources, **facts),
    )
