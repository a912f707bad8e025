"""SAME by hand, its invariances, and what it shows as an instrument."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.same import same
from harness.plugins.metrics.statistics.association import differential_association
from harness.plugins.validity.checks import planted
from harness.registry.registry import Registry

EAST, WEST, NORTH = [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]
SCORES = ("magnitude", "skew", "stereotype")
seeds = st.integers(0, 2**32 - 1)


def draw(seed: int, sizes: tuple[int, ...], d: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def run(targets, *groups, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    names = [f"attributes_{i}" for i in range(1, len(groups) + 1)]
    arrays = {name: np.asarray(group, float) for name, group in zip(names, groups, strict=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return same(np.asarray(targets, float), **arrays, **options)


def values(scores):
    return [scores[name].value for name in SCORES]


def test_two_groups_by_hand():
    # the direction from the second group to the first is (1, 0) + (0, -1) over its length, √2:
    # the cosines of east, north and (1, 1) with it are .707, -.707 and 0
    scores = run([EAST, NORTH, [3.0, 3.0]], [EAST], [NORTH])
    half = 0.5**0.5
    assert values(scores) == pytest.approx([2 * half / 3, 0, np.std([half, -half, 0])], abs=1e-12)
    assert scores["magnitude"].n == 3
    assert scores["magnitude"].details == {"groups": 2}


def test_groups_of_several_words_have_the_mean_of_their_unit_vectors():
    # means (1, 0) and (0, .5): the direction is (1, -.5) / √1.25, whatever the lengths are
    scores = run([EAST], [[2.0, 0.0], [5.0, 0.0]], [NORTH, EAST, WEST, [0.0, 7.0]])
    assert scores["skew"].value == pytest.approx(1 / 1.25**0.5)


def test_three_groups_by_hand():
    # the differences span the plane of x - y and x - z; (1, 1, 1) is orthogonal to it
    axes = np.eye(3)
    scores = run([axes[0], axes.sum(axis=0)], *axes[:, None])
    assert scores["magnitude"].value == pytest.approx((2 / 3) ** 0.5 / 2)
    assert scores["magnitude"].details == {"groups": 3}
    for name in ("skew", "stereotype"):
        assert np.isnan(scores[name].value)
        assert scores[name].reason


@given(seeds)
def test_swapping_the_groups_turns_the_skew_alone(seed):
    targets, a, b = draw(seed, (5, 3, 4))
    magnitude, skew, stereotype = values(run(targets, a, b))
    assert values(run(targets, b, a)) == pytest.approx([magnitude, -skew, stereotype])
    assert abs(skew) <= magnitude + 1e-12
    assert stereotype == pytest.approx(np.sqrt(_mean_square(targets, a, b) - skew**2))


def _mean_square(targets, a, b):
    """Return the mean of b(t)², from WEAT's associations and the length of the difference."""
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b)]
    length = np.linalg.norm(unit[0].mean(axis=0) - unit[1].mean(axis=0))
    return np.mean((differential_association(targets, a, b) / length) ** 2)


@pytest.mark.parametrize("d", [10, 50, 300])
def test_noise_shows_its_floor_and_no_more(d):
    """The raw magnitude of noise falls with the dimension; above the floor it is 0."""
    above, raw = [], []
    for seed in range(60):
        score = run(*draw(seed, (20, 6, 6), d))["magnitude"]
        raw.append(score.value)
        above.append(score.value - score.null.values.mean())
    assert np.mean(raw) == pytest.approx((2 / (np.pi * d)) ** 0.5, rel=0.1)
    assert abs(np.mean(above)) < 3 * np.std(above) / np.sqrt(len(above))


def test_the_null_moves_whole_words():
    targets, a, b = draw(4, (20, 4, 4), 30)
    many = [np.repeat(group, 5, axis=0) for group in (a, b)]
    codes = {f"attributes_{i}": np.repeat(np.arange(4), 5) for i in (1, 2)}
    of_words = run(targets, a, b)["magnitude"].null.values.mean()
    of_clusters = run(targets, *many, clusters=codes)["magnitude"].null.values.mean()
    assert of_clusters == pytest.approx(of_words, rel=0.1)


def test_planted_bias_raises_magnitude_and_stereotype_at_every_step():
    rng = np.random.default_rng(5)
    x, y, a, b = (rng.standard_normal((10, 50)) for _ in range(4))
    a, b = a + 3 * np.eye(50)[0], b - 3 * np.eye(50)[0]
    arrays = {"targets_1": x, "targets_2": y, "attributes_1": a, "attributes_2": b}
    contrast = Registry().metric("same").contrast
    found = []
    for amplitude in (0, 0.25, 0.5, 1):
        moved = planted(arrays, contrast, amplitude)
        scores = same(**moved, resamples=0, rng=np.random.default_rng(0))
        found.append([scores["magnitude"].value, scores["stereotype"].value])
    assert (np.diff(found, axis=0) > 0).all()
