"""ECT by hand, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.arrays import cosines
from harness.plugins.metrics.ect import ect

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]
FAN = [[np.cos(angle), np.sin(angle)] for angle in (0.1, 0.5, 0.9, 1.4)]


def run(*sets, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return ect(*[np.asarray(rows, dtype=float) for rows in sets], **options)


def draw(seed, *sizes, d=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def test_equal_orders_give_one_and_opposite_orders_minus_one():
    assert run([EAST], [[1.0, -0.2]], FAN).value == pytest.approx(1.0)
    assert run([EAST], [NORTH], FAN).value == pytest.approx(-1.0)


def test_ect_is_the_rank_correlation_of_cosines_to_the_mean_vectors():
    x, y, a = draw(0, 4, 3, 9)
    to_x, to_y = (cosines(a, s.mean(axis=0)[None])[:, 0] for s in (x, y))
    score = run(x, y, a)
    assert score.value == pytest.approx(spearmanr(to_x, to_y)[0])
    assert score.n == 9
