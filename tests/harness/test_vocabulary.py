"""The vocabulary of a word embedder: as the texts of a task, and in blocks for a mitigator."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import harness
from harness.chain import Chain, MitigatedEmbedder
from harness.embedder import MockEmbedder, ModelInfo, vocabulary_of
from harness.errors import NotApplicable
from harness.metrics import Scale, metric
from harness.mitigator import Mitigator
from harness.plugins.embedders.vectors.word_vectors import WordVectors

TASK = """
    name: {name}
    version: 1
    title: The model's own words
    category: places
    concept: toy-place
    kinds: [word]
    inputs:
      words: {{vocabulary: {{size: {size}, pattern: "[a-z]+"}}}}
      before: {{vocabulary: {{size: {size}, pattern: "[a-z]+"}}, original: true}}
    metrics: {{moved: {{}}}}
    primary: {{metric: moved, score: moved}}
"""
PLUGIN = """
    from harness import MetricSpec, MitigatorSpec, Mitigator, Scale, Score, hookimpl, metric
    import numpy as np

    @metric("moved", scores={"moved": Scale(ideal=0)})
    def moved(words, before, *, texts):
        assert texts["words"] == texts["before"]
        rows = [{"word": word, "n": i} for i, word in enumerate(texts["words"])]
        lengths = np.linalg.norm(words - before, axis=1)
        return Score(
            float(lengths.mean()),
            n=len(words),
            tables={"the words": rows},
        )

    class Double(Mitigator):
        def fit(self, embedder, concept=None):
            self.missing_ = ["hamlet"]
            return self

        notes = ("doubled all",)

        def transform(self, vectors, texts):
            return np.asarray(2 * vectors, dtype=np.float32)

    @hookimpl
    def harness_metrics():
        return [MetricSpec(name="moved", target="THIS:moved", summary="moved")]

    @hookimpl
    def harness_mitigators():
        return [MitigatorSpec(name="double", target="THIS:Double", summary="double")]
"""


class Named:
    """A word embedder with four words, one of which the pattern of the task excludes."""

    info = ModelInfo(name="named", kind="word", dimensions=2, fingerprint="named")
    words = ("town", "Town", "field", "lane")
    vectors = np.array([[1, 0], [5, 5], [0, 1], [1, 1]], dtype=np.float32)

    def encode(self, texts):
        return np.array([self.vectors[self.words.index(text)] for text in texts])


@pytest.fixture
def evaluate(registry_with, plugin, write, tmp_path):
    registry = registry_with(plugin(PLUGIN))

    def run(model, mitigators="none", size=10, **more):
        path = write(f"own-{size}.yaml", TASK.format(name=f"own-{size}", size=size))
        return harness.evaluate(
            model, str(path), mitigators, registry=registry, concept="toy-place", **more
        )

    return run


def test_a_task_reads_its_texts_from_the_vocabulary_and_writes_tables(evaluate, tmp_path):
    records = evaluate(Named(), ["none", "double"], results=tmp_path / "results")
    assert [record.value for record in records] == pytest.approx([0, (2 + np.sqrt(2)) / 3])
    assert [record.n for record in records] == [3, 3]
    for record in records:
        path = tmp_path / "results" / record.tables["the words"]
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        assert rows == [{"word": w, "n": str(i)} for i, w in enumerate(["town", "field", "lane"])]
    again = evaluate(Named(), ["none", "double"], results=tmp_path / "results")
    assert [record.tables for record in again] == [record.tables for record in records]
    assert any("hamlet" in notice and "'double'" in notice for notice in records.notices)
    assert any("doubled all" in notice and "'double'" in notice for notice in records.notices)


def test_a_task_takes_the_first_words_of_the_vocabulary(evaluate):
    (record,) = evaluate(Named(), size=2)
    assert [row["word"] for row in record.rows["the words"]] == ["town", "field"]


def test_the_digest_of_a_task_does_not_depend_on_the_vocabulary(evaluate):
    (named,), (mock,) = evaluate(Named()), evaluate(MockEmbedder("word"))
    assert named.task.digest == mock.task.digest
    assert named.n != mock.n


def test_a_model_without_a_vocabulary_skips_the_task(evaluate):
    records = evaluate("toy-words")
    assert not records
    (skipped,) = records.skipped
    assert "'toy-words'" in skipped.reason
    assert "vocabulary" in skipped.reason
    assert not skipped.failed


def test_the_vocabulary_of_a_mitigated_embedder_has_mitigated_blocks():
    class Less(Mitigator):
        def transform(self, vectors, texts):
            assert len(vectors) == len(texts)
            return np.asarray(vectors - 1, dtype=np.float32)

    mitigated = vocabulary_of(MitigatedEmbedder(Named(), Chain([Less()])))
    blocks = list(mitigated.blocks(3))
    assert [words for words, _ in blocks] == [["town", "Town", "field"], ["lane"]]
    assert np.array_equal(np.concatenate([rows for _, rows in blocks]), Named.vectors - 1)
    words, rows = mitigated.head(2)
    assert (words, rows.tolist()) == (["town", "Town"], [[0, -1], [4, 4]])
    assert len(mitigated.head(9)[0]) == len(mitigated) == 4


def test_without_a_transform_the_vocabulary_is_the_embedders_own_object():
    model = WordVectors.of(["a", "b"], [[1, 0], [0, 1]])
    chain = Chain([Mitigator()])
    assert vocabulary_of(model) is vocabulary_of(model)
    assert vocabulary_of(MitigatedEmbedder(model, chain, stages=0)) is vocabulary_of(model)
    assert vocabulary_of(MitigatedEmbedder(model, Chain([]))) is vocabulary_of(model)
    assert vocabulary_of(MitigatedEmbedder(model, chain)) is not vocabulary_of(model)


def test_an_encoder_has_no_vocabulary():
    with pytest.raises(NotApplicable, match=r"'mock-text'.*vocabulary"):
        vocabulary_of(MockEmbedder("text"))


def test_an_input_may_have_the_name_of_a_supplied_parameter():
    @metric("mine", scores={"n": Scale(ideal=0)})
    def mine(texts, *, rng):
        return float(len(texts))

    assert mine.metric.supplied == {"rng"}
    assert list(mine.metric.inputs) == ["texts"]
