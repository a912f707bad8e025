"""Double-hard debiasing removes frequency before the concept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.concept import Concept
from harness.embedder import ModelInfo
from harness.errors import InvalidOption
from harness.plugins.mitigators.double_hard_debias import DoubleHardDebias, without_frequency
from harness.plugins.mitigators.hard_debias import HardDebias

GENDER = Concept(
    name="gender",
    definitional_pairs=(("she", "he"), ("her", "his")),
    equalize_sets=(("girl", "boy"),),
)
FEW = {"n_components": 3, "n_words": 20}


class Vocabulary:
    """A word embedder whose words all lean to a side, also along the component `shared`."""

    def __init__(self, seed: int = 0, d: int = 8, n: int = 120, shared: int = 2) -> None:
        rng = np.random.default_rng(seed)
        sides = np.where(np.arange(n) % 2, 1.0, -1.0)
        rows = rng.standard_normal((n, d)) * 0.2
        rows[:, 0] += sides * rng.uniform(0.5, 1, n)  # the concept
        rows[:, 1] += rng.standard_normal(n) * 4  # the strongest component has no side
        rows[:, shared] += sides * 2
        pairs = rng.standard_normal((6, d)) * 0.02
        pairs[:, 3] += 1
        pairs[:, 0] += [-1, 1] * 3
        self.words = ["she", "he", "her", "his", "girl", "boy"] + [f"w{i}" for i in range(n)]
        self.vectors = np.vstack([pairs, rows]).astype(np.float32) + np.float32(0.1)
        self.info = ModelInfo(name="vocabulary", kind="word", fingerprint="v")

    def encode(self, texts):
        missing = np.full(self.vectors.shape[1], np.nan, np.float32)
        at = dict(zip(self.words, self.vectors, strict=True))
        return np.array([at.get(text.lower(), missing) for text in texts])


def test_removing_mean_and_direction_equals_the_computation_by_hand():
    result = without_frequency(
        np.array([[3.0, 4.0], [0.0, 2.0]]), np.array([0.1, 0.2]), np.array([[0.0, 1.0]]), unit=True
    )
    assert result == pytest.approx(np.array([[0.5, 0], [-0.1, 0]]), abs=1e-7)


def test_the_published_variant_keeps_the_part_of_the_mean_along_the_direction():
    result = without_frequency(
        np.array([[3.0, 4.0], [0.0, 2.0]]),
        np.array([0.1, 0.2]),
        np.array([[0.0, 1.0]]),
        unit=True,
        published=True,
    )
    assert result == pytest.approx(np.array([[0.5, -0.2], [-0.1, -0.2]]), abs=1e-7)


def test_the_component_with_the_lowest_cluster_accuracy_is_chosen():
    mitigator = DoubleHardDebias(normalize=False, **FEW).fit(Vocabulary(), GENDER)
    assert abs(mitigator.frequency_[0, 2]) > 0.9
    assert mitigator.accuracies_.argmin() == 1
    assert mitigator.accuracies_[1] < 0.8
    assert ((mitigator.accuracies_ >= 0.5) & (mitigator.accuracies_ <= 1)).all()


def test_the_components_are_those_of_the_whole_vocabulary():
    embedder = Vocabulary(n=10_000)
    mitigator = DoubleHardDebias(n_components=1, normalize=False).fit(embedder, GENDER)
    rows = embedder.vectors.astype(float)
    assert mitigator.mean_ == pytest.approx(rows.mean(axis=0))
    first = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][0]
    assert abs(first @ mitigator.frequency_[0]) == pytest.approx(1.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_neutral_words_lose_frequency_and_concept_and_are_equally_near_to_both_sides(
    seed,
):
    embedder = Vocabulary(seed)
    mitigator = DoubleHardDebias(**FEW).fit(embedder, GENDER)
    out = mitigator.transform(embedder.vectors, embedder.words)
    neutral, girl, boy = out[6:], out[4], out[5]
    assert np.abs(neutral @ mitigator.hard_debias_.subspace_.T).max() < 1e-6
    assert np.abs(out @ mitigator.frequency_.T).max() < 1e-5
    assert neutral @ (girl - boy) == pytest.approx(0, abs=1e-6)
    assert np.linalg.norm(out, axis=1) == pytest.approx(1, abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_debiasing_a_rotated_vocabulary_rotates_the_debiased_one(seed):
    embedder, turned = Vocabulary(seed), Vocabulary(seed)
    turn = ortho_group.rvs(8, random_state=seed)
    turned.vectors = (turned.vectors @ turn).astype(np.float32)
    original, rotated = (
        DoubleHardDebias(n_components=1, n_words=20)
        .fit(model, GENDER)
        .transform(model.vectors, model.words)
        for model in (embedder, turned)
    )
    assert original @ turn == pytest.approx(rotated, abs=1e-3)


def test_all_requested_words_are_debiased_where_wefe_changes_only_the_most_biased():
    embedder = Vocabulary(n=400)
    requested = ["w7", "w50"]
    mitigator = DoubleHardDebias(**FEW).fit(embedder, GENDER)
    debiased = mitigator.transform(embedder.encode(requested), requested)
    direction = HardDebias().fit(embedder, GENDER).subspace_[0]
    leaning = embedder.vectors @ direction / np.linalg.norm(embedder.vectors, axis=1)
    order = np.argsort(leaning)
    changed = {
        embedder.words[i] for i in (*order[:2], *order[-2:])
    }  # WEFE: len(target) // 2 a side
    assert not changed & set(requested)  # so that WEFE would leave both as they are
    assert np.abs(debiased @ mitigator.hard_debias_.subspace_.T).max() < 1e-6
    all_words = mitigator.transform(embedder.vectors, embedder.words)
    assert debiased == pytest.approx(
        all_words[[embedder.words.index(word) for word in requested]], abs=1e-6
    )


def test_all_solvers_agree_and_an_unknown_one_is_an_error():
    embedder = Vocabulary()
    outcomes = [
        DoubleHardDebias(solver=solver, **FEW)
        .fit(embedder, GENDER)
        .transform(embedder.vectors, embedder.words)
        for solver in ("full", "randomized", "arpack")
    ]
    for outcome in outcomes[1:]:
        assert outcome == pytest.approx(outcomes[0], abs=1e-5)
    with pytest.raises(InvalidOption, match=r"solver=fast.*full, randomized, arpack"):
        DoubleHardDebias(solver="fast").fit(embedder, GENDER)


def test_definitional_words_lose_frequency_too():
    embedder = Vocabulary()
    mitigator = DoubleHardDebias(**FEW).fit(embedder, GENDER)
    she = mitigator.transform(embedder.encode(["she", "he"]), ["she", "he"])
    assert she @ mitigator.frequency_.T == pytest.approx(0, abs=1e-6)
    assert mitigator.hard_debias_.subspace_ @ mitigator.frequency_.T == pytest.approx(0, abs=1e-6)


def test_the_same_seed_gives_the_same_result_and_missing_words_are_named():
    embedder = Vocabulary()
    concept = GENDER.model_copy(update={"equalize_sets": (("girl", "boy"), ("queen", "king"))})
    mitigator, repeated = (DoubleHardDebias(**FEW).fit(embedder, concept) for _ in range(2))
    assert (mitigator.accuracies_ == repeated.accuracies_).all()
    assert mitigator.missing_ == ["king", "queen"]
    missing = mitigator.transform(embedder.encode(["queen", "w1"]), ["queen", "w1"])
    assert np.isnan(missing[0]).all()
    assert np.isfinite(missing[1]).all()
    assert mitigator.fitting_texts(GENDER) == HardDebias().fitting_texts(GENDER)
