"""RND by hand, its symmetries, and the effect of vector lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.rnd import rnd

EAST, WEST, NORTH = [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]
seeds = st.integers(0, 2**32 - 1)
distances = st.sampled_from(["norm", "cos"])


def run(*sets, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return rnd(*[np.asarray(rows, dtype=float) for rows in sets], **options)


def draw(seed, *sizes, d=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def test_an_attribute_near_the_first_targets_has_a_negative_difference_of_norms():
    # means (1, 0) and (-1, 0); the attribute (2, 0) has distances 1 and 3
    score = run([EAST, EAST], [WEST], [[2.0, 0.0]])
    assert score.value == pytest.approx(1 - 3)
    assert score.details == {"distance": "norm", "unit_length": False}


def test_the_cos_variant_is_a_similarity_with_the_opposite_sign():
    score = run([EAST], [NORTH], [[3.0, 0.0]], distance="cos")
    assert score.value == pytest.approx(1 - 0)
    assert run([EAST], [NORTH], [[3.0, 0.0]]).value < 0


def test_targets_are_averaged_before_distances_are_taken():
    # the mean (0, 0) is at distance 1 from the attribute, the targets at 0 and 2
    assert run([EAST, WEST], [NORTH], [EAST]).value == pytest.approx(1 - np.sqrt(2))
    assert run([[0.0, 0.0]], [[0.0, 2.0]], [EAST, NORTH]).value == pytest.approx(
        np.mean([1 - np.sqrt(5), 1 - 1])
    )


@given(seeds)
def test_lengths_have_no_effect_at_unit_length_nor_those_of_attributes_with_cos(seed):
    x, y, a = sets = draw(seed, 4, 3, 6)
    rng = np.random.default_rng(seed)
    longer = [s * rng.uniform(0.5, 2, (len(s), 1)) for s in sets]
    for distance in ("norm", "cos"):
        options = {"distance": distance, "unit_length": True}
        assert run(*longer, **options).value == pytest.approx(run(*sets, **options).value)
        assert abs(run(*sets, **options).value) <= 2
    value = run(x, y, a, distance="cos").value
    assert run(x, y, longer[2], distance="cos").value == pytest.approx(value)
    assert run(7 * x, 7 * y, a, distance="cos").value == pytest.approx(value)


def test_the_gap_is_half_of_what_mean_squared_distances_differ_by():
    x, y, a, b = draw(0, 4, 5, 3, 6)
    sides = ("targets_1", "targets_2", "attributes", "attributes_2")
    arrays = dict(zip(sides, (x, y, a, b), strict=True))
    units = {side: [f"{side} {i}" for i in range(len(rows))] for side, rows in arrays.items()}
    gap = rnd.metric.gaps(arrays, units).gap
    x, y, a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y, a, b))
    squares = [
        ((of - mean) ** 2).sum(axis=1).mean()
        for of in (a, b)
        for mean in (x.mean(axis=0), y.mean(axis=0))
    ]
    assert gap.value == pytest.approx(-(squares[0] - squares[1] - squares[2] + squares[3]) / 2)
    assert len(gap.deviations) == 18


def test_one_attribute_set_has_no_gap():
    arrays = dict(zip(("targets_1", "targets_2", "attributes"), draw(0, 4, 5, 3), strict=True))
    units = {side: [f"{side} {i}" for i in range(len(rows))] for side, rows in arrays.items()}
    assert rnd.metric.gaps(arrays, units) is None


@pytest.mark.parametrize("distance", ["norm", "cos"])
def test_random_targets_are_significant_as_often_as_they_may(distance):
    """The attributes differ along one direction, and random targets are not orthogonal to it."""
    rng = np.random.default_rng(5)
    rejected = {"both": 0, "attributes": 0}
    for _ in range(200):
        x, y, a, b = (rng.standard_normal((8, 10)) for _ in range(4))
        a, b = a + 2 * np.eye(10)[0], b - 2 * np.eye(10)[0]
        for sides in rejected:
            score = run(x, y, a, b, distance=distance, sides=sides, null_draws=199)
            rejected[sides] += score.p_value <= 0.05
    assert rejected["attributes"] > 60
    assert rejected["both"] <= 14
