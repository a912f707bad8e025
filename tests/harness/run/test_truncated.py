"""Records count the texts that are longer than a model reads."""

import pytest

import harness
from harness.embedder import MockEmbedder, ModelInfo


class Short(MockEmbedder):
    """Reads the first eight letters of a text, and remembers the texts that it was asked about."""

    def __init__(self):
        super().__init__()
        self.info = ModelInfo(name="short", kind="text", dimensions=16, fingerprint="short")
        self.checked = []

    def truncated(self, texts):
        self.checked += texts
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


def test_truncated_texts_are_counted_as_the_mitigator_rewrites_them(coverages):
    plain, rewritten = Short(), Short()
    first = coverages(plain)[0]
    assert first.truncated == len({text for text in plain.checked if len(text) > 8}) < first.asked
    polite = coverages(rewritten, "toy-polite")[0]
    assert any(text.endswith(" please") for text in rewritten.checked)
    assert polite.truncated > first.truncated


def test_each_text_is_checked_once(coverages):
    model = Short()
    coverages(model)
    assert len(model.checked) == len(set(model.checked))


def test_the_count_is_none_if_the_model_cannot_say(coverages):
    assert coverages(MockEmbedder())[0].truncated is None
    assert coverages(Broken())[0].truncated is None
