"""Bootstrap intervals: coverage, clusters and batches."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.statistics.bootstrap import percentile_interval


def mean_of(values):
    return lambda counts: counts @ values / counts.sum(axis=1)


def test_the_interval_of_a_mean_is_close_to_the_normal_interval():
    values = np.random.default_rng(0).standard_normal(400)
    interval = percentile_interval(
        mean_of(values), [400], rng=np.random.default_rng(1), resamples=4000, confidence=0.9
    )
    half = 1.645 * values.std() / 20
    assert interval.low == pytest.approx(values.mean() - half, abs=0.01)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.01)
    assert (interval.level, interval.method) == (0.9, "percentile bootstrap of items")


def test_intervals_have_about_their_nominal_coverage():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        interval = percentile_interval(
            mean_of(rng.standard_normal(40)), [40], rng=rng, resamples=200
        )
        covered += interval.low <= 0 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_members_of_a_cluster_are_drawn_together():
    codes = np.array([7, 7, 3, 3, 3, 9])
    batches = []

    def statistic(counts):
        batches.append(counts)
        return counts.sum(axis=1)

    percentile_interval(
        statistic, [6], rng=np.random.default_rng(0), clusters=[codes], resamples=50
    )
    counts = np.concatenate(batches)
    assert (counts[:, 0] == counts[:, 1]).all()
    assert (counts[:, 2:5] == counts[:, 2:3]).all()
    assert (counts[:, [0, 2, 5]].sum(axis=1) == 3).all()


@pytest.mark.parametrize(("size", "resamples"), [(1, 100), (10, 0)])
def test_there_is_no_interval_for_one_item_or_no_resamples(size, resamples):
    rng = np.random.default_rng(0)
    assert percentile_interval(mean_of(np.ones(size)), [size], rng=rng, resamples=resamples) is None


def test_there_is_no_interval_where_most_resamples_are_undefined():
    rng = np.random.default_rng(0)
    assert percentile_interval(lambda counts: np.full(len(counts), np.nan), [5], rng=rng) is None


def test_many_resamples_are_drawn_in_batches_of_bounded_size(monkeypatch):
    from harness.plugins.metrics.statistics import bootstrap

    monkeypatch.setattr(bootstrap, "MAX_CELLS", 100)
    largest = 0

    def statistic(counts):
        nonlocal largest
        largest = max(largest, counts.size)
        return counts[:, 0]

    interval = percentile_interval(statistic, [30], rng=np.random.default_rng(0), resamples=50)
    assert interval is not None
    assert largest <= 100
