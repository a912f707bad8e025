"""The open models of the name-bias paper (tables 1, 6 and 20) that the other paper lacks.

The hosted ones (gemini, voyage-3-lite, text-embedding-3-small and -large) are in `cards_hosted.py`.
"""

from __future__ import annotations

from typing import Any

from harness.plugins.embedders.cards import NAME_BIAS, encoder
from harness.specs import EmbedderSpec


def specs() -> list[EmbedderSpec]:
    """Return the models."""
    facts: dict[str, dict[str, Any]] = {
        "all-distilroberta-v1": {
            "dimensions": 768,
            "max_tokens": 512,
            "n_parameters": 82_118_400,
            "licence": "Apache-2.0",
        },
        "multi-qa-distilbert-cos-v1": {
            "dimensions": 768,
            "max_tokens": 512,
            "n_parameters": 66_362_880,
        },
        "multi-qa-mpnet-base-cos-v1": {
            "dimensions": 768,
            "max_tokens": 512,
            "n_parameters": 109_486_464,
        },
        "msmarco-distilbert-cos-v5": {
            "dimensions": 768,
            "max_tokens": 512,
            "n_parameters": 66_362_880,
        },
        "paraphrase-MiniLM-L6-v2": {
            "dimensions": 384,
            "max_tokens": 128,
            "n_parameters": 22_713_216,
            "licence": "Apache-2.0",
        },
        "paraphrase-multilingual-MiniLM-L12-v2": {
            "dimensions": 384,
            "max_tokens": 128,
            "n_parameters": 117_653_760,
            "licence": "Apache-2.0",
            "languages": ("multilingual",),
        },
        "distiluse-base-multilingual-cased-v1": {
            "dimensions": 512,
            "max_tokens": 128,
            "n_parameters": 135_127_808,
            "licence": "Apache-2.0",
            "languages": ("multilingual",),
        },
        "distiluse-base-multilingual-cased-v2": {
            "dimensions": 512,
            "max_tokens": 128,
            "n_parameters": 135_127_808,
            "licence": "Apache-2.0",
            "languages": ("multilingual",),
        },
    }
    return [
        encoder(name, f"sentence-transformers/{name}", sources=(NAME_BIAS,), **known)
        for name, known in facts.items()
    ]
