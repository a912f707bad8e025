"""Ratios of gaps to yardsticks, and the deviations that records keep."""

from __future__ import annotations

import numpy as np
import pytest

from harness.metrics import Gap
from harness.results import ratios


def gap(value, error, **more):
    return Gap(value, {"a": error}, df=1e9, **more)


def test_fiellers_interval_is_that_of_his_quadratic():
    ends = ratios.fieller(1.0, 2.0, (0.01, 0.04), 0.0, df=1e9)
    for r in ends:
        assert (1 - 2 * r) ** 2 == pytest.approx(ratios.NORMAL**2 * (0.01 + 0.04 * r * r), rel=1e-6)


def test_a_yardstick_that_may_be_zero_gives_no_interval():
    part = ratios.ratio_of(gap(1.0, 0.1), gap(1.0, 0.6), "y")
    assert part.value == 1.0
    assert part.low is None
    assert part.high is None
    assert ratios.ratio_of(gap(1.0, 0.1), gap(-1.0, 0.1), "y").value is None


def test_shared_items_make_the_interval_narrower():
    apart = ratios.ratio_of(Gap(1.0, {"a": 0.1}, df=50), Gap(1.0, {"b": 0.1}, df=50), ratios.ITEMS)
    same = ratios.ratio_of(Gap(1.0, {"a": 0.1}, df=50), Gap(1.0, {"a": 0.1}, df=50), ratios.ITEMS)
    assert same.high - same.low < 1e-6 < apart.high - apart.low


def test_a_ratio_of_squares_is_its_root_with_the_sign():
    assert ratios.ratio_of(gap(4.0, 0.1, power=2), gap(1.0, 0.1, power=2), "y").value == 2.0
    assert ratios.ratio_of(gap(-4.0, 0.1, power=2), gap(1.0, 0.1, power=2), "y").value == -2.0


def test_many_units_become_groups_with_the_same_expected_squares():
    rng = np.random.default_rng(0)
    values = rng.normal(size=2000)
    many = Gap(1.0, {f"u{i}": v for i, v in enumerate(values.tolist())}, df=99)
    kept = ratios.deviations_of(many, Gap(1.0, {"y": 0.1}, df=9), own=False)
    own = [n for n, _ in kept.values() if n]
    assert len(own) == ratios.UNITS
    assert sum(n * n for n in own) == pytest.approx(many.variance, rel=0.5)
