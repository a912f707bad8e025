"""Encoders that compare texts themselves: each metric equals the library's similarity."""

import math

import numpy as np
import pytest

from harness import Registry, evaluate
from harness.arrays import Coordinates, both_sides, coordinates, cosines, own_coordinates
from harness.embedder import similarity_of
from harness.errors import ModelError
from harness.plugins.embedders.transformers.comparers import (
    CrossEncoder,
    MultiVectorEncoder,
    SparseEncoder,
)
from harness.plugins.embedders.transformers.loaded_model import adapt_comparing
from harness.plugins.embedders.transformers.model_folder import kind_of
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.store.store import Store

CLASSES = {
    "sparse": SparseEncoder,
    "multi-vector": MultiVectorEncoder,
    "cross-encoder": CrossEncoder,
}
# Rows of the table: a query, two versions, an unrelated text, and numbers.
ROWS = [
    ("the nurse is good", "the man is good", "the woman is good", "hello world", 0.9, 0, 0),
    ("a man is bad", "the nurse is bad", "a woman is a nurse", "world", 0.1, 1, 0),
    ("the woman is a man", "a man", "the woman", "bad hello", 0.4, 0, 1),
    ("hello nurse", "hello man", "hello good woman", "is is", 0.7, 1, 1),
    ("good world", "a good man", "a bad woman", "the query", 0.3, 0, 2),
    ("the bad nurse is hello", "man : woman", "a woman is good", "a world", 0.5, 1, 2),
]
COLUMNS = ["q", "a", "b", "u", "y", "group", "code"]
SETS = {
    "x": ["the man", "a man is good", "good man"],
    "y_": ["the woman", "a woman is bad", "woman hello"],
    "m": ["nurse", "the nurse is good", "hello nurse"],
    "n": ["world", "a bad world", "query : the world"],
}
X, Y, M, N = SETS
WEAT = {"targets_1": X, "targets_2": Y, "attributes_1": M, "attributes_2": N}
INPUTS = {
    **dict.fromkeys(("weat", "weat-association", "weat-mean", "association-test"), WEAT),
    "mac": {"targets_1": X, "attributes_1": M, "attributes_2": N},
    "similarity-gap": {
        "sentences": "q", "versions_1": "a", "versions_2": "b", "statistics": "y"
    },
    "stereotype-choice": {"contexts": "q", "stereotyped": "a", "anti_stereotyped": "b"},
    "related-choice": {
        "contexts": "q", "stereotyped": "a", "anti_stereotyped": "b", "unrelated": "u"
    },
    "triplet-auc": {"queries": "q", "positives": "a", "negatives": "b"},
    "version-gap": {"queries": "q", "versions_1": "a", "versions_2": "b"},
    "corpus-leaning": {"queries": "q", "versions_1": "a", "versions_2": "b"},
    "query-loss": {"queries": "q", "varied": "u", "documents": "a"},
    "similarity-correlation": {"texts_1": "q", "texts_2": "a", "ratings": "y"},
    "reference-correlation": {
        "summaries": "q", "references": "a", "ratings": "y", "documents": "group",
        "reference_documents": "group",
    },
    "retrieval": {
        "queries": "q", "documents": "a", "query_topics": "code", "document_topics": "code",
        "groups": "group",
    },
    "ranking-bias": {
        "queries": "q", "documents": "a", "counts_1": "group", "counts_2": "code",
        "query_topics": "code", "document_topics": "code",
    },
    "recommendation": {
        "items": "a", "statistics": "y", "profiles_1": "q", "profiles_2": "b", "edited": "u",
        "item_codes": "code", "profile_codes": "code",
    },
    "screening": {
        "resumes": "a", "queries": "q", "groups": "group", "units": "code", "screenings": "code",
        "jobs": "code",
    },
    "group-dispersion": {
        "sentences": "q", "groups": "code", "frames": "group", "pleasant": M, "unpleasant": N
    },
    "pair-accuracy": {"pairs_1": X, "pairs_2": Y, "words_1": M, "words_2": N},
    "perturbation-similarity": {"perturbed": "q", "texts_of": "code"},
}  # fmt: skip
OPTIONS = {
    **{
        name: {"k": 2} for name in ("corpus-leaning", "retrieval", "ranking-bias", "recommendation")
    },
    "screening": {"top": 0.5},
}
OF_TWO_SETS = [name for name in INPUTS if name != "perturbation-similarity"]
WITHOUT_BOUNDS = [("weat-association", "association"), ("similarity-gap", "slope")]
CHEAP = {"null_draws": 20, "permutations": 20, "resamples": 20}
TASK = {
    "name": "own-similarity",
    "version": 1,
    "title": "Every metric of similarities",
    "category": "gender",
    "kinds": ["text"],
    "tables": {"rows": {"columns": COLUMNS, "rows": [list(row) for row in ROWS]}},
    "inputs": {
        **{name: {"words": words} for name, words in SETS.items()},
        **{n: {"table": "rows", "column": n, "number": n in COLUMNS[4:]} for n in COLUMNS},
    },
    "primary": {"metric": "weat", "score": "association"},
    "yardstick": "none",
}


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module", params=list(CLASSES))
def folder(request, masked_model, tmp_path_factory):
    """The folder of a tiny model of each kind, made by the library."""
    import sentence_transformers

    class_ = getattr(sentence_transformers, CLASSES[request.param].library_class)
    path = tmp_path_factory.mktemp(request.param)
    options = {"num_labels": 1} if request.param == "cross-encoder" else {}
    class_(str(masked_model), device="cpu", **options).save_pretrained(str(path))
    return request.param, path


@pytest.fixture(scope="module")
def library(folder):
    """Return the library's own similarities of two lists of texts."""
    import sentence_transformers

    kind, path = folder
    model = getattr(sentence_transformers, CLASSES[kind].library_class)(str(path), device="cpu")

    def similarities(first, second):
        if kind == "cross-encoder":
            pairs = [(query, document) for query in first for document in second]
            return model.predict(pairs).reshape(len(first), len(second)).astype(float)
        found = model.similarity(model.encode(list(first)), model.encode(list(second)))
        return (found.to_dense() if found.is_sparse else found).double().numpy()

    return similarities


@pytest.fixture(scope="module")
def values(folder, registry, tmp_path_factory):
    """The value of each score of each metric under the harness."""
    uses = {}
    for name, inputs in INPUTS.items():
        known = registry.metric(name).options
        cheap = {option: n for option, n in CHEAP.items() if option in known}
        uses[name] = {"inputs": inputs, "options": cheap | OPTIONS.get(name, {})}
    records = evaluate(
        str(folder[1]),
        {**TASK, "metrics": uses},
        cache=tmp_path_factory.mktemp("cache"),
        registry=registry,
        workers=1,
        debug=True,
    )
    assert {record.model.kind for record in records} == {folder[0]}
    return {(record.metric, record.score): record for record in records}


def texts_of(name):
    return SETS.get(name) or [row[COLUMNS.index(name)] for row in ROWS]


def with_cosines(similarities, scale):
    """Return unit vectors of two sets, with the similarities over `scale` as their cosines."""
    m = similarities.shape[1]
    first = similarities / scale
    rest = np.sqrt(1 - (first**2).sum(axis=1, keepdims=True))
    return np.hstack([first, rest]), np.hstack([np.eye(m), np.zeros((m, 1))])


def test_every_metric_of_similarities_is_tested(registry):
    comparing = {name for name in registry.metrics if registry.metric(name).compares}
    assert comparing == set(INPUTS)


@pytest.mark.parametrize("name", OF_TWO_SETS)
def test_a_metric_is_that_of_vectors_with_the_librarys_similarities(
    name, values, library, registry
):
    metric, inputs = registry.metric(name), INPUTS[name]
    queries, documents = (
        [p for p in side if p in inputs]
        for side in (metric.compares.queries, metric.compares.documents)
    )
    first, second = (
        [text for parameter in side for text in texts_of(inputs[parameter])]
        for side in (queries, documents)
    )
    similarities = library(first, second)
    scale = 2 * float(np.sqrt((similarities**2).sum(axis=1).max()))
    arrays = {p: np.array(texts_of(i), dtype=float) for p, i in inputs.items() if i in COLUMNS[4:]}
    for side, rows in zip((queries, documents), with_cosines(similarities, scale), strict=True):
        ends = np.cumsum([len(texts_of(inputs[parameter])) for parameter in side])
        arrays |= dict(zip(side, np.split(rows, ends[:-1]), strict=True))
    cheap = {option: n for option, n in CHEAP.items() if option in metric.options}
    expected = metric.measure(
        arrays,
        cheap | OPTIONS.get(name, {}),
        rng=np.random.default_rng(0),
        clusters={},
        texts={p: texts_of(i) for p, i in inputs.items() if i not in COLUMNS[4:]},
    )
    for score, scale_of in metric.scores.items():
        value = expected[score].value
        if name == "mac":
            value = 1 - scale * (1 - value)
        elif scale_of.in_cosines or (name, score) in WITHOUT_BOUNDS:
            value *= scale
        record = values[name, score]
        if scale_of.in_cosines:
            assert record.bounds == (None, None)
        if math.isnan(value):
            assert record.value is None
        else:
            assert record.value == pytest.approx(value, rel=1e-4, abs=1e-5), score


def test_scores_by_hand(values, library):
    def mean(first, second):
        return library(texts_of(first), texts_of(second)).mean()

    association = mean(X, M) - mean(X, N) - mean(Y, M) + mean(Y, N)
    for metric in ("weat", "weat-mean", "association-test"):
        found = values[metric, "association"].value
        assert found == pytest.approx(association, rel=1e-4, abs=1e-6)
    distance = 1 - (mean(X, M) + mean(X, N)) / 2
    assert values["mac", "distance"].value == pytest.approx(distance, rel=1e-4, abs=1e-6)
    a, b = (np.diag(library(texts_of("q"), texts_of(name))) for name in "ab")
    for key, value in {
        ("version-gap", "gap"): (a - b).mean(),
        ("triplet-auc", "same_meaning"): a.mean(),
        ("triplet-auc", "same_names"): b.mean(),
        ("triplet-auc", "auc"): (a[:, None] > b).mean(),
        ("similarity-gap", "gap"): np.abs(b - a).mean(),
        ("stereotype-choice", "stereotype_score"): (a > b).mean(),
    }.items():
        assert values[key].value == pytest.approx(value, rel=1e-4, abs=1e-6), key


def test_texts_compared_with_each_other_count_in_both_orders(values, library):
    matrix = library(texts_of("q"), texts_of("q"))
    similarities = (matrix + matrix.T) / 2
    own = np.diag(similarities)
    kept = 1 + similarities - (own[:, None] + own) / 2
    record = values["perturbation-similarity", "cosine"]
    within = (kept[0, 1] + kept[2, 3] + kept[4, 5]) / 3
    assert record.value == pytest.approx(within, rel=1e-4, abs=1e-5)
    codes = np.array(texts_of("code"))
    between = kept[codes[:, None] != codes].mean()
    assert record.details["between"] == pytest.approx(between, rel=1e-4, abs=1e-5)
    distance = values["perturbation-similarity", "distance"]
    assert (distance.value, "need vectors" in distance.reason) == (None, True)


def test_rows_that_are_compared_with_each_other_have_any_symmetric_similarity():
    similarities = np.random.default_rng(0).normal(scale=9, size=(4, 4))
    first, second = both_sides(own_coordinates(similarities))
    products = first @ second.T
    np.testing.assert_allclose(products, products.T)
    np.testing.assert_array_equal(np.diag(products), 1)
    vectors = np.random.default_rng(1).normal(size=(4, 3))
    first, second = both_sides(own_coordinates(cosines(vectors, vectors)))
    np.testing.assert_allclose(first @ second.T, cosines(vectors, vectors))


@pytest.mark.parametrize("folder", ["sparse"], indirect=True)
def test_a_mitigator_of_vectors_does_not_apply_and_one_of_texts_does(folder, registry, tmp_path):
    task = {**TASK, "metrics": {"weat": {"inputs": WEAT}}, "concept": "gender"}
    records = evaluate(
        str(folder[1]),
        task,
        ["none", "hard-debias", "context-injection"],
        cache=tmp_path,
        registry=registry,
        workers=1,
    )
    assert {record.mitigator.label for record in records} == {"none", "context-injection"}
    (not_run,) = records.not_run
    assert (not_run.kind, not_run.mitigator) == ("mitigator", "hard-debias")
    assert f"does not work on {folder[0]} embedders; it changes vectors" in not_run.reason


@pytest.mark.parametrize("folder", ["sparse"], indirect=True)
def test_a_task_whose_metric_needs_vectors_does_not_apply(folder, registry, tmp_path):
    inputs = {"targets_1": X, "targets_2": Y, "attributes": M}
    task = {
        **TASK,
        "metrics": {"ect": {"inputs": inputs}},
        "primary": {"metric": "ect", "score": "coherence"},
    }
    task["primary"]["score"] = next(iter(registry.metric("ect").scores))
    records = evaluate(str(folder[1]), task, cache=tmp_path, registry=registry, workers=1)
    assert not records
    (not_run,) = records.not_run
    assert not_run.reason == "its metric 'ect' needs vectors, not only similarities"


def test_no_kind_is_loaded_as_another(folder, registry, built_model):
    kind, path = folder
    assert kind_of(path) == kind
    assert registry.embedder(str(path)).info.kind == kind
    assert registry.embedder(f"{kind}:{path}").info.fingerprint.startswith(kind)
    for other, class_ in CLASSES.items():
        with pytest.raises(ModelError, match=f"is not a {other} model"):
            class_(str(built_model))
        if other != kind:
            with pytest.raises(ModelError, match=f"or the provider '{kind}:'"):
                class_(str(path))
    with pytest.raises(ModelError, match=f"or the provider '{kind}:'"):
        SentenceTransformersEmbedder(str(path))


def test_an_object_in_memory_is_the_model_of_its_folder(folder, registry):
    import sentence_transformers

    kind, path = folder
    model = getattr(sentence_transformers, CLASSES[kind].library_class)(str(path), device="cpu")
    embedder = adapt_comparing(model)
    of_folder = registry.embedder(str(path), device="cpu")
    assert (embedder.info.kind, embedder.model) == (kind, model)
    assert embedder.info.fingerprint == of_folder.info.fingerprint
    weight = next(iter(model.parameters()))
    weight.data += 1
    assert adapt_comparing(model).info.fingerprint != of_folder.info.fingerprint


@pytest.mark.parametrize("folder", ["sparse", "multi-vector"], indirect=True)
def test_stored_rows_of_any_length_give_the_same_similarities(folder, library, tmp_path):
    kind, path = folder
    embedder = CLASSES[kind](str(path), device="cpu")
    store = Store(tmp_path, embedder.info.fingerprint, packed=True)
    texts = texts_of("q") + texts_of("a")
    with store.writer(rows=4) as writer:
        for text in texts:
            writer.add([text], embedder.encode([text]))
    again = Store(tmp_path, embedder.info.fingerprint, packed=True)
    assert len(again.files.names()) == 3
    stored = again.get(texts)
    found = similarity_of(embedder)(stored[:6], stored[6:])
    np.testing.assert_allclose(found, library(texts[:6], texts[6:]), rtol=1e-4, atol=1e-6)


def test_coordinates_have_the_similarities_as_products():
    similarities = np.random.default_rng(0).normal(scale=9, size=(3, 7))
    for matrix in (similarities, similarities.T):
        first, second = coordinates(matrix)
        np.testing.assert_array_equal(cosines(first, second), matrix)
        assert isinstance(np.concatenate([first, first]), Coordinates)
