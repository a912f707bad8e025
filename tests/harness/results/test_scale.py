"""The distance of a value to its ideal."""

from __future__ import annotations

import pytest

from harness.results import record


@pytest.mark.parametrize(
    ("value", "ideal", "bounds", "distance"),
    [
        (1.0, 0.0, (-2.0, 2.0), 0.5),
        (-2.0, 0.0, (-2.0, 2.0), 1.0),
        (0.3, 0.5, (0.0, 1.0), 0.4),
        (0.25, 1.0, (0.0, 1.0), 0.75),
        (0.5, "higher", (-1.0, 1.0), 0.25),
        (0.25, "lower", (0.0, 1.0), 0.25),
        (2.5, 0.0, (-2.0, 2.0), 1.0),  # rounding beyond a bound
    ],
)
def test_the_distance_is_0_at_the_ideal_and_1_at_the_farthest_bound(value, ideal, bounds, distance):
    assert record.distance(value, ideal, bounds) == pytest.approx(distance)


@pytest.mark.parametrize("bounds", [(None, None), (0.0, None), (0.0, 0.0)])
def test_a_score_without_a_range_has_a_loss_and_no_distance(bounds):
    assert record.distance(0.3, 0.0, bounds) is None
    assert record.loss(0.3, 0.0, bounds) == pytest.approx(0.3)


def test_the_loss_orders_values_by_the_side_that_is_better():
    assert record.loss(0.9, "higher", (None, None)) < record.loss(0.1, "higher", (None, None))
    assert record.loss(0.1, "lower", (0.0, None)) < record.loss(0.9, "lower", (0.0, None))
