"""Intervals by the jackknife: equal to known ones, clusters, groups, and what has none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.plugins.metrics.statistics import intervals
from harness.plugins.metrics.statistics.intervals import auc, jackknife_interval, pearson


def mean_of(values):
    return lambda counts: counts @ values / counts.sum(axis=1)


def interval_of(statistic, sizes, **options):
    return jackknife_interval(statistic, sizes, rng=np.random.default_rng(0), **options)


@given(st.integers(0, 2**32 - 1), st.integers(5, 30), st.floats(0.5, 0.99))
def test_the_interval_of_a_mean_is_students(seed, n, confidence):
    values = np.random.default_rng(seed).standard_normal(n)
    interval = interval_of(mean_of(values), [n], confidence=confidence)
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    assert (interval.low, interval.high) == pytest.approx(tuple(expected))
    assert (interval.level, interval.method) == (confidence, "jackknife t of items")


@given(st.integers(0, 2**32 - 1), st.integers(5, 20), st.integers(5, 20))
def test_the_interval_of_a_difference_of_means_is_welchs(seed, n, m):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(n), 3 * rng.standard_normal(m)
    interval = interval_of(lambda a, b: mean_of(x)(a) - mean_of(y)(b), [n, m])
    expected = stats.ttest_ind(x, y, equal_var=False).confidence_interval()
    assert (interval.low, interval.high) == pytest.approx(tuple(expected))


def test_the_interval_of_a_correlation_of_many_items_is_fishers():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(2_000)
    y = x + 0.5 * rng.standard_normal(2_000)
    interval = interval_of(
        lambda counts: pearson(x, y, counts), [2_000], resamples=2_000, bounds=(-1, 1)
    )
    expected = stats.pearsonr(x, y).confidence_interval()
    assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=0.002)
    assert "Fisher" in interval.method


@given(st.integers(0, 2**32 - 1), st.integers(5, 12), st.integers(5, 12))
def test_with_bounds_the_interval_stays_inside_and_contains_the_value(seed, n, m):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.standard_normal(n) + 1, rng.standard_normal(m)
    interval = interval_of(lambda *c: auc(positives, negatives, c), [n, m], bounds=(0, 1))
    value = auc(positives, negatives)[0]
    if interval is None:
        assert value in (0, 1)
    else:
        assert 0 <= interval.low < value < interval.high <= 1


def test_members_of_a_cluster_are_left_out_together():
    codes = np.array([7, 7, 3, 3, 3, 9, 4, 5])
    batches = []

    def statistic(counts):
        batches.append(counts)
        return counts @ np.arange(8.0)

    interval = interval_of(statistic, [8], clusters=[codes])
    counts = np.concatenate(batches)
    assert (counts[0] == 1).all()
    assert sorted(map(tuple, 1 - counts[1:])) == sorted(
        tuple((codes == code).astype(float)) for code in np.unique(codes)
    )
    assert "of clusters" in interval.method


def test_an_interval_over_clusters_is_that_of_their_means():
    values = np.random.default_rng(2).standard_normal(9)
    clustered = interval_of(
        mean_of(np.repeat(values, 4)), [36], clusters=[np.repeat(np.arange(9), 4)]
    )
    alone = interval_of(mean_of(values), [9])
    assert (clustered.low, clustered.high) == pytest.approx((alone.low, alone.high))


def test_more_units_than_resamples_are_left_out_in_groups():
    values = np.random.default_rng(3).standard_normal(10_000)
    rows = []

    def mean(counts):
        rows.append(len(counts))
        return counts @ values / counts.sum(axis=1)

    interval = interval_of(mean, [10_000], resamples=200)
    assert sum(rows) == 201
    half = (interval.high - interval.low) / 2
    assert half == pytest.approx(1.96 * values.std() / 100, rel=0.15)


@pytest.mark.parametrize(("size", "resamples"), [(1, 100), (4, 100), (10, 0)])
def test_there_is_no_interval_for_few_items_or_no_resamples(size, resamples):
    assert interval_of(mean_of(np.arange(size)), [size], resamples=resamples) is None


def test_there_is_no_interval_if_one_of_the_sets_is_small():
    x, y = np.arange(9.0), np.arange(3.0)
    assert interval_of(lambda a, b: mean_of(x)(a) - mean_of(y)(b), [9, 3]) is None
    clusters = [np.repeat([0, 1, 2], 3)]
    assert interval_of(mean_of(x), [9], clusters=clusters) is None


def test_there_is_no_interval_of_what_no_item_changes_or_leaves_defined():
    assert interval_of(mean_of(np.full(20, 0.1)), [20]) is None
    assert interval_of(lambda counts: np.full(len(counts), np.nan), [20]) is None
    assert interval_of(lambda counts: np.where(counts[:, 0] == 1, 1.0, np.nan), [20]) is None


def test_many_items_are_left_out_in_batches_of_bounded_size(monkeypatch):
    monkeypatch.setattr(intervals, "MAX_CELLS", 100)
    largest = 0

    def statistic(counts):
        nonlocal largest
        largest = max(largest, counts.size)
        return counts @ np.arange(30.0)

    assert interval_of(statistic, [30]) is not None
    assert largest <= 100
