"""Chains of mitigators, on built-in tasks and mitigators and on small ones written here."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.mitigator import Chain, Mitigator
from harness.registry.registry import Registry
from harness.run.plan import make


class Counting(MockEmbedder):
    """Remembers the texts that it encoded."""

    def __init__(self):
        super().__init__("text")
        self.encoded: list[str] = []

    def encode(self, texts):
        self.encoded += texts
        return super().encode(texts)


@pytest.fixture(scope="module")
def registry():
    return Registry()


def job(registry, task, mitigator):
    mock = MockEmbedder()
    (planned,) = make(
        mock.info, [registry.task(task)], {mitigator: registry.mitigator(mitigator)}
    ).jobs
    for chain in planned.chains:
        chain.fit_once(mock, planned.concept)
    return planned


@pytest.mark.parametrize(
    "mitigator",
    [
        "context-injection+hard-debias",
        "hard-debias+context-injection",
        "context-injection?context=positive+context-injection+hard-debias",
    ],
)
def test_fitting_a_chain_encodes_only_texts_of_the_plan(registry, mitigator):
    mock = Counting()
    task = registry.task("gender-occupations")
    (planned,) = make(mock.info, [task], {mitigator: registry.mitigator(mitigator)}).jobs
    for chain in planned.chains:
        chain.fit_once(mock, planned.concept)
    assert mock.encoded
    assert set(mock.encoded) <= set(planned.needed)


def test_a_stage_is_fitted_on_rewritten_texts_wherever_the_rewriting_stage_stands(registry):
    rewriting_first = job(registry, "seat-c6", "context-injection+hard-debias")
    rewriting_last = job(registry, "seat-c6", "hard-debias+context-injection")
    texts = ["This is a nurse.", "She is here."]
    vectors = MockEmbedder().encode(texts)
    np.testing.assert_allclose(
        rewriting_first.mitigator.transform(vectors, texts),
        rewriting_last.mitigator.transform(vectors, texts),
    )


def test_probes_are_transformed_by_a_fit_on_texts_that_are_not_rewritten(registry):
    chained = job(registry, "gender-occupations", "context-injection+hard-debias")
    alone = job(registry, "gender-occupations", "hard-debias")
    probes = chained.task.scenarios[0].inputs["targets_1"]
    vectors = MockEmbedder().encode(probes.texts)
    np.testing.assert_allclose(
        chained.chain(probes).transform(vectors, probes.texts),
        alone.chain(probes).transform(vectors, probes.texts),
    )
    assert chained.texts(probes) == list(probes.texts)


def test_a_sentence_about_a_word_of_the_fit_counts_as_overlap():
    records = harness.evaluate(MockEmbedder(), tasks="seat-c6b", mitigators="hard-debias")
    sentences = [record for record in records if record.scenario == "sentence"]
    assert {"he", "she", "woman"} <= set(sentences[0].overlap)


class Swapped(Mitigator):
    """Averages the vectors of the text and of the reversed text."""

    notes = ("all were swapped",)

    def fit(self, embedder, concept=None):
        self.embedder_ = embedder
        return self

    def reads(self, texts, concept):
        return [text[::-1] for text in texts]

    def transform(self, vectors, texts):
        return (vectors + self.embedder_.encode(self.reads(texts, None))) / 2


class Loud(Mitigator):
    """Writes texts in capitals, and remembers them."""

    def __init__(self):
        self.seen = []

    def rewrite(self, texts):
        self.seen += texts
        return [text.upper() for text in texts]


def test_texts_that_a_transform_reads_are_rewritten_and_encoded():
    chain = Chain([Loud(), Swapped()])
    assert chain.reads(["ab", "cd"], None) == ["BA", "DC"]
    mock = MockEmbedder()
    rows = chain.fit(mock).transform(mock.encode(["AB"]), ["ab"])
    np.testing.assert_allclose(rows, mock.encode(["AB", "BA"]).mean(axis=0)[None], atol=1e-7)


def test_each_text_is_rewritten_once():
    chain = Chain([Loud()])
    assert chain.rewrite(["a", "b", "a"]) == ["A", "B", "A"]
    assert chain.rewrite(["b", "c"]) == ["B", "C"]
    assert chain.mitigators[0].seen == ["a", "b", "c"]


def test_a_chain_has_the_notes_of_its_stages():
    assert Chain([Loud(), Swapped()]).notes == ("all were swapped",)
