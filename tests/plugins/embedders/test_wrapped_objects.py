"""Objects of other libraries are models: each by its own methods, or a line says what to write.

Classes of libraries that are no dependency of the tests are made here, with their interface.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import torch
from gensim.models.doc2vec import Doc2Vec, TaggedDocument
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import harness
from harness.embedder import Embedder
from harness.errors import HarnessError, ModelError
from harness.registry.registry import Registry
from harness.run import evaluation

TEXTS = ["the nurse", "a man is good", "bad"]
ROLES = ("text", "query", "document")


def embedder(model):
    (single,) = evaluation.as_list(model, Registry())
    made = evaluation.embedder_of(single, Registry())
    assert isinstance(made, Embedder)
    return made


def refused(model):
    with pytest.raises(HarnessError) as caught:
        embedder(model)
    message = str(caught.value)
    assert "\n" not in message
    return message


def lengths(texts, sign=1.0):
    return [[sign * len(text), float(text.count("a"))] for text in texts]


class LangChain:
    """An `Embeddings` of LangChain."""

    def embed_documents(self, texts):
        assert isinstance(texts, list)
        return lengths(texts)

    def embed_query(self, text):
        assert isinstance(text, str)
        return lengths([text], -1.0)[0]


class LlamaIndex:
    """A `BaseEmbedding` of LlamaIndex; it can be called, on nodes."""

    def get_text_embedding_batch(self, texts, show_progress=False):
        return lengths(texts)

    def get_query_embedding(self, query):
        return lengths([query], -1.0)[0]

    def __call__(self, nodes):
        raise AssertionError


class FastEmbed:
    """A `TextEmbedding` of fastembed: its methods yield arrays."""

    def embed(self, documents, batch_size=256):
        yield from map(np.array, lengths(documents))

    def query_embed(self, query):
        yield from map(np.array, lengths(query, -1.0))

    def passage_embed(self, texts):
        yield from self.embed(texts)


class Encoder:
    """An encoder with the methods of sentence-transformers."""

    def encode(self, texts):
        return lengths(texts)

    def encode_query(self, texts):
        return lengths(texts, -1.0)

    encode_document = encode


class Flag:
    """An encoder with the methods of FlagEmbedding."""

    def encode(self, texts):
        return lengths(texts)

    def encode_queries(self, texts):
        return lengths(texts, -1.0)

    encode_corpus = encode


class Beir(Flag):
    """An encoder of documents that have a title and a text, as those of BEIR."""

    def encode_corpus(self, documents):
        return lengths([(each["title"] + " " + each["text"]).strip() for each in documents])


class Mteb1:
    """An encoder with the interface of mteb 1."""

    def encode(self, sentences, *, task_name, prompt_type=None, **options):
        assert task_name
        assert prompt_type is None or prompt_type.value in ("query", "passage")
        return np.array(lengths(sentences, -1.0 if prompt_type == "query" else 1.0))


class Mteb2:
    """An encoder with the interface of mteb 2."""

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **options):
        assert task_metadata.name
        assert task_metadata.type == ("STS" if prompt_type is None else "Retrieval")
        assert "image" not in inputs.dataset.features
        texts = [text for batch in inputs for text in batch["text"]]
        sign = -1.0 if prompt_type is not None and prompt_type.value == "query" else 1.0
        return torch.tensor(lengths(texts, sign))


@pytest.mark.parametrize(
    "class_", [LangChain, LlamaIndex, FastEmbed, Encoder, Flag, Beir, Mteb1, Mteb2]
)
def test_queries_and_documents_have_the_vectors_of_their_methods(class_):
    made = embedder(class_())
    assert made.info.kind == "text"
    assert made.info.name == class_.__name__
    for role in ROLES:
        vectors = made.encode(TEXTS, role=role)
        assert vectors.dtype == np.float32
        assert vectors.tolist() == lengths(TEXTS, -1.0 if role == "query" else 1.0)
    assert len(set(made.info.readings.values())) > 1
    assert made.info.readings["query"] != made.info.readings["text"]
    assert "nothing identifies" in made.notes[0]


@pytest.mark.parametrize(
    "model",
    [
        CountVectorizer().fit(TEXTS),
        TfidfVectorizer().fit(TEXTS),
        HashingVectorizer(n_features=8),
        make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0)).fit(TEXTS),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_vectoriser_of_scikit_learn_is_a_model(model):
    made = embedder(model)
    expected = model.transform(TEXTS)
    expected = expected.toarray() if scipy.sparse.issparse(expected) else expected
    np.testing.assert_array_equal(made.encode(TEXTS), expected.astype(np.float32))
    assert "nothing identifies" in made.notes[0]


def test_what_is_not_fitted_or_no_vectoriser_is_refused():
    assert "fit(texts)" in refused(TfidfVectorizer())
    assert "fit(texts)" in refused(make_pipeline(TfidfVectorizer(), TruncatedSVD(2)))
    assert "transform(texts)" in refused(LogisticRegression())


def named(module, name, *bases):
    """Return a class with the name of another library."""
    return type(name, bases, {"__module__": module})


def test_objects_that_are_no_models_say_what_to_write():
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=9, hidden_size=4, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4
    )
    documents = [TaggedDocument(["a", "b"], [0])]
    for model, advice in [
        (BertModel(config), "SentenceTransformer"),
        (torch.nn.Linear(2, 2), "encode(texts)"),
        (named("pylate.models.colbert", "ColBERT")(), "multi-vector"),
        (Doc2Vec(documents, vector_size=2, min_count=1, epochs=1), "model.wv"),
        (np.zeros((2, 3)), "(words, array)"),
        (object(), "encode(texts)"),
        (SimpleNamespace(embed=lengths), "lambda texts: model.embed(texts)"),
        (3, "encode(texts)"),
    ]:
        assert advice in refused(model), model


def test_whatever_holds_a_vector_for_each_text_is_read():
    for returned in (
        lambda texts: iter(lengths(texts)),
        lambda texts: scipy.sparse.csr_matrix(lengths(texts)),
        lambda texts: torch.tensor(lengths(texts)).to_sparse(),
        lambda texts: [torch.tensor(row, dtype=torch.bfloat16) for row in lengths(texts)],
        lambda texts: pd.DataFrame(lengths(texts)),
        lambda texts: pl.DataFrame(lengths(texts), orient="row"),
    ):
        assert embedder(returned).encode(TEXTS).tolist() == lengths(TEXTS)


@pytest.mark.parametrize("returned", [lambda texts: [[1.0], [1.0, 2.0]], lambda texts: texts])
def test_what_is_no_array_is_an_error_of_one_line(returned):
    with pytest.raises(ModelError, match="'lambda' returned list"):
        embedder(returned).encode(TEXTS)


def test_a_data_frame_of_vectors_by_word_is_a_model():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["he", "she"])
    columns = frame.reset_index(names="word").rename(columns=str)
    for given in (frame, columns, pl.DataFrame(columns.to_dict("list"))):
        made = embedder(given)
        assert made.info.kind == "word"
        assert made.encode(["she"]).tolist() == [[3.0, 4.0]]
        assert made.info.fingerprint == embedder((["he", "she"], frame.to_numpy())).info.fingerprint
    assert "first column" in refused(frame.reset_index(drop=True))


def test_the_word_vectors_of_a_spacy_pipeline_are_a_model():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    assert "no list of word vectors" in refused(nlp)
    for i, word in enumerate(["he", "she", "nurse"]):
        nlp.vocab.set_vector(word, np.array([i, 1.0], dtype=np.float32))
    nlp.vocab.vectors.add(
        nlp.vocab.strings.add("HE"), row=nlp.vocab.vectors.key2row[nlp.vocab.strings["he"]]
    )
    made = embedder(nlp)
    assert made.info.kind == "word"
    assert sorted(made.words) == ["he", "nurse", "she"]
    for word in ("he", "she", "nurse", "HE"):
        np.testing.assert_array_equal(made.encode([word])[0], nlp.vocab[word].vector)
    assert np.isnan(made.encode(["absent"])).all()
    before = made.info.fingerprint
    assert embedder(nlp).info.fingerprint == before
    nlp.vocab.vectors.add(
        nlp.vocab.strings.add("HE"), row=nlp.vocab.vectors.key2row[nlp.vocab.strings["she"]]
    )
    assert embedder(nlp).info.fingerprint != before


def static_embedding(**settings):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = ["[UNK]", "the", "nurse", "a", "man", "is", "good", "bad"]
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    weights = np.random.default_rng(0).normal(size=(len(words), 4)).astype(np.float32)
    step = StaticEmbedding(tokenizer, embedding_weights=weights)
    return SentenceTransformer(modules=[step], device="cpu", **settings)


def test_a_static_embedding_model_reads_all_of_a_text():
    model = static_embedding()
    made = embedder(model)
    assert made.info.max_tokens is None
    np.testing.assert_array_equal(made.encode(TEXTS), model.encode(TEXTS))
    records = harness.evaluate(model, "name-triplets")
    assert records
    assert made.info.fingerprint == embedder(static_embedding()).info.fingerprint


class StaticModel:
    """A model of model2vec, by its interface and attributes."""

    def __init__(self, vectors, tokenizer):
        self.embedding, self.tokenizer, self.base_model_name = vectors, tokenizer, "/a/path"
        self.max_length, self.normalize = 512, True

    def encode(self, sentences, *, show_progress_bar=False, max_length=None, **options):
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(sentences)]
        return np.stack([self.embedding[ids].mean(axis=0) for ids in tokens])


def test_a_model_of_model2vec_is_a_model():
    step = static_embedding()[0]
    vectors = step.embedding.weight.detach().numpy()
    models_ = [StaticModel(vectors, step.tokenizer), StaticModel(vectors + 1, step.tokenizer)]
    first, second = map(embedder, models_)
    np.testing.assert_allclose(first.encode(TEXTS), static_embedding().encode(TEXTS), atol=1e-6)
    assert first.info.fingerprint != second.info.fingerprint
