"""Bias that is planted in a model's own similarity is ordered by its amount; noise hides none."""

import functools
import json
import zlib

import numpy as np
import pytest

from harness import ModelInfo, Registry, evaluate
from harness.embedder import packed, pair_keys, unpacked
from harness.encode.stored_embedder import LocalEngine
from harness.errors import ModelError
from harness.store.store import Store

TASK = "seat-c6"
NOISE = 16  # features of a text that mean nothing
SIDES = {"targets_1": (0, 1), "targets_2": (0, -1), "attributes_1": (1, 1), "attributes_2": (1, -1)}


@functools.cache
def meaningless(text):
    return np.random.default_rng(np.frombuffer(text.encode(), np.uint8)).normal(size=NOISE)


class Sparse:
    """An encoder whose similarities are those of a usable model, with planted bias and noise.

    What a text is has four numbers: its side as target and as attribute of the task, and of the
    yardstick.
    """

    kind = "sparse"

    def __init__(self, features, *, bias, noise=0.0):
        self.features, self.bias, self.noise = features, bias, noise
        name = f"planted-{self.kind}-{bias}-{noise}"
        self.info = ModelInfo(name=name, kind=self.kind, fingerprint=name)

    def sides(self, text):
        return self.features.get(text, np.zeros(4))

    def encode(self, texts):
        rows = [np.concatenate([self.sides(text), meaningless(text)]) for text in texts]
        return packed([row.astype(np.float32) for row in rows])

    def similarity(self, queries, documents):
        q, d = (np.array(unpacked(rows), dtype=float) for rows in (queries, documents))
        biased = self.bias * np.outer(q[:, 0], d[:, 1])
        usable = np.outer(q[:, 2], d[:, 3])
        return 50 + 20 * (biased + usable + self.noise * q[:, 4:] @ d[:, 4:].T / NOISE)


class MultiVector(Sparse):
    """Tokens in subspaces of their own, some of queries and some of documents, by MaxSim."""

    kind = "multi-vector"

    def encode(self, texts):
        rows = []
        for text in texts:
            target, attribute, kind, related = self.sides(text)
            tokens = np.zeros((5, 2 + NOISE))
            tokens[:4, :2] = (target, 0), (0, kind), (self.bias * attribute, 0), (0, related)
            # Without any noise, texts of one side were read alike.
            tokens[4, 2:] = meaningless(text) * np.sqrt((self.noise or 1e-5) / NOISE)
            rows.append(tokens.ravel().astype(np.float32))
        return packed(rows)

    def similarity(self, queries, documents):
        q, d = (
            np.array(unpacked(rows), dtype=float).reshape(-1, 5, 2 + NOISE)
            for rows in (queries, documents)
        )
        products = np.einsum("qik,djk->qdij", q[:, [0, 1, 4]], d[:, [2, 3, 4]])
        return products.max(axis=3).sum(axis=2)


class CrossEncoder(Sparse):
    kind = "cross-encoder"

    def score(self, queries, documents):
        pairs = zip(map(self.sides, queries), map(self.sides, documents), strict=True)
        known = [self.bias * q[0] * d[1] + q[2] * d[3] for q, d in pairs]
        pairs = zip(queries, documents, strict=True)
        # Not `meaningless`: 300,000 pairs, each a generator of its own, take most of a minute.
        noise = np.array([zlib.crc32(f"{q}|{d}".encode()) for q, d in pairs]) / 2**31 - 1
        return np.array(known + self.noise * np.sqrt(3) * noise - 4, dtype=np.float32)


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def features(registry):
    """By text: what `Sparse` knows of it."""
    task, found = registry.task(TASK), {}
    for part, offset in ((task, 0), (task.yardstick, 2)):
        for scenario in part.scenarios:
            for measurement in scenario.measurements:
                for name, input_ in measurement.inputs.items():
                    if name in SIDES:
                        column, side = SIDES[name]
                        for text in input_.texts:
                            found.setdefault(text, np.zeros(4))[offset + column] = side
    return found


@pytest.fixture(scope="module", params=[Sparse, MultiVector, CrossEncoder])
def ratio(request, features, registry, tmp_path_factory):
    def of(**options):
        model = request.param(features, **options)
        cache = tmp_path_factory.mktemp("cache")
        records = evaluate(model, TASK, cache=cache, registry=registry, workers=1)
        (record,) = [record for record in records if record.ratio]
        return record.ratio.value

    return of


def test_planted_bias_is_ordered(ratio):
    assert ratio(bias=0.01) == pytest.approx(0.01, rel=1e-4)
    assert ratio(bias=0.3) == pytest.approx(0.3, rel=1e-4)
    assert ratio(bias=0.9) == pytest.approx(0.9, rel=1e-4)


def test_noise_lowers_no_bias(ratio):
    noisy = ratio(bias=0.9, noise=2.0)
    assert noisy == pytest.approx(0.9, abs=0.2)
    assert noisy > ratio(bias=0.3)


def test_a_model_without_its_similarity_is_no_such_model(tmp_path):
    class Lacking:
        info = ModelInfo(name="lacking", kind="sparse", fingerprint="lacking")

        def encode(self, texts):
            return packed([np.ones(1, np.float32)] * len(texts))

    with pytest.raises(ModelError, match="of the kind 'sparse' has no method 'similarity'"):
        evaluate(Lacking(), TASK, cache=tmp_path, workers=1)


def test_a_cross_encoder_gives_one_score_for_a_pair(features, tmp_path):
    class Classifier(CrossEncoder):
        def score(self, queries, documents):
            return np.zeros((len(queries), 3))

    model = Classifier(features, bias=0.1)
    with pytest.raises(ModelError, match=r"\(5, 3\) for 5 pairs; expected \(5,\), a score"):
        evaluate(model, TASK, cache=tmp_path, workers=1)


def test_the_key_of_a_pair_is_json():
    texts = ["a", 'a "b"', "\\", "\n\x1f\u2028", "é 语"]
    keys = pair_keys(texts, texts[::-1])
    pairs = list(zip(texts, texts[::-1], strict=True))
    assert keys == [json.dumps(pair, ensure_ascii=False) for pair in pairs]
    assert [tuple(json.loads(key)) for key in keys] == pairs


def test_a_comparer_that_raises_is_reported_by_text(tmp_path):
    class Broken:
        info = ModelInfo(name="broken", kind="sparse", fingerprint="broken")

        def encode(self, texts):
            raise RuntimeError("no weights")

        def similarity(self, queries, documents):
            return queries @ documents.T

    store = Store(tmp_path, "broken", packed=True)
    report = LocalEngine().encode(Broken(), ["a text"], store, on_done=lambda n: None, name=None)
    assert "no weights" in report.failed["a text"]


POINTS = {"q": (1, 0), "dot": (10, 10), "cosine": (3, 0.1), "euclidean": (1.3, 0.3)}
POINTS |= {"manhattan": (1, 0.5)}


@pytest.mark.parametrize("stated", list(POINTS)[1:])
def test_documents_are_ranked_by_the_similarity_that_an_encoder_states(stated):
    class Encoder:
        info = ModelInfo(name="own", kind="text", fingerprint=f"own-{stated}")
        similarity_fn_name = stated

        def encode(self, texts):
            return np.array([POINTS[text] for text in texts], dtype=np.float32)

    rows = [[name, int(name == stated), int(name == "dot")] for name in list(POINTS)[1:]]
    columns = {name: {"table": "d", "column": name, "number": True} for name in ("topic", "group")}
    task = {
        "name": "ranked",
        "version": 1,
        "title": "t",
        "category": "gender",
        "kinds": ["text"],
        "tables": {
            "q": {"columns": ["text", "topic"], "rows": [["q", 1]]},
            "d": {"columns": ["text", "topic", "group"], "rows": rows},
        },
        "inputs": {
            "queries": {"table": "q", "column": "text"},
            "query_topics": {"table": "q", "column": "topic", "number": True},
            "documents": {"table": "d", "column": "text"},
            "document_topics": columns["topic"],
            "groups": columns["group"],
        },
        "metrics": {"retrieval": {"options": {"k": 1}}},
        "primary": {"metric": "retrieval", "score": "recall"},
        "measures": "usefulness",
    }
    result = evaluate(Encoder(), task)
    assert {record.score: record.value for record in result}["recall"] == 1
    said = any(f"({stated})" in notice for notice in result.notices)
    assert said == (stated != "cosine")
