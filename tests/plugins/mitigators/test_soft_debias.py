"""Soft debiasing: the closed form, the solution on the cone, and the effect of λ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.arrays import unit_rows
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.soft_debias import SoftDebias, on_the_cone, soften, unconstrained

GENDER = Concept(
    name="gender",
    definitional_pairs=(("she", "he"), ("her", "his"), ("gal", "guy")),
    specific_words=("beard",),
)
WORDS = ["she", "he", "her", "his", "gal", "beard", *(f"w{i}" for i in range(54))]


def vocabulary(seed: int = 0, d: int = 6) -> WordVectors:
    return WordVectors.of(WORDS, np.random.default_rng(seed).standard_normal((len(WORDS), d)))


def objective(x, a, c, b, lam) -> float:
    values, axes = np.linalg.eigh(a)
    root = axes * np.sqrt(values) @ axes.T
    change = root @ (x - np.eye(len(a))) @ root
    return (change**2).sum() + lam * np.trace(b @ x @ c @ x @ b.T)


def moments(seed: int, d: int = 5, n: int = 40):
    rng = np.random.default_rng(seed)
    w = unit_rows(rng.standard_normal((n, d)) * rng.uniform(0.2, 2, d))
    return w.T @ w / n, w[n // 4 :].T @ w[n // 4 :] / (n - n // 4)


def test_the_solution_for_diagonal_moments_equals_that_computed_by_hand():
    a, c, b = np.diag([0.5, 0.5]), np.diag([0.25, 0.75]), np.array([[1.0, 0.0]])
    x, reached = soften(a, c, b, 2.0)
    # first entry: min of .25 (x − 1)² + 2 · .25 x² is x = 1/3, and nothing else changes
    assert x == pytest.approx(np.diag([1 / 3, 1.0]))
    assert reached == pytest.approx(0.25 * 4 / 9 + 0.5 / 9)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 1.0, 50.0]), st.integers(1, 2))
def test_no_other_map_has_a_lower_objective(seed, lam, k):
    a, c = moments(seed)
    b = np.eye(5)[:k]
    x, reached = soften(a, c, b, lam)
    assert reached == pytest.approx(objective(x, a, c, b, lam), rel=1e-6)
    assert np.linalg.eigvalsh(x)[0] > -1e-8
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1):
        root = np.linalg.cholesky(x + 1e-12 * np.eye(5)) + size * rng.standard_normal((5, 5))
        assert objective(root @ root.T, a, c, b, lam) >= reached * (1 - 1e-9)


def test_the_minimum_on_the_cone_is_found_if_the_closed_form_is_outside():
    n = np.array([[0.8, 0.6]])
    a, c, b, lam = np.diag([0.8, 0.2]), n.T @ n, np.array([[np.cos(0.6), np.sin(0.6)]]), 10.0
    inverse = np.diag(1 / np.sqrt(np.diag(a)))
    free = unconstrained(a, inverse @ c @ inverse, b @ inverse, lam)
    assert np.linalg.eigvalsh(free)[0] < -0.1
    x, reached = soften(a, c, b, lam)
    spectrum = np.linalg.eigvalsh(x)
    assert spectrum[0] == pytest.approx(0, abs=1e-9)
    # the constraint is active, so in two dimensions X = r u uᵀ: search the angle, r in closed form
    angles = np.linspace(0, np.pi, 200_001)
    u = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    moment = (u**2) @ np.diag(a)  # uᵀ A u
    linear = (u**2) @ np.diag(a) ** 2
    bend = moment**2 + lam * ((u @ b[0]) * (u @ n[0])) ** 2
    # f = r² bend − 2 r uᵀA²u + tr A²
    searched = (np.trace(a @ a) - linear**2 / bend).min()
    assert reached == pytest.approx(searched, abs=1e-8)


def test_the_solver_on_the_cone_agrees_with_a_closed_form_inside_the_cone():
    a, c = moments(1)
    values, axes = np.linalg.eigh(a)
    inverse = axes / np.sqrt(values) @ axes.T
    c_tilde, b_tilde = inverse @ c @ inverse, np.eye(5)[:1] @ inverse
    free = unconstrained(a, c_tilde, b_tilde, 0.5)
    assert np.linalg.eigvalsh(free)[0] > 0
    assert on_the_cone(a, c_tilde, b_tilde, 0.5) == pytest.approx(free, abs=1e-8)


def test_a_higher_lambda_leaves_less_along_the_subspace():
    embedder = vocabulary()
    left = []
    for lam in (0.001, 0.2, 20.0, 2000.0):
        mitigator = SoftDebias(lam=lam).fit(embedder, GENDER)
        rows = mitigator.transform(embedder.encode(WORDS[6:]), WORDS[6:])
        left.append(np.abs(rows @ mitigator.subspace_.T).mean())
    assert left == sorted(left, reverse=True)
    assert left[-1] < 0.05 * left[0]


def test_lambda_of_sums_equals_lambda_of_means_times_word_counts():
    embedder = vocabulary()
    mean = SoftDebias(lam=0.2).fit(embedder, GENDER)
    total = SoftDebias(lam=0.2 * 60**2 / 54, scale="sum").fit(embedder, GENDER)
    assert total.transform_ == pytest.approx(mean.transform_)
    assert total.objective_ == pytest.approx(mean.objective_ * 60**2)
    assert mean.missing_ == ["guy"]


def test_the_published_scale_changes_almost_nothing_in_a_large_vocabulary():
    rows = np.random.default_rng(0).standard_normal((5000, 4))
    embedder = WordVectors.of(["she", "he", *map(str, range(4998))], rows)
    concept = Concept(name="gender", definitional_pairs=(("she", "he"),))
    published = SoftDebias(lam=0.2, scale="sum").fit(embedder, concept)
    assert published.transform_ == pytest.approx(np.eye(4), abs=1e-3)
    assert np.abs(SoftDebias(lam=0.2).fit(embedder, concept).transform_ - np.eye(4)).max() > 0.1


def test_unsuitable_concepts_and_embedders_are_not_applicable():
    with pytest.raises(NotApplicable, match=r"soft-debias.*definitional_pairs"):
        SoftDebias().fit(vocabulary(), Concept(name="empty"))
    with pytest.raises(NotApplicable, match="has no vocabulary"):
        SoftDebias().fit(MockEmbedder("text"), GENDER)
    few = WordVectors.of(WORDS[:5], vocabulary().vectors[:5])
    pair = Concept(name="gender", definitional_pairs=(("she", "he"),))
    with pytest.raises(NotApplicable, match=r"\b5 words.*\b6 dimensions"):
        SoftDebias().fit(few, pair)
    everything = pair.model_copy(update={"specific_words": tuple(WORDS)})
    with pytest.raises(NotApplicable, match="all words"):
        SoftDebias().fit(vocabulary(), everything)
