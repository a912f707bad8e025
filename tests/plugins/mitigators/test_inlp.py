"""Iterative nullspace projection: the removed directions, and the stop criterion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group
from sklearn.svm import LinearSVC

from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.inlp import Inlp

GENDER = Concept(name="gender", definitional_pairs=(("she", "he"), ("gal", "guy")))
WORDS = ["she", "he", *(f"w{i}" for i in range(398))]


def vocabulary(seed: int = 0, d: int = 8, n_biased: int = 3) -> WordVectors:
    """Return words whose first `n_biased` coordinates all predict the side."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((len(WORDS), d))
    rows[:, :n_biased] += np.where(rng.random(len(WORDS)) < 0.5, 2, -2)[:, None]
    rows[:2] = 0
    rows[:2, 0] = [-3, 3]
    return WordVectors.of(WORDS, rows)


def fitted(seed: int = 0, **options) -> Inlp:
    return Inlp(n_words=100, **options).fit(vocabulary(seed), GENDER)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_the_projection_is_symmetric_idempotent_and_orthogonal_to_all_directions(seed):
    mitigator = fitted(seed)
    p, directions = mitigator.projection_, mitigator.directions_
    assert p == pytest.approx(p.T, abs=1e-12)
    assert p @ p == pytest.approx(p, abs=1e-10)
    assert directions @ directions.T == pytest.approx(np.eye(len(directions)), abs=1e-10)
    assert p @ directions.T == pytest.approx(0, abs=1e-10)
    assert np.trace(p) == pytest.approx(8 - len(directions))


def test_the_only_direction_that_predicts_the_side_is_removed():
    rows = np.array([[-1, 0], [1, 0], *([[-1, 1], [-1, -1], [1, 1], [1, -1]] * 10)], float)
    embedder = WordVectors.of(["she", "he", *map(str, range(40))], rows)
    concept = Concept(name="gender", definitional_pairs=(("she", "he"),))
    mitigator = Inlp(n_words=20, n_iterations=1, normalize=False).fit(embedder, concept)
    assert np.abs(mitigator.directions_[0]) == pytest.approx([1, 0], abs=0.05)
    assert mitigator.accuracies_[0] == 1.0
    result = mitigator.transform([[3.0, 4.0]], ["x"])
    assert result[0] == pytest.approx([0, 4], abs=0.4)


def test_it_stops_at_the_stop_accuracy():
    mitigator = fitted(stop_accuracy=0.6)
    assert mitigator.accuracies_[0] > 0.9
    assert all(accuracy > 0.6 for accuracy in mitigator.accuracies_[:-1])
    assert mitigator.accuracies_[-1] <= 0.6
    assert len(mitigator.directions_) == len(mitigator.accuracies_) - 1


def test_a_new_classifier_cannot_predict_the_side_afterwards():
    embedder = vocabulary()
    sides = embedder.vectors[2:, :3].sum(axis=1) > 0
    after = fitted().transform(embedder.vectors[2:], WORDS[2:])
    before = LinearSVC(dual=False).fit(embedder.vectors[2:200], sides[:198])
    again = LinearSVC(dual=False).fit(after[:198], sides[:198])
    assert before.score(embedder.vectors[200:], sides[198:]) > 0.95
    assert again.score(after[198:], sides[198:]) < 0.65


def test_the_directions_are_limited_by_the_iterations_and_the_dimensions():
    assert len(fitted(n_iterations=1).directions_) == 1
    everything = fitted(n_iterations=35, stop_accuracy=0.5)
    assert len(everything.directions_) <= 8
    assert np.isfinite(everything.projection_).all()


def test_the_same_seed_gives_the_same_projection():
    assert np.array_equal(fitted(seed=1).projection_, fitted(seed=1).projection_)


@settings(max_examples=5)
@given(st.integers(0, 1000))
def test_debiasing_a_rotated_vocabulary_rotates_the_debiased_one(seed):
    embedder = vocabulary(seed)
    turn = ortho_group.rvs(8, random_state=seed)
    turned = WordVectors.of(WORDS, embedder.vectors @ turn)
    options = {"n_words": 100, "n_iterations": 1}
    original = Inlp(**options).fit(embedder, GENDER).transform(embedder.vectors, WORDS)
    rotated = Inlp(**options).fit(turned, GENDER).transform(turned.vectors, WORDS)
    assert original @ turn == pytest.approx(rotated, abs=1e-2)


def test_unsuitable_concepts_and_embedders_are_not_applicable():
    with pytest.raises(NotApplicable, match=r"inlp.*definitional_pairs"):
        Inlp().fit(vocabulary(), Concept(name="empty"))
    with pytest.raises(NotApplicable, match=r"n_words=201.*\b400\b"):
        Inlp(n_words=201).fit(vocabulary(), GENDER)
    one_pair = GENDER.model_copy(update={"definitional_pairs": (("she", "he"),)})
    with pytest.raises(NotApplicable, match=r"group 1 of concept 'gender' has 1 words"):
        Inlp().fit(MockEmbedder("text"), one_pair)


class Faiths:
    """An encoder in which words of three faiths differ in two dimensions, plus noise."""

    info = MockEmbedder("text", 12).info

    def encode(self, texts):
        rows = 0.2 * MockEmbedder("text", 12).encode(texts)
        for row, text in zip(rows, texts, strict=True):
            row[:2] += next(at for word, at in FAITHS.items() if word in text)
        return rows


FAITHS = {"a": (1, 0), "b": (-0.5, 0.9), "c": (-0.5, -0.9)}
FAITHS = {f"{key}{i}": at for key, at in FAITHS.items() for i in range(6)}
FAITH = Concept(
    name="faith",
    definitional_pairs=(("a0", "b0"),),
    definitional_sets=tuple((f"a{i}", f"b{i}", f"c{i}") for i in range(6)),
)


def test_the_sentences_of_all_groups_of_an_encoder_become_similar():
    mitigator = Inlp().fit(Faiths(), FAITH)
    assert mitigator.accuracies_[0] == 1.0
    assert mitigator.accuracies_[-1] <= 1 / 3 + 0.05 or len(mitigator.accuracies_) == 36
    texts = [text for text in mitigator.fitting_texts(FAITH) if "." in text]
    after = mitigator.transform(Faiths().encode(texts), texts)
    means = [after[[f" {key}" in text for text in texts]].mean(axis=0) for key in "abc"]
    assert np.ptp(means, axis=0).max() < 0.1
    assert np.abs(mitigator.directions_[:2, 2:]).max() < 0.4  # the two dimensions go first


def test_held_out_sentences_have_other_words_than_training_sentences():
    # each word has a random vector, so that no classifier generalises to other words
    mitigator = Inlp().fit(MockEmbedder("text", 300), FAITH)
    assert mitigator.accuracies_[0] < 0.7


def test_fitting_texts_contain_all_encoded_texts():
    encoded = []

    class RecordingEmbedder(MockEmbedder):
        def encode(self, texts):
            encoded.extend(texts)
            return super().encode(texts)

    Inlp().fit(RecordingEmbedder("text"), FAITH)
    assert set(encoded) <= set(Inlp().fitting_texts(FAITH))
    assert "This is about c3." in encoded
