"""Chains of mitigators, on built-in tasks and mitigators and on small ones written here."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.chain import Chain
from harness.embedder import MockEmbedder
from harness.errors import HarnessError, NotApplicable
from harness.mitigator import Mitigator
from harness.registry.registry import Registry
from harness.run.plan import make_plan


class Counting(MockEmbedder):
    """A mock that remembers the texts that it encoded."""

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
    (job,) = make_plan(mock, [registry.task(task)], {mitigator: registry.mitigator(mitigator)}).jobs
    for chain in job.chains:
        chain.fit_once(mock, job.concept)
    return job


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
    (job,) = make_plan(mock, [task], {mitigator: registry.mitigator(mitigator)}).jobs
    for chain in job.chains:
        chain.fit_once(mock, job.concept)
    assert mock.encoded
    assert set(mock.encoded) <= set(job.needed)


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


def test_a_sentence_about_a_word_of_the_fit_is_judged_otherwise():
    records = harness.evaluate(MockEmbedder(), tasks="seat-c6b", mitigators="hard-debias")
    sentences = [record for record in records if record.scenario == "sentence"]
    assert sentences[0].unseen.kind == "held-out fit"
    assert sentences[0].unseen.value != sentences[0].value
    assert {"he", "she", "woman"} <= set(sentences[0].withheld)


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


class Fitted(Mitigator):
    """Counts its fits, and remembers the embedder of the last."""

    def fit(self, embedder, concept=None):
        self.fits_ = getattr(self, "fits_", 0) + 1
        self.embedder_ = embedder
        return self


class FittedRewriter(Fitted):
    def rewrite(self, texts):
        return list(texts)


class Misfit(Fitted):
    """Raises an error that needs more than a message."""

    class Error(NotApplicable):
        def __init__(self, n, m):
            super().__init__(f"{n} of {m}")

    def fit(self, embedder, concept=None):
        raise self.Error(1, 3)


def test_each_stage_is_fitted_once_with_and_without_rewriting():
    mock = MockEmbedder()
    chain = Chain([FittedRewriter(), Fitted()]).fit_rewriters(mock.info, None)
    bare = chain.without_rewriting()
    for either in (chain, bare, chain):
        either.fit_once(mock, None)
    assert bare.mitigators[0] is chain.mitigators[0]
    assert bare.mitigators[1] is not chain.mitigators[1]
    assert [stage.fits_ for stage in (*chain.mitigators, bare.mitigators[1])] == [1, 1, 1]


def test_fit_fits_all_stages_anew_and_forgets_what_it_returned():
    chain = Chain([FittedRewriter(), Loud(), Fitted()])
    for _ in range(2):
        chain.fit(MockEmbedder())
        chain.rewrite(["a", "a"])
    assert (chain.mitigators[0].fits_, chain.mitigators[2].fits_) == (2, 2)
    assert chain.mitigators[1].seen == ["a", "a"]


def test_a_stage_that_rewrites_is_fitted_with_an_embedder_that_encodes_nothing():
    stage = FittedRewriter()
    Chain([stage]).fit_rewriters(MockEmbedder().info, None)
    assert stage.embedder_.info == MockEmbedder().info
    with pytest.raises(HarnessError, match="before anything is encoded"):
        stage.embedder_.encode(["a"])


def test_a_fit_that_failed_fails_again_without_another_fit():
    class Broken(Fitted):
        def fit(self, embedder, concept=None):
            super().fit(embedder)
            raise NotApplicable("singular")

    chain = Chain([Broken()])
    for _ in range(2):
        with pytest.raises(NotApplicable, match="singular"):
            chain.fit_once(MockEmbedder(), None)
    assert chain.mitigators[0].fits_ == 1


def test_a_mitigator_that_rewrites_and_transforms_may_encode_in_transform():
    class Both(Mitigator):
        def fit(self, embedder, concept=None):
            self.embedder_ = embedder
            return self

        def rewrite(self, texts):
            return [text.lower() for text in texts]

        def transform(self, vectors, texts):
            return vectors - self.embedder_.encode(list(texts))

    mock = MockEmbedder("text", 8)
    chain = Chain([Both()]).fit_rewriters(mock.info, None)
    chain.fit_once(mock, None)
    texts = ["A", "b"]
    assert (chain.transform(mock.encode(chain.rewrite(texts)), texts) == 0).all()
