"""The built-in embedders: the providers are listed here, the registered models in `cards.yaml`.

==================  ==============================================================
`cards`             reads `cards.yaml`: facts of registered models, joined with those of files
`prompts`           the prompts of a model by role: queries, documents, other texts
`weight_files`      headers, shapes, hashes and settings of a model's files; reads no weights
`references`        random and constant vectors, which need no files
`quiet_loading`     silences the libraries while weights are loaded
`transformers/`     encoders and language models of transformers
`vectors/`          word vectors, from files and packages
`hosted/`           models behind an endpoint: OpenAI-compatible, Cohere, Jina
`wrapped_objects`   objects of other libraries, such as LangChain and scikit-learn
`mteb_models`       models of the registry of mteb
`infersent/`        a BiLSTM with max pooling over word vectors
==================  ==============================================================
"""

from __future__ import annotations

from harness.specs import AdapterSpec, EmbedderSpec, hookimpl

_HERE = "harness.plugins.embedders"
PROVIDERS = (
    *(
        EmbedderSpec(
            name=name,
            target=f"{_HERE}.transformers.comparers:{class_}",
            summary=summary,
            recognises=f"{_HERE}.transformers.comparers:recognises_{name.replace('-', '_')}",
            sensitive={"trust_remote_code": "code"},
            provider=True,
        )
        for name, class_, summary in (
            ("sparse", "SparseEncoder", "a sparse encoder: SPLADE and similar"),
            ("multi-vector", "MultiVectorEncoder", "a multi-vector model: ColBERT and similar"),
            ("cross-encoder", "CrossEncoder", "a cross-encoder, which scores pairs: a reranker"),
        )
    ),
    EmbedderSpec(
        name="sentence-transformers",
        target=f"{_HERE}.transformers.sentence_transformer:SentenceTransformersEmbedder",
        summary="a model folder, or an id on the hub",
        recognises=f"{_HERE}.transformers.hub:recognises",
        sensitive={"trust_remote_code": "code"},
        provider=True,
    ),
    EmbedderSpec(
        name="last-token",
        target=f"{_HERE}.transformers.last_token:LastTokenEmbedder",
        summary="language models: a folder, a GGUF file, or an id on the hub",
        recognises=f"{_HERE}.transformers.gguf_file:recognises",
        neutral=("device_map",),
        sensitive={"trust_remote_code": "code"},
        provider=True,
    ),
    EmbedderSpec(
        name="mteb",
        target=f"{_HERE}.mteb_models:MtebEmbedder",
        summary="a model of the registry of mteb, which loads and prompts it",
        sensitive={"trust_remote_code": "code"},
        provider=True,
    ),
    EmbedderSpec(
        name="infersent",
        target=f"{_HERE}.infersent.infersent:InferSentEmbedder",
        summary="a folder with a BiLSTM and max pooling over word vectors",
        recognises=f"{_HERE}.infersent.files:recognises",
        provider=True,
    ),
    EmbedderSpec(
        name="vectors",
        target=f"{_HERE}.vectors.vectors_file:vectors_file",
        summary="a file of word vectors: GloVe, word2vec, fastText, safetensors",
        recognises=f"{_HERE}.vectors.vectors_file:recognises",
        provider=True,
    ),
    EmbedderSpec(
        name="spacy",
        target=f"{_HERE}.vectors.spacy_vectors:spacy_vectors",
        summary="word vectors of an installed pipeline of spaCy",
        provider=True,
    ),
    EmbedderSpec(
        name="gensim",
        target=f"{_HERE}.vectors.gensim_data:gensim_data",
        summary="word vectors of gensim-data",
        provider=True,
    ),
    *(
        EmbedderSpec(
            name=name,
            target=f"{_HERE}.hosted.openai:{embedder}",
            summary=summary,
            neutral=(
                *("key", "batch_texts", "batch_tokens", "parallel", "timeout", "retries", "price"),
            ),
            sensitive={"key": "key", "base_url": "address"},
            provider=True,
        )
        for name, embedder, summary in (
            ("openai", "OpenAIEmbedder", "a model behind an OpenAI-compatible endpoint"),
            ("cohere", "CohereEmbedder", "a model of Cohere"),
            ("jina", "JinaEmbedder", "a model of Jina that takes a task"),
        )
    ),
    EmbedderSpec(
        name="bag-of-words",
        target=f"{_HERE}.vectors.bag_of_words:BagOfWords",
        summary="mean of word vectors",
        provider=True,
    ),
)
"""The providers, in the order of listings."""
_ADAPTERS = {
    "sentence_transformers.SentenceTransformer": (
        f"{_HERE}.transformers.loaded_model:adapt",
        "an encoder in memory",
    ),
    **dict.fromkeys(
        (
            *("sentence_transformers.SparseEncoder", "sentence_transformers.CrossEncoder"),
            "sentence_transformers.MultiVectorEncoder",
        ),
        (f"{_HERE}.transformers.loaded_model:adapt_comparing", "an encoder that compares texts"),
    ),
    "pylate.ColBERT": (
        f"{_HERE}.transformers.model_settings:refuse_object",
        "no embedding encoder: refused",
    ),
    "gensim.KeyedVectors": (f"{_HERE}.vectors.objects:of_keyed_vectors", "word vectors"),
    "gensim.Word2Vec": (f"{_HERE}.vectors.objects:of_word2vec", "the word vectors of a model"),
    "gensim.Doc2Vec": (f"{_HERE}.wrapped_objects:of_interface", "no model: a line says why"),
    "spacy.Language": (f"{_HERE}.vectors.spacy_vectors:of_pipeline", "its word vectors"),
    **dict.fromkeys(
        ("pandas.DataFrame", "polars.DataFrame"),
        (f"{_HERE}.vectors.objects:of_frame", "a row of numbers by word"),
    ),
    "torch.Module": (f"{_HERE}.wrapped_objects:of_torch_module", "a module with `encode`"),
    "builtins.dict": (f"{_HERE}.vectors.objects:of_mapping", "a vector by word"),
    "builtins.tuple": (f"{_HERE}.vectors.objects:of_pair", "words and an array of vectors"),
    "builtins.object": (
        f"{_HERE}.wrapped_objects:of_interface",
        "an object of LangChain, LlamaIndex, fastembed, scikit-learn or mteb",
    ),
}
"""Import path and summary of each adapter, by package and class of the objects."""


@hookimpl
def harness_adapters() -> list[AdapterSpec]:
    """List the objects that are used as models."""
    return [
        AdapterSpec(name=name, target=target, summary=summary)
        for name, (target, summary) in _ADAPTERS.items()
    ]


@hookimpl
def harness_embedders() -> list[EmbedderSpec]:
    """List the built-in embedders."""
    from . import cards

    return [*PROVIDERS, *cards.specs({spec.name: spec for spec in PROVIDERS})]
