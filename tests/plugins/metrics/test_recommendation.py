"""Recommendation: overlaps by hand, planted bias, and edits that should not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.recommendation import overlap, recommendation, recommendation_gap


def at(*degrees) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def run(*arrays, **options):
    options = {"rng": np.random.default_rng(0), "resamples": 0} | options
    return recommendation(*arrays, **options)


def parts(codes, n) -> np.ndarray:
    """Return the (k, p, n) parts of items in the first places of (p, k) codes."""
    return np.cumsum(np.eye(n)[codes], axis=1).swapaxes(0, 1)


def test_two_profiles_by_hand():
    items, shares = at(0, 30, 60, 90), np.array([0.1, 0.2, 0.7, 1.0])
    first, second, edited = at(10, 80), at(50, 80), at(12, 40)
    scores = run(items, shares, first, second, edited, k=2)
    # to 10: items 0, 1; to 50: 2, 1; to 80: 3, 2; edits: to 12: 0, 1; to 40: 1, 2
    gap = scores["share_gap"]
    assert gap.value == pytest.approx(((0.45 - 0.15) + 0) / 2)
    assert gap.details["group_1"] == pytest.approx((0.15 + 0.85) / 2)
    assert gap.details["all"] == pytest.approx(0.5)
    # overlap of (0, 1) and (2, 1): X₁ = 0, X₂ = 1
    rbo = 0.5 * 0.81 + 0.1 / 0.9 * (0.5 * 0.81)
    assert scores["change"].value == pytest.approx((1 - rbo) / 2)
    assert gap.details["overlap"] == pytest.approx((0.5 + 1) / 2)
    # (3, 2) and (1, 2): the same overlap; (0, 1) twice
    assert scores["excess_change"].value == pytest.approx(0)
    assert scores["excess_change"].details["overlap_edited"] == pytest.approx(0.75)


def test_the_overlap_of_equal_rankings_is_one_and_of_disjoint_ones_zero():
    items = np.array([[0, 1, 2], [0, 1, 2], [0, 1, 2]])
    others = np.array([[0, 1, 2], [3, 4, 5], [0, 2, 1]])
    found = overlap(*(parts(codes, 6) for codes in (items, others)), 0.9)
    assert found[:2].tolist() == pytest.approx([1, 0])
    # X = 1, 1, 3: Webber et al. (2010), equation 32
    assert found[2] == pytest.approx(0.729 + 0.1 / 0.9 * (0.9 + 0.81 / 2 + 0.729))


def test_equal_items_share_their_places_in_any_order():
    profiles = at(0, 3)
    for order in ([0, 1, 2, 3], [1, 0, 3, 2]):
        items, shares = at(10, 10, 40, 40)[order], np.array([0.1, 0.9, 0.2, 0.4])[order]
        scores = run(items, shares, profiles, profiles[::-1], profiles, k=1)
        assert scores["share_gap"].details["group_1"] == pytest.approx(0.5)
        assert [scores[name].value for name in scores] == pytest.approx([0, 0, 0])


@given(st.integers(0, 2**32 - 1))
def test_swapped_groups_turn_the_sign_of_the_share_and_keep_the_change(seed):
    rng = np.random.default_rng(seed)
    items, first, second, edited = rng.standard_normal((4, 7, 5))
    y = rng.random(7)
    one, other = (run(items, y, *pair, edited, k=3) for pair in ((first, second), (second, first)))
    assert other["share_gap"].value == pytest.approx(-one["share_gap"].value)
    assert other["change"].value == pytest.approx(one["change"].value)
    same = run(items, y, first, first, edited, k=3)
    assert same["share_gap"].value == same["change"].value == 0
    assert same["excess_change"].value <= 0


def profiles(seed, bias=0.0, size=0.3, n=60, d=40):
    """Return items with shares, and profiles of two groups with an edit of the same size."""
    rng = np.random.default_rng(seed)
    items, shares = rng.standard_normal((n, d)), rng.random(n)
    towards = (shares - shares.mean()) @ items
    first = items + rng.standard_normal((n, d))
    changed, other = size * rng.standard_normal((2, d))
    second = first + changed + bias * towards / np.linalg.norm(towards) * math.sqrt(d)
    return items, shares, first, second, first + other, np.arange(n), np.arange(n)


def test_an_irrelevant_group_is_fair_and_a_group_that_follows_the_statistic_is_found():
    fair = [run(*profiles(seed)) for seed in range(40)]
    for name in ("share_gap", "excess_change"):
        away = [scores[name].value / scores[name].null.values.std() for scores in fair]
        assert abs(np.mean(away)) < 1.5, name
    assert np.mean([scores["share_gap"].p_value <= 0.05 for scores in fair]) <= 0.15
    assert min(scores["change"].value for scores in fair) > 0.05, "any edit changes something"
    values = [run(*profiles(1, bias), resamples=100)["share_gap"] for bias in (-1, -0.3, 0, 0.3, 1)]
    assert (np.diff([score.value for score in values]) > 0).all()
    assert values[-1].p_value < 0.01
    assert values[-1].interval.low > 0
    assert run(*profiles(1, 1.0))["excess_change"].value > 0.1


def test_the_gap_is_the_slope_on_the_statistic_over_how_much_nearer_own_items_are():
    items, shares, first, second, _, codes, _ = profiles(2, 0.5)
    units = {"items": [str(i) for i in range(60)]}
    gaps = recommendation_gap(items, shares, first, second, codes, codes, units=units)
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)  # noqa: E731
    cosines = unit(items) @ (unit(second) - unit(first)).T
    assert gaps.gap.value == pytest.approx(np.polyfit(shares, cosines.mean(axis=1), 1)[0])
    both = unit(items) @ ((unit(first) + unit(second)) / 2).T
    own = np.diag(both).mean()
    others = (both.sum() - np.trace(both)) / (60 * 59)
    assert gaps.yardstick.value == pytest.approx(own - others)
    assert gaps.gap.value > 4 * math.sqrt(gaps.gap.variance)
    assert recommendation_gap(items, shares, first, second, units=units).yardstick is None


def test_profiles_of_one_number_are_one_unit():
    items, shares, first, second, edited, codes, _ = profiles(3, 0.3)
    twice = [np.tile(a, (2, 1)) for a in (first, second, edited)]
    scores = [
        run(items, shares, *twice, codes, of, resamples=500)["share_gap"]
        for of in (np.tile(codes, 2), np.arange(120))
    ]
    wide, narrow = (score.interval.high - score.interval.low for score in scores)
    assert wide > 1.3 * narrow
    assert scores[0].value == pytest.approx(scores[1].value)
