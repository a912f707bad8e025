"""Permutation test of two sets, compared with the count of all partitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.plugins.metrics.statistics import nulls
from harness.plugins.metrics.statistics.nulls import _samples, partition_test


def test_p_values_equal_the_count_of_all_partitions():
    for shape in ((4, 4), (3, 5), (5, 2)):
        x, y = (np.random.default_rng(sum(shape)).standard_normal(n) for n in shape)
        values = np.concatenate([x, y])
        means = []
        for chosen in itertools.combinations(range(len(values)), len(x)):
            mask = np.isin(np.arange(len(values)), chosen)
            means.append(values[mask].mean() - values[~mask].mean())
        means, observed = np.array(means), x.mean() - y.mean()
        for alternative, share in (
            ("greater", (means >= observed - 1e-12).mean()),
            ("less", (means <= observed + 1e-12).mean()),
            ("two-sided", (np.abs(means) >= abs(observed) - 1e-12).mean()),
        ):
            test = partition_test(x, y, rng=np.random.default_rng(0), alternative=alternative)
            assert test.p_value == pytest.approx(share), (shape, alternative)


def test_sampled_p_values_agree_with_the_exact_ones_and_use_the_plus_one_rule():
    x, y = np.random.default_rng(1).standard_normal((2, 8))
    rng = np.random.default_rng(2)
    exact = partition_test(x, y, rng=rng)
    sampled = partition_test(x, y, rng=rng, exact_limit=10, permutations=50_000)
    assert sampled.kind == "50000 permutations"
    assert sampled.partitions == exact.partitions == 12_870
    assert sampled.p_value == pytest.approx(exact.p_value, abs=0.01)
    highest = partition_test(x + 100, y, rng=rng, exact_limit=10, permutations=99)
    assert highest.p_value == pytest.approx(1 / 100)


def test_every_sampled_partition_is_equally_likely():
    values = np.array([1.0, 10.0, 100.0, 1000.0, 10000.0])
    sums = _samples(5, 2, 20_000, np.random.default_rng(0)) @ values
    distinct, counts = np.unique(sums, return_counts=True)
    assert sorted(distinct) == sorted(a + b for a, b in itertools.combinations(values, 2))
    assert counts == pytest.approx(np.full(10, 2000), abs=200)


def test_p_values_of_clusters_equal_the_count_of_all_their_partitions():
    rng = np.random.default_rng(8)
    sizes = [1, 4, 2, 3, 1, 2, 2]
    values = [rng.standard_normal(size) for size in sizes]
    first, second = np.concatenate(values[:3]), np.concatenate(values[3:])
    codes = [np.repeat(np.arange(3), sizes[:3]), np.repeat(np.arange(4), sizes[3:])]
    means = []
    for chosen in itertools.combinations(range(7), 3):
        sides = [
            np.concatenate([v for i, v in enumerate(values) if (i in chosen) == side])
            for side in (True, False)
        ]
        means.append(sides[0].mean() - sides[1].mean())
    means, observed = np.array(means), first.mean() - second.mean()
    for alternative, share in (
        ("greater", (means >= observed - 1e-12).mean()),
        ("less", (means <= observed + 1e-12).mean()),
        ("two-sided", (np.abs(means) >= abs(observed) - 1e-12).mean()),
    ):
        options = {"clusters": codes, "alternative": alternative}
        test = partition_test(first, second, rng=np.random.default_rng(0), **options)
        assert test.p_value == pytest.approx(share), alternative
        sampled = partition_test(
            first,
            second,
            rng=np.random.default_rng(0),
            exact_limit=1,
            permutations=20_000,
            **options,
        )
        assert sampled.p_value == pytest.approx(share, abs=0.015), alternative


def test_kept_draws_are_those_of_the_generator_and_leave_it_in_the_same_state(monkeypatch):
    first, second = np.random.default_rng(1).standard_normal((2, 30))

    def drawn():
        rng = np.random.default_rng(2)
        return partition_test(first, second, rng=rng, permutations=500), rng.random()

    monkeypatch.setattr(nulls, "_KEPT", {})
    fresh = drawn()
    assert nulls._KEPT
    assert drawn() == fresh
    monkeypatch.setattr(nulls, "KEPT", 0)
    monkeypatch.setattr(nulls, "_KEPT", {})
    assert drawn() == fresh
    assert not nulls._KEPT
