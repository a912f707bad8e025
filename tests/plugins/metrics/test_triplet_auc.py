"""AUC of triplets by hand, and its symmetries."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group
from sklearn.metrics import roc_auc_score

from harness.arrays import paired_cosines
from harness.plugins.metrics.triplet_auc import triplet_auc


def run(*arrays, **options):
    """Return the AUC."""
    return scores(*arrays, **options)["auc"]


def scores(*arrays, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"resamples": 0} | options
        return triplet_auc(*arrays, rng=np.random.default_rng(0), **options)


def at(*cosines: float) -> np.ndarray:
    """Return vectors with these cosines to the first axis."""
    return np.array([[c, np.sqrt(1 - c * c)] for c in cosines])


def test_all_cosines_are_pooled():
    # 0.9 exceeds both negatives, 0.3 only the lower one; each exceeds its own negative
    score = run(at(1, 1), at(0.9, 0.3), at(0.5, 0.1))
    assert score.value == pytest.approx(3 / 4)
    assert score.details["within"] == 1.0
    assert score.details["positive"] == pytest.approx(0.6)
    assert score.details["negative"] == pytest.approx(0.3)
    assert score.n == 2


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_auc_equals_scikit_learn_and_is_invariant_under_rotation(seed, n):
    rng = np.random.default_rng(seed)
    arrays = rng.standard_normal((3, n, 5))
    q, p, m = arrays @ ortho_group.rvs(5, random_state=seed)
    cosines = np.concatenate([paired_cosines(*arrays[:2]), paired_cosines(*arrays[::2])])
    expected = roc_auc_score([1] * n + [0] * n, cosines)
    score = run(q, p, m)
    assert score.value == pytest.approx(expected)
    assert 0 <= score.value <= 1
    assert run(q, m, p).value == pytest.approx(1 - expected)


def test_the_mean_cosines_are_scores_with_intervals():
    meaning, names = [0.9, 0.3, 0.8, 0.5, 0.5], [0.5, 0.1, 0.4, 0.2, 0.3]
    measured = scores(at(*[1] * 5), at(*meaning), at(*names), resamples=50)
    for name, cosines in (("same_meaning", meaning), ("same_names", names)):
        assert measured[name].value == pytest.approx(np.mean(cosines))
        interval = measured[name].interval
        assert -1 < interval.low < np.mean(cosines) < interval.high < 1
        assert measured[name].samples[0].contribution == pytest.approx(cosines)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_planted_names_lower_the_auc_in_step_with_their_share(share):
    rng = np.random.default_rng(5)
    meaning, names, others = rng.standard_normal((3, 40, 30))
    query = (1 - share) * meaning + share * names
    area = run(query, meaning + 0.1 * others, names + 0.1 * others).value
    assert area == pytest.approx({0.0: 1.0, 0.5: 0.5, 1.0: 0.0}[share], abs=0.15)


def test_random_vectors_are_halfway_to_fair_and_names_alone_are_farther():
    rng = np.random.default_rng(0)
    values = [run(*rng.standard_normal((3, 30, 50))).value for _ in range(50)]
    assert np.mean(values) == pytest.approx(0.5, abs=0.03)
    meaning, names = rng.standard_normal((2, 60, 50))
    previous = -1.0
    for weight in (0.0, 0.9, 1.0, 1.2):  # of the meaning, against 1 of the names
        score = run(
            weight * meaning + names,
            weight * meaning + rng.standard_normal((60, 50)),
            weight * rng.standard_normal((60, 50)) + names,
        )
        assert score.value > previous
        previous = score.value
        if weight == 0:
            assert score.value < 0.1
    assert previous > 0.8
    assert score.null is None
