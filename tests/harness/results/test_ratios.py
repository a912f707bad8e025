"""Ratios of gaps to yardsticks, and their means over tasks."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from harness.metrics import Gap
from harness.results import ratios
from harness.results.record import Counted


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


def cells(**columns):
    n = len(next(iter(columns.values())))
    filled = {
        "task": [f"t{i}" for i in range(n)],
        "gap_error": [0.1] * n,
        "yardstick_error": [0.1] * n,
        "power": [1] * n,
        "of": ["y"] * n,
        "reference_gap": [1.0] * n,
        "reference_yardstick": [1.0] * n,
        "reference_error": [0.0] * n,
    }
    return pl.DataFrame(filled | columns | {"row": ["r"] * n})


def test_a_method_is_the_sum_of_gaps_over_the_sum_of_yardsticks():
    frame = cells(gap=[0.2, 0.4], yardstick=[1.0, 2.0], reference_gap=[0.1, 0.3],
                  reference_yardstick=[1.0, 1.0])  # fmt: skip
    line = ratios.pooled(frame, ["row"]).row(0, named=True)
    assert line["measure"] == pytest.approx((0.6 / 3) / (0.4 / 2))
    assert line["tasks"] == 2


def test_one_yardstick_of_two_tasks_is_measured_once():
    together = ratios.pooled(cells(gap=[1.0, 1.0], yardstick=[1.0, 1.0]), ["row"])
    apart = ratios.pooled(cells(gap=[1.0, 1.0], yardstick=[1.0, 1.0], of=["y", "z"]), ["row"])
    assert together["t"][0] == pytest.approx(10)  # errors add up: 2 / .2
    assert apart["t"][0] == pytest.approx(10 * math.sqrt(2))
    items = ratios.pooled(cells(gap=[1.0, 1.0], yardstick=[1.0, 1.0], of=["items"] * 2), ["row"])
    assert items["t"][0] == pytest.approx(10 * math.sqrt(2)), "items of two tasks are others"


def test_the_error_gives_fiellers_upper_end():
    frame = cells(gap=[0.5], yardstick=[1.0])
    line = ratios.pooled(frame, ["row"]).row(0, named=True)
    variances = ((ratios.SHARED * 0.1) ** 2, 0.01)
    high = ratios.fieller(0.5, 1.0, variances, 0.0, df=1e9).high
    assert line["measure"] + ratios.NORMAL * line["error"] == pytest.approx(high, rel=1e-6)


def test_a_method_without_a_clear_gap_of_the_reference_has_no_ratio():
    for error, has_ratio in ((0.3, True), (0.8, False)):
        frame = cells(gap=[0.2, 0.4], yardstick=[1.0, 1.0], reference_error=[error] * 2)
        (measure,) = ratios.pooled(frame, ["row"])["measure"]
        assert (measure is not None) == has_ratio
        parts = [Counted(gap, 1.0, 1, 1.0, 1.0, error) for gap in (0.2, 0.4)]
        assert ratios.has_scale(parts) == has_ratio


def test_squares_are_pooled_before_the_root():
    frame = cells(gap=[3.0, 5.0], yardstick=[1.0, 1.0], power=[2, 2])
    assert ratios.pooled(frame, ["row"])["measure"][0] == pytest.approx(2.0)


def test_values_without_a_yardstick_are_averaged():
    frame = cells(gap=[0.2, 0.6], yardstick=[1.0, 1.0], gap_error=[0.0, 0.0],
                  yardstick_error=[0.0, 0.0])  # fmt: skip
    line = ratios.pooled(frame, ["row"]).row(0, named=True)
    assert line["measure"] == pytest.approx(0.4)
    assert line["t"] is None


def test_a_yardstick_below_zero_has_no_ratio():
    line = ratios.pooled(cells(gap=[0.2], yardstick=[-1.0]), ["row"]).row(0, named=True)
    assert line["measure"] is None
    assert line["error"] is None
