"""Cards of the models that the two papers compare, each registered so that naming one works.

- Uriot 2024, "Context injection": the 19 models of table 3, with the MTEB scores given there.
- "Name bias and anonymisation": the open ones of the 14 models of tables 1, 6 and 20. The hosted
  ones (gemini, voyage-3-lite, text-embedding-3-small and -large) are not offered yet.

What is not known for sure is left out. Numbers of parameters are those of the architecture as
transformers builds it, or rounded as the model's page gives them. What the files of a model say
when it is used goes before its card. No weights are known here, and nothing heavy is imported.
"""

from __future__ import annotations

from typing import Any

from harness.embedder import Card
from harness.specs import EmbedderSpec

ENCODER = "harness.plugins.embedders.sentence_transformer:SentenceTransformersEmbedder"
TABLE_3 = "Uriot 2024, context injection, table 3 (MTEB average as of 20 September 2024)"
NAME_BIAS = "name bias in text embeddings and anonymisation, tables 1, 6 and 20"
HUB = "the model's page on the Hugging Face hub"
NOT_GIVEN = "the paper does not say which weights it took; this is the most likely choice"

_RETRIEVAL = {"query": "Represent this sentence for searching relevant passages: "}
_BERT_LARGE = 335_141_888


def specs() -> list[EmbedderSpec]:
    """Return the models of both papers."""
    return [*context_injection(), *name_bias()]


# fmt: off  (a model a paragraph)
def context_injection() -> list[EmbedderSpec]:
    """Return the models of table 3 of the context-injection paper."""
    return [
        _encoder(
            "stella-en-1.5B-v5",
            "NovaSearch/stella_en_1.5B_v5",
            mteb=71.19,
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
        _encoder(
            "gte-large-en-v1.5",
            "Alibaba-NLP/gte-large-en-v1.5",
            mteb=65.39,
            dimensions=1024,
            max_tokens=8192,
            n_parameters=434_000_000,
            licence="Apache-2.0",
            own_code=True,
        ),
        _encoder(
            "mxbai-embed-large-v1",
            "mixedbread-ai/mxbai-embed-large-v1",
            mteb=64.68,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="Apache-2.0",
            prompts=_RETRIEVAL,
        ),
        _encoder(
            "UAE-Large-V1",
            "WhereIsAI/UAE-Large-V1",
            mteb=64.64,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
            prompts=_RETRIEVAL,
        ),
        _encoder(
            "multilingual-e5-large-instruct",
            "intfloat/multilingual-e5-large-instruct",
            mteb=64.41,
            dimensions=1024,
            max_tokens=512,
            n_parameters=559_890_432,
            licence="MIT",
            languages=("multilingual",),
        ),
        _encoder(
            "GIST-large-Embedding-v0",
            "avsolatorio/GIST-large-Embedding-v0",
            mteb=64.34,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
        ),
        _encoder(
            "bge-large-en-v1.5",
            "BAAI/bge-large-en-v1.5",
            mteb=64.23,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
            prompts=_RETRIEVAL,
        ),
        _encoder(
            "ember-v1",
            "llmrails/ember-v1",
            mteb=63.34,
            dimensions=1024,
            max_tokens=512,
            n_parameters=_BERT_LARGE,
            licence="MIT",
        ),
        _encoder(
            "nomic-embed-text-v1",
            "nomic-ai/nomic-embed-text-v1",
            mteb=62.39,
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
        _encoder(
            "sentence-t5-xl",
            "sentence-transformers/sentence-t5-xl",
            mteb=57.87,
            dimensions=768,
            max_tokens=256,
            n_parameters=1_240_000_000,
            licence="Apache-2.0",
        ),
        _encoder(
            "all-mpnet-base-v2",
            "sentence-transformers/all-mpnet-base-v2",
            mteb=57.77,
            dimensions=768,
            max_tokens=384,
            n_parameters=109_486_464,
            licence="Apache-2.0",
            sources=(NAME_BIAS,),
        ),
        _encoder(
            "all-MiniLM-L12-v2",
            "sentence-transformers/all-MiniLM-L12-v2",
            mteb=56.46,
            dimensions=384,
            max_tokens=128,
            n_parameters=33_360_000,
            licence="Apache-2.0",
        ),
        _encoder(
            "all-MiniLM-L6-v2",
            "sentence-transformers/all-MiniLM-L6-v2",
            mteb=56.09,
            dimensions=384,
            max_tokens=256,
            n_parameters=22_713_216,
            licence="Apache-2.0",
            sources=(NAME_BIAS,),
            target="harness.plugins.embedders.minilm:AllMiniLML6V2",
        ),
        _encoder(
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


def name_bias() -> list[EmbedderSpec]:
    """Return the open models of the name-bias paper that the other paper lacks."""
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
        _encoder(name, f"sentence-transformers/{name}", sources=(NAME_BIAS,), **known)
        for name, known in facts.items()
    ]


# fmt: on
def _encoder(
    name: str,
    model: str,
    *,
    mteb: float | None = None,
    own_code: bool = False,
    languages: tuple[str, ...] = ("en",),
    sources: tuple[str, ...] = (),
    target: str = ENCODER,
    options: dict[str, Any] | None = None,
    **facts: Any,
) -> EmbedderSpec:
    card = Card(
        name=name,
        kind="text",
        languages=languages,
        url=f"https://huggingface.co/{model}",
        scores={} if mteb is None else {"MTEB": mteb},
        sources=(HUB, *([] if mteb is None else [TABLE_3]), *sources),
        **facts,
    )
    summary = f"{model} on the hub"
    if own_code:
        summary += "; runs the model's own code, and only with trust_remote_code=true"
    return EmbedderSpec(
        name=name,
        target=target,
        summary=summary,
        options={"reference": model, **(options or {})},
        card=card,
    )


def _generator(name: str, model: str, **facts: Any) -> EmbedderSpec:
    """Return a model that generates text, read by its last token, in the precision it came in."""
    return _encoder(
        name,
        model,
        sources=(TABLE_3, NOT_GIVEN),
        options={"pooling": "lasttoken", "precision": "bfloat16"},
        **facts,
    )
