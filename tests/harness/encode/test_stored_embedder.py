"""Facts about reading through the store: what fails once is told, and not tried again."""

import pytest

import harness
from harness.embedder import MockEmbedder
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import HarnessError, ModelError
from harness.plugins.engines.local import LocalEngine
from harness.progress import Silent
from harness.store.store import Store


class Picky(MockEmbedder):
    """Raises on texts that begin with an x; keeps the batches that it was given."""

    def __init__(self):
        super().__init__(dimensions=4)
        self.batches = []

    def encode(self, texts):
        self.batches.append(list(texts))
        if any(text.startswith("x") for text in texts):
            raise ValueError("no x")
        return super().encode(texts)


def stored(folder):
    embedder = Picky()
    store = Store(folder, embedder.info.fingerprint)
    return StoredEmbedder(embedder, None, LocalEngine(), store, Silent())


def test_a_text_that_failed_is_told_and_not_tried_again(tmp_path):
    vectors = stored(tmp_path)
    vectors.ensure(["a", "x1", "b", "x2", "x3"])
    assert vectors.encoded == 2
    assert vectors.notices == ["not encoded: 'x1' and 2 more: ValueError: no x"]
    vectors.embedder.batches.clear()
    for _ in range(2):
        with pytest.raises(HarnessError) as caught:
            vectors.encode(["x2", "a", "x3", "x2"])
        told = "2 of its texts could not be encoded, the first is 'x2'"
        assert str(caught.value) == told
    assert vectors.encode(["b", "a"]).shape == (2, 4)
    assert vectors.embedder.batches == []
    assert len(vectors.notices) == 1


def test_a_model_that_fails_on_every_text_is_a_model_error_that_names_the_error_once(tmp_path):
    vectors = stored(tmp_path)
    with pytest.raises(ModelError) as caught:
        vectors.ensure(["x1", "x2"])
    told = "model 'mock-text' failed on 2 texts, the first of them 'x1': ValueError: no x"
    assert str(caught.value) == told
    assert vectors.notices == []


def test_in_a_later_run_a_text_that_fails_again_is_no_failure_of_the_model(tmp_path):
    for _ in range(2):
        vectors = stored(tmp_path)
        vectors.ensure(["a", "x1"])
        assert vectors.notices == ["not encoded: 'x1': ValueError: no x"]


def test_an_embedder_that_raises_on_one_text_loses_only_the_tasks_with_it(registry, tmp_path):
    class OnBarn(MockEmbedder):
        def encode(self, texts):
            if "barn" in texts:
                raise ValueError("no barn")
            return super().encode(texts)

    for _ in range(2):  # a later run finds all but that text in the store
        records = harness.evaluate(
            OnBarn(),
            ["toy-places", "toy-places-10"],
            registry=registry,
            concept="toy-place",
            cache=tmp_path / "cache",
        )
        assert {record.task.name for record in records} == {"toy-places-10"}
        (failed,) = records.failed
        assert failed.reason == "1 of its texts could not be encoded, the first is 'barn'"
        assert records.notices == ("not encoded: 'barn': ValueError: no barn",)
