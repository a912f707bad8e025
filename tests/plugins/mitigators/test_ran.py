"""RAN-Debias: the minimum of its objective, its neighbours, and the words it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.stats import ortho_group

from harness.arrays import unit_rows
from harness.concept import Concept
from harness.embedder import vocabulary_of as words_of
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.fitting.neighbours import Neighbours, nearest
from harness.plugins.mitigators.ran import Ran, indirect_bias

GENDER = Concept(
    name="gender",
    definitional_pairs=(("she", "he"), ("gal", "guy")),
    equalize_sets=(("queen", "king"),),
    specific_words=("beard",),
)
WORDS = ["she", "he", "queen", "king", "beard", *(f"w{i}" for i in range(75))]


def vocabulary(seed: int = 0, d: int = 6) -> WordVectors:
    rng = np.random.default_rng(seed)
    return WordVectors.of(WORDS, rng.standard_normal((len(WORDS), d)) + 0.5)


def objective(x, w, s, g, weights) -> float:
    repulsion = np.abs(s @ x).mean() if len(s) else 0.0
    return weights[0] * repulsion + weights[1] * (1 - x @ w) / 2 + weights[2] * abs(x @ g)


def least(w, s, g, weights) -> np.ndarray:
    """Return the minimum by duality, where λ₂ > 2 (λ₁ + λ₃).

    F is λ₂/2 + max of p·x over the points p = λ₁ Σ sᵢ nᵢ / |S| + λ₃ t g − λ₂ w / 2 with s, t in
    [−1, 1]; its minimum over |x| ≤ 1 is at −p*/‖p*‖, with p* the one nearest to 0.
    """
    columns = np.column_stack([weights[0] * s.T / max(len(s), 1), weights[2] * g])
    target = weights[1] / 2 * w
    result = lsq_linear(columns, target, (-1, 1), tol=1e-14, max_iter=500).x
    return unit_rows((target - columns @ result)[None])[0]


def repelled(mitigator: Ran, embedder, row) -> np.ndarray:
    near = nearest(row[None], words_of(embedder), mitigator.n_neighbours)
    return near.gathered()[0][indirect_bias(row[None], near, mitigator.direction_)[0] > 0.05]


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_the_result_is_the_minimum_of_the_objective(seed):
    embedder = vocabulary(seed)
    mitigator = Ran(n_neighbours=10).fit(embedder, GENDER)
    texts = WORDS[5:15]
    rows = unit_rows(embedder.encode(texts))
    for row, result in zip(rows, mitigator.transform(rows, texts), strict=True):
        s = repelled(mitigator, embedder, row)
        arguments = row, s, mitigator.direction_, (0.125, 0.75, 0.125)
        best = least(*arguments)
        assert result @ best > 0.998
        assert objective(result, *arguments) == pytest.approx(objective(best, *arguments), abs=2e-3)


def test_a_word_without_biased_neighbours_equals_the_computation_by_hand():
    # λ₃ = 1/8 outweighs λ₂/2 · .3 along g: the minimum has nothing along g
    rows = [[-1, 0, 0], [1, 0, 0], [0.3, np.sqrt(1 - 0.09), 0]]
    embedder = WordVectors.of(["she", "he", "nurse"], rows)
    concept = Concept(name="gender", definitional_pairs=(("she", "he"),))
    mitigator = Ran(theta=2.0).fit(embedder, concept)
    result = mitigator.transform(embedder.encode(["nurse"]), ["nurse"])
    assert result[0] == pytest.approx([0, 1, 0], abs=2e-3)
    # only attraction: nothing moves
    still = Ran(repulsion=0, attraction=1, neutralisation=0).fit(embedder, concept)
    assert still.transform(embedder.encode(["nurse"]), ["nurse"])[0] == pytest.approx(
        np.array(rows[2]), abs=1e-5
    )


def test_indirect_bias_equals_the_computation_by_hand():
    w, g = np.array([[0.6, 0.8]]), np.array([1.0, 0.0])
    words = np.array([[0.8, 0.6], [0.8, -0.6], [np.nan, np.nan]], np.float32)
    near = Neighbours(words, np.array([[0, 1, -1]]), np.array([[0.96, 0.0, np.nan]]))
    # outside g the first word has the direction of w: β = (.96 − 1) / .96; the second has cosine 0
    assert indirect_bias(w, near, g) == pytest.approx(
        np.array([[-0.04 / 0.96, np.nan, np.nan]]), nan_ok=True
    )


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_debiasing_a_rotated_vocabulary_rotates_the_debiased_one(seed):
    embedder = vocabulary(seed)
    turn = ortho_group.rvs(6, random_state=seed)
    turned = WordVectors.of(WORDS, embedder.vectors @ turn)
    original = Ran(n_neighbours=10).fit(embedder, GENDER).transform(embedder.vectors, WORDS)
    rotated = Ran(n_neighbours=10).fit(turned, GENDER).transform(turned.vectors, WORDS)
    # Adam's steps depend on the axes, its goal does not
    assert (original @ turn * rotated).sum(axis=1) == pytest.approx(1, abs=5e-3)


def test_words_about_the_concept_are_only_normalised():
    embedder = vocabulary()
    texts = ["she", "King", "beard", "w1"]
    rows = embedder.encode(texts)
    result = Ran().fit(embedder, GENDER).transform(rows, texts)
    assert result[:3] == pytest.approx(unit_rows(rows)[:3], abs=1e-6)
    assert result[3] @ unit_rows(rows)[3] < 0.999
    assert np.linalg.norm(result, axis=1) == pytest.approx(1, abs=1e-6)


def test_the_result_for_a_word_is_independent_of_other_words():
    embedder = vocabulary()
    mitigator = Ran().fit(embedder, GENDER)
    among = mitigator.transform(embedder.vectors, WORDS)
    alone = mitigator.transform(embedder.vectors[9:10], WORDS[9:10])
    assert alone[0] == pytest.approx(among[9], abs=1e-3)
    assert np.array_equal(among, mitigator.transform(embedder.vectors, WORDS))


def test_with_the_swapped_arguments_of_wefe_words_move_farther():
    embedder = vocabulary()
    texts = WORDS[5:]
    rows = unit_rows(embedder.encode(texts))
    cosine = {}
    for name, weights in (
        ("paper", (1 / 8, 6 / 8, 1 / 8)),
        ("wefe's weights, anchored", (0.33, 0.33, 0.33)),
        ("wefe, swapped", (0.33, 0.0, 0.33)),
    ):
        result = Ran(*weights, n_neighbours=20).fit(embedder, GENDER).transform(rows, texts)
        cosine[name] = (result * rows).sum(axis=1).mean()
    assert cosine["wefe, swapped"] < cosine["wefe's weights, anchored"] < cosine["paper"]
