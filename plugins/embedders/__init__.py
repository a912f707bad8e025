"""The built-in embedders: the providers are listed here, the registered models in `cards.yaml`.

==================  ==============================================================
`cards`             reads `cards.yaml`: registered models with their published facts
`model_info`        joins a card with what the model's files say
`prompts`           the prompts of a model by role: queries, documents, other texts
`file_hashes`       SHA-256 of large files, remembered
`weight_files`      headers and shapes of weight files; reads no weights
`packages`          model files that come as packages of the package index
`quiet_loading`     silences the libraries while weights are loaded
`transformers/`     encoders and language models of transformers
`vectors/`          word vectors, from files and packages
`hosted/`           models behind an OpenAI-compatible endpoint
`infersent/`        a BiLSTM with max pooling over word vectors
==================  ==============================================================
"""

from __future__ import annotations

from harness.specs import AdapterSpec, EmbedderSpec, hookimpl

_HERE = "harness.plugins.embedders"
_PROVIDERS = {
    "sentence-transformers": (
        f"{_HERE}.transformers.sentence_transformer:SentenceTransformersEmbedder",
        "a model folder, or an id on the hub",
    ),
    "last-token": (
        f"{_HERE}.transformers.last_token:LastTokenEmbedder",
        "language models: a folder, or an id on the hub",
    ),
    "infersent": (
        f"{_HERE}.infersent.infersent:InferSentEmbedder",
        "a folder with a BiLSTM and max pooling over word vectors",
    ),
    "vectors": (
        f"{_HERE}.vectors.vectors_file:vectors_file",
        "a file of word vectors: GloVe, word2vec, safetensors",
    ),
    "gensim": (f"{_HERE}.vectors.gensim_data:gensim_data", "word vectors of gensim-data"),
    "openai": (
        f"{_HERE}.hosted.openai:OpenAIEmbedder",
        "a model behind an OpenAI-compatible endpoint",
    ),
    "bag-of-words": (f"{_HERE}.vectors.bag_of_words:BagOfWords", "mean of word vectors"),
}
"""Import path and summary of each provider, by its name."""
_ADAPTERS = {
    "sentence_transformers.SentenceTransformer": (
        f"{_HERE}.transformers.loaded_model:adapt",
        "an encoder in memory",
    ),
    "gensim.KeyedVectors": (f"{_HERE}.vectors.objects:of_keyed_vectors", "word vectors"),
    "gensim.Word2Vec": (f"{_HERE}.vectors.objects:of_word2vec", "the word vectors of a model"),
    "builtins.dict": (f"{_HERE}.vectors.objects:of_mapping", "a vector by word"),
    "builtins.tuple": (f"{_HERE}.vectors.objects:of_pair", "words and an array of vectors"),
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
    from harness.plugins.embedders import cards

    providers = [
        EmbedderSpec(name=name, target=target, summary=summary, provider=True)
        for name, (target, summary) in _PROVIDERS.items()
    ]
    return [*providers, *cards.specs({spec.name: spec.target for spec in providers})]
