"""Principal components of the pairs' differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.plugins.metrics.statistics.concept_scores import components_of, pair_components


def pairs(seed: int, n: int = 5, d: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((2, n, d))


def test_the_direction_of_one_pair_is_its_difference():
    components = pair_components(np.array([[3.0, 0.0]]), np.array([[0.0, 5.0]]))
    assert components.vectors == pytest.approx(np.array([[-1.0, 1.0]]) / np.sqrt(2))
    assert components.explained == pytest.approx([1.0])


def test_long_and_short_differences_have_equal_weight():
    # Two differences of length √2, and one short difference along z.
    first = np.array([[1.0, 0, 0], [0, 0, 1], [1, 0, 0.01]])
    second = np.array([[0.0, 1, 0], [0, 1, 0], [1, 0, -0.01]])
    by_hand = np.array([[-1, 1, 0], [0, 1, -1], [0, 0, -np.sqrt(2)]]) / np.sqrt(2)
    explained = np.linalg.svd(by_hand, compute_uv=False) ** 2 / 3
    assert pair_components(first, second).explained == pytest.approx(explained, abs=1e-4)


def test_differences_are_not_centred():
    first, second = pairs(0, n=6, d=3) * 0.01
    first[:, 0] += 1
    second[:, 1] += 1
    shared = np.array([-1, 1, 0]) / np.sqrt(2)
    assert pair_components(first, second).vectors[0] @ shared > 0.99


@given(st.integers(0, 2**32 - 1))
def test_components_rotate_with_the_space_and_flip_with_the_sides(seed):
    first, second = pairs(seed)
    turn = ortho_group.rvs(8, random_state=seed)
    components = pair_components(first, second)
    turned, swapped = (
        pair_components(3 * first @ turn, second @ turn),
        pair_components(second, first),
    )
    assert turned.vectors[0] == pytest.approx(components.vectors[0] @ turn, abs=1e-6)
    assert swapped.vectors[0] == pytest.approx(-components.vectors[0], abs=1e-6)
    assert turned.explained == pytest.approx(components.explained, abs=1e-9)
    assert components.explained.sum() == pytest.approx(1.0)
    assert components.vectors @ components.vectors.T == pytest.approx(np.eye(5), abs=1e-9)


def test_equal_pairs_are_left_out_and_have_no_components_alone():
    first, second = pairs(1)
    repeated = pair_components(np.vstack([first, first]), np.vstack([second, 2 * first]))
    assert repeated.vectors[0] == pytest.approx(pair_components(first, second).vectors[0])
    assert pair_components(first, first) is None
    assert components_of(np.empty((0, 4))) is None
