"""Chains of mitigators on the tasks and mitigators that come with the harness."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.mitigator import Chain, Mitigator
from harness.registry.registry import Registry
from harness.run.plan import make


class Counting(MockEmbedder):
    """A mock that remembers what it was asked for."""

    def __init__(self):
        super().__init__("text")
        self.asked: list[str] = []

    def encode(self, texts):
        self.asked += texts
        return super().encode(texts)


@pytest.fixture(scope="module")
def registry():
    return Registry()


def job(registry, task, mitigator):
    mock = MockEmbedder()
    (made,) = make(
        mock.info, [registry.task(task)], {mitigator: registry.mitigator(mitigator)}
    ).jobs
    for chain in made.chains:
        chain.fit_once(mock, made.concept)
    return made


@pytest.mark.parametrize(
    "mitigator",
    [
        "context-injection+hard-debias",
        "hard-debias+context-injection",
        "context-injection?context=positive+context-injection+hard-debias",
    ],
)
def test_fitting_a_chain_encodes_what_the_plan_has_and_nothing_else(registry, mitigator):
    mock = Counting()
    task = registry.task("gender-occupations")
    (made,) = make(mock.info, [task], {mitigator: registry.mitigator(mitigator)}).jobs
    for chain in made.chains:
        chain.fit_once(mock, made.concept)
    assert mock.asked
    assert set(mock.asked) <= set(made.needed)


def test_a_stage_is_fitted_on_texts_as_they_will_be_transformed(registry):
    one = job(registry, "seat-c6", "context-injection+hard-debias")
    other = job(registry, "seat-c6", "hard-debias+context-injection")
    texts = ["This is a nurse.", "She is here."]
    vectors = MockEmbedder().encode(texts)
    np.testing.assert_allclose(
        one.mitigator.transform(vectors, texts), other.mitigator.transform(vectors, texts)
    )


def test_probes_are_transformed_by_what_was_learnt_of_texts_as_they_are_written(registry):
    chained = job(registry, "gender-occupations", "context-injection+hard-debias")
    alone = job(registry, "gender-occupations", "hard-debias")
    probes = chained.task.scenarios[0].inputs["targets_1"]
    vectors = MockEmbedder().encode(probes.texts)
    np.testing.assert_allclose(
        chained.chain(probes).transform(vectors, probes.texts),
        alone.chain(probes).transform(vectors, probes.texts),
    )
    assert chained.texts(probes) == list(probes.texts)


def test_a_text_made_of_a_word_that_was_fitted_on_is_an_overlap():
    records = harness.evaluate(MockEmbedder(), tasks="seat-c6b", mitigators="hard-debias")
    sentences = [record for record in records if record.scenario == "sentence"]
    assert {"he", "she", "woman"} <= set(sentences[0].overlap)


class Swapped(Mitigator):
    """Adds the vector of the text read backwards."""

    notes = ("all were swapped",)

    def fit(self, embedder, concept=None):
        self.embedder_ = embedder
        return self

    def reads(self, texts, concept):
        return [text[::-1] for text in texts]

    def transform(self, vectors, texts):
        return (vectors + self.embedder_.encode(self.reads(texts, None))) / 2


class Loud(Mitigator):
    """Writes texts in capitals, and counts them."""

    def __init__(self):
        self.seen = []

    def rewrite(self, texts):
        self.seen += texts
        return [text.upper() for text in texts]


def test_what_a_transform_reads_is_encoded_with_everything_else():
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


def test_a_chain_says_what_its_stages_have_to_say():
    assert Chain([Loud(), Swapped()]).notes == ("all were swapped",)
