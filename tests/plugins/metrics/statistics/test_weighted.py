"""Weighted statistics, compared with those of samples with repeated items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from harness.plugins.metrics.statistics.intervals import auc, midranks, pearson, spearman

values = st.lists(st.integers(-3, 3), min_size=4, max_size=12)


@given(values, st.integers(0, 2**32 - 1))
def test_items_that_count_twice_count_as_two_items(x, seed):
    rng = np.random.default_rng(seed)
    x = np.array(x, float)
    y = rng.standard_normal(len(x)).round(1)
    counts = rng.integers(0, 3, len(x)).astype(float)
    counts[:2] += 1
    long_x, long_y = (np.repeat(v, counts.astype(int)) for v in (x, y))
    ranks = np.repeat(midranks(x, counts[None])[0], counts.astype(int))
    assert ranks == pytest.approx(stats.rankdata(long_x))
    if np.ptp(long_x) > 0 and np.ptp(long_y) > 0:
        assert pearson(x, y, counts[None])[0] == pytest.approx(
            stats.pearsonr(long_x, long_y).statistic
        )
        assert spearman(x, y, counts[None])[0] == pytest.approx(
            stats.spearmanr(long_x, long_y).statistic
        )
    else:
        assert np.isnan(pearson(x, y, counts[None])[0])


@given(values, values)
def test_auc_with_ties_equals_scikit_learn(positives, negatives):
    truth = [1] * len(positives) + [0] * len(negatives)
    area = auc(np.array(positives, float), np.array(negatives, float))[0]
    assert area == pytest.approx(roc_auc_score(truth, positives + negatives))


def test_values_equal_up_to_rounding_have_no_correlation():
    x = np.array([0.1 + 0.2, 0.3, 0.3])
    assert np.isnan(pearson(x, np.array([1.0, 2.0, 3.0]))[0])


def test_auc_of_a_side_with_zero_counts_is_undefined():
    counts = (np.array([[0.0]]), np.array([[1.0]]))
    assert np.isnan(auc(np.array([1.0]), np.array([0.0]), counts)[0])
