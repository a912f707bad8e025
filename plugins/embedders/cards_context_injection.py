"""The 19 models of the context-injection paper (Uriot 2024), with their MTEB scores and ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.plugins.embedders.cards import LANGUAGE_MODEL, NAME_BIAS, TABLE_3, encoder
from harness.specs import EmbedderSpec

NOT_GIVEN = "the paper does not say which weights it took; this is the most likely choice"

_RETRIEVAL = {"query": "Represent this sentence for searching relevant passages: "}
_BERT_LARGE = 335_141_888


def specs() -> list[EmbedderSpec]:
    """Return the models of table 3 of the context-injection paper."""
    return [
        encoder(
            "stella-en-1.5B-v5",
            "NovaSearch/stella_en_1.5B_v5",
            mteb=71.19,
            rank=3,
            dimensions=1024,
            max_tokens=512,
            n_parameters=1_500_000_000,
            licence="MIT",
            own_code=True,
            prompts={
                "s2p_query": "Instruct: Given a web search query, retrieve relevant passages that "
                "answer the query.\nQuery: ",
                "s2s_query": "Instruct: Retrieve semantically similar text.\nQuery: ",
            },
        ),
        encoder(
            "gte-large-en-v1.5",
            "Alibaba-NLP/gte-large-en-v1.5",
            mteb=65.39,
            rank=21,
            dimensions=1024,
            max_tokens=8192,
            n_parameters=434_000_000,
            licence="Apache-2.0",
            own_code=True,
        ),
        encoder(
            "mxbai-embed-large-v1",
            "mixedbread-ai/mxbai-embed-large-v1",
            mteb=64.68,
            rank=25,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="Apache-2.0",
            prompts=_RETRIEVAL,
        ),
        encoder(
            "UAE-Large-V1",
            "WhereIsAI/UAE-Large-V1",
            mteb=64.64,
            rank=26,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
            prompts=_RETRIEVAL,
        ),
        encoder(
            "multilingual-e5-large-instruct",
            "intfloat/multilingual-e5-large-instruct",
            mteb=64.41,
            rank=30,
            dimensions=1024,
            max_tokens=512,
            n_parameters=559_890_432,
            licence="MIT",
            languages=("multilingual",),
            prompts={
                "query": "Instruct: Given a web search query, retrieve relevant passages that "
                "answer the query\nQuery: ",
                "similarity": "Instruct: Retrieve semantically similar text\nQuery: ",
            },
        ),
        encoder(
            "GIST-large-Embedding-v0",
            "avsolatorio/GIST-large-Embedding-v0",
            mteb=64.34,
            rank=32,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
        ),
        encoder(
            "bge-large-en-v1.5",
            "BAAI/bge-large-en-v1.5",
            mteb=64.23,
            rank=33,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
            prompts=_RETRIEVAL,
        ),
        encoder(
            "ember-v1",
            "llmrails/ember-v1",
            mteb=63.34,
            rank=46,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
        ),
        encoder(
            "nomic-embed-text-v1",
            "nomic-ai/nomic-embed-text-v1",
            mteb=62.39,
            rank=54,
            dimensions=768,
            max_tokens=8192,
            n_parameters=137_000_000,
            licence="Apache-2.0",
            own_code=True,
            prompts={
                name: f"{name}: "
                for name in ("search_query", "search_document", "clustering", "classification")
            },
        ),
        encoder(
            "sentence-t5-xl",
            "sentence-transformers/sentence-t5-xl",
            mteb=57.87,
            rank=116,
            dimensions=768,
            max_tokens=256,
            n_parameters=1_240_000_000,
            licence="Apache-2.0",
        ),
        encoder(
            "all-mpnet-base-v2",
            "sentence-transformers/all-mpnet-base-v2",
            mteb=57.77,
            rank=117,
            dimensions=768,
            max_tokens=384,
            n_parameters=109_486_464,
            licence="Apache-2.0",
            sources=(NAME_BIAS,),
        ),
        encoder(
            "all-MiniLM-L12-v2",
            "sentence-transformers/all-MiniLM-L12-v2",
            mteb=56.46,
            rank=127,
            dimensions=384,
            max_tokens=128,
            n_parameters=33_360_000,
            licence="Apache-2.0",
        ),
        encoder(
            "all-MiniLM-L6-v2",
            "sentence-transformers/all-MiniLM-L6-v2",
            mteb=56.09,
            rank=134,
            dimensions=384,
            max_tokens=256,
            n_parameters=22_713_216,
            licence="Apache-2.0",
            sources=(NAME_BIAS,),
            target="harness.plugins.embedders.transformers.minilm:AllMiniLML6V2",
        ),
        encoder(
            "xlm-roberta-base",
            "FacebookAI/xlm-roberta-base",
            dimensions=768,
            max_tokens=512,
            n_parameters=278_043_648,
            licence="MIT",
            languages=("multilingual",),
            sources=(TABLE_3, "pooled by the mean of its tokens: the paper does not say how"),
            options={"pooling": "mean"},
        ),
        _generator(
            "mistral",
            "mistralai/Mistral-7B-Instruct-v0.3",
            dimensions=4096,
            max_tokens=32768,
            n_parameters=7_248_023_552,
            licence="Apache-2.0",
        ),
        _generator(
            "phi3",
            "microsoft/Phi-3-mini-4k-instruct",
            dimensions=3072,
            max_tokens=4096,
            n_parameters=3_821_079_552,
            licence="MIT",
            # Its page brings code from before transformers knew the model, which is not needed.
            options={"trust_remote_code": False},
        ),
        _generator(
            "qwen2",
            "Qwen/Qwen2-7B-Instruct",
            dimensions=3584,
            max_tokens=32768,
            n_parameters=7_615_616_512,
            licence="Apache-2.0",
        ),
        _generator(
            "gemma2",
            "google/gemma-2-9b-it",
            dimensions=3584,
            max_tokens=8192,
            n_parameters=9_241_705_984,
            licence="Gemma Terms of Use",
        ),
        _generator(
            "llama3.1",
            "meta-llama/Llama-3.1-8B-Instruct",
            dimensions=4096,
            max_tokens=131_072,
            n_parameters=8_030_261_248,
            licence="Llama 3.1 Community License",
        ),
    ]


def _generator(
    name: str, model: str, *, options: Mapping[str, Any] | None = None, **facts: Any
) -> EmbedderSpec:
    """Return a model that generates text, read at its last token, in the precision it came in.

    The paper takes the vector of the last end-of-sequence token (its introduction).
    """
    return encoder(
        name,
        model,
        sources=(TABLE_3, NOT_GIVEN),
        target=LANGUAGE_MODEL,
        options={
            "pooling": "lasttoken",
            "eos": True,
            "precision": "bfloat16",
            **(options or {}),
        },
        **facts,
    )
