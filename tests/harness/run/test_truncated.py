"""Facts about texts that are longer than a model reads: records count them."""

import pytest

import harness
from harness.embedder import MockEmbedder, ModelInfo


class Short(MockEmbedder):
    """Reads eight letters of a text, and says so."""

    def __init__(self):
        super().__init__()
        self.info = ModelInfo(name="short", kind="text", dimensions=16, fingerprint="short")
        self.told = []

    def truncated(self, texts):
        self.told += texts
        return [len(text) > 8 for text in texts]


class Broken(Short):
    def truncated(self, texts):
        raise ValueError("no")


@pytest.fixture
def coverages(registry):
    def run(model, mitigators="none"):
        records = harness.evaluate(
            model, "toy-places", mitigators, registry=registry, concept="toy-place"
        )
        assert not records.failed
        return [record.coverage for record in records]

    return run


def test_texts_that_are_cut_are_counted_as_the_model_reads_them(coverages):
    plain, shouted = Short(), Short()
    first = coverages(plain)[0]
    assert first.truncated == len({text for text in plain.told if len(text) > 8}) < first.asked
    polite = coverages(shouted, "toy-polite")[0]
    assert any(text.endswith(" please") for text in shouted.told)
    assert polite.truncated > first.truncated


def test_each_text_is_asked_about_once(coverages):
    model = Short()
    coverages(model)
    assert len(model.told) == len(set(model.told))


def test_a_model_that_cannot_say_is_not_counted(coverages):
    assert coverages(MockEmbedder())[0].truncated is None
    assert coverages(Broken())[0].truncated is None
