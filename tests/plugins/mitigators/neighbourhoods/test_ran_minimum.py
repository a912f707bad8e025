"""The closed form of the minimum of RAN is correct where it is exact, and no worse than Adam."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from harness.arrays import unit_rows
from harness.plugins.mitigators.fitting.neighbours import Neighbours, Objective

PAPER = (0.125, 0.75, 0.125)
ADAM = {"epochs": 2000, "learning_rate": 0.01}
WEIGHT = st.floats(0.05, 1)


def case(w, neighbours):
    """Return a word, its neighbours, and a mask in which all of them repel."""
    vectors = np.array([*neighbours, [np.nan] * len(w)], np.float32)
    at = np.arange(len(neighbours))[None]
    cosines = np.array(neighbours).reshape(1, -1, len(w)) @ w
    near = Neighbours(vectors, at, cosines)
    return np.array([w], float), near, np.ones((1, len(neighbours)), bool)


def drawn(seed: int, m: int = 12, n: int = 8, d: int = 5, spread: float = 1.0):
    """Return words, their neighbours within `spread`, and a mask of those that repel."""
    rng = np.random.default_rng(seed)
    w = unit_rows(rng.standard_normal((m, d)))
    s = unit_rows(w[:, None] + spread * rng.standard_normal((m, n, d))).reshape(-1, d)
    vectors = np.vstack([s, np.full(d, np.nan)]).astype(np.float32)
    at = np.arange(m * n).reshape(m, n)
    cosines = np.einsum("md,mnd->mn", w, vectors[at].astype(float))
    return w, Neighbours(vectors, at, cosines), rng.random((m, n)) < 0.6, unit_rows(w[:1])[0]


def value(objective: Objective, u, w, near, kept) -> np.ndarray:
    s = np.abs(np.einsum("mnd,md->mn", near.gathered().astype(float), u))
    repulsion = (s * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
    attraction = (1 - (u * w).sum(axis=1)) / 2
    neutralisation = np.abs(u @ objective.direction)
    return (
        objective.repulsion * repulsion
        + objective.attraction * attraction
        + objective.neutralisation * neutralisation
    )


def by_projection(objective: Objective, w, s) -> np.ndarray:
    """Return a − z* of one word, with the nearest point of the zonotope found by scipy."""
    columns = np.column_stack(
        [objective.repulsion * s.T / max(len(s), 1), objective.neutralisation * objective.direction]
    )
    a = objective.attraction / 2 * w
    return a - columns @ lsq_linear(columns, a, (-1, 1), method="bvls", tol=1e-12, max_iter=500).x


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3), WEIGHT, WEIGHT, WEIGHT)
def test_an_exact_minimum_is_the_projection(seed, spread, repulsion, attraction, neutral):
    w, near, kept, g = drawn(seed, spread=spread)
    objective = Objective(repulsion, attraction, neutral, g)
    u, exact = objective.closed_form(w, near, kept)
    for i in np.flatnonzero(exact):
        rest = by_projection(objective, w[i], near.gathered(np.array([i]))[0][kept[i]])
        assert u[i] * np.linalg.norm(rest) == pytest.approx(rest, abs=1e-5)


@settings(max_examples=4)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 2))
def test_adam_finds_the_exact_minimum_and_nothing_lower(seed, spread):
    w, near, kept, g = drawn(seed, spread=spread)
    objective = Objective(*PAPER, g)
    u, exact = objective.closed_form(w, near, kept)
    assert exact.any()
    adam = objective.by_adam(w, near, kept, **ADAM)
    assert (value(objective, u, w, near, kept) <= value(objective, adam, w, near, kept) + 1e-7)[
        exact
    ].all()
    assert (u * adam).sum(axis=1)[exact] == pytest.approx(1, abs=1e-3)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_the_minimum_is_exact_if_all_neighbours_are_within_48_degrees(seed):
    # a and what repels: w_d is at most asin((λ₁ + λ₃) / (λ₂/2)) = 42° from w
    w, near, kept, g = drawn(seed, spread=0.2)
    near_enough = (near.cosines > np.cos(np.radians(48)) - 1e-9) | ~kept
    _, exact = Objective(*PAPER, g).closed_form(w, near, kept)
    assert exact[near_enough.all(axis=1)].all()


def test_the_minimum_equals_that_computed_by_hand():
    g = np.array([0.0, 0.0, 1.0])
    # a − λ₁ n = 3/8 (1, 0, 0) − 1/8 (.6, .8, 0)
    u, exact = Objective(*PAPER, g).closed_form(*case([1, 0, 0], [[0.6, 0.8, 0]]))
    assert exact.all()
    assert u[0] == pytest.approx(np.array([0.3, -0.1, 0]) / np.sqrt(0.1))
    # one on the other side repels by its opposite: a + λ₁ n
    u, exact = Objective(*PAPER, g).closed_form(*case([1, 0, 0], [[-0.6, 0.8, 0]]))
    assert exact.all()
    assert u[0] == pytest.approx(np.array([0.3, 0.1, 0]) / np.sqrt(0.1))
    # along g 3/8 · .6 = .225 are left, of which λ₃ = 1/8 goes
    u, exact = Objective(*PAPER, g).closed_form(*case([0.8, 0, 0.6], np.empty((0, 3))))
    assert exact.all()
    assert u[0] == pytest.approx(np.array([0.3, 0, 0.1]) / np.sqrt(0.1))


def test_the_minimum_is_not_exact_if_a_neighbour_changes_sign_and_adam_stops_at_the_corner():
    n = [np.cos(1.4), np.sin(1.4), 0]
    objective = Objective(1, 1, 0, np.array([0.0, 0.0, 1.0]))
    arguments = case([1, 0, 0], [n])
    _, exact = objective.closed_form(*arguments)
    assert not exact.any()
    adam = objective.by_adam(*arguments, **ADAM)
    assert adam[0] == pytest.approx([np.sin(1.4), -np.cos(1.4), 0], abs=1e-3)


def test_without_attraction_no_minimum_is_exact():
    w, near, kept, g = drawn(0)
    for mask in (kept, np.zeros_like(kept)):
        assert not Objective(0.33, 0, 0.33, g).closed_form(w, near, mask)[1].any()
