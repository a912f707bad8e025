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


def test_names_before_meaning_is_zero_and_a_tie_is_one_half():
    assert run(at(1), at(0.2), at(0.8)).value == 0.0
    assert run(at(1), at(0.5), at(0.5)).value == 0.5


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


def test_the_interval_contains_the_value_and_stays_in_the_bounds():
    arrays = np.random.default_rng(1).standard_normal((3, 20, 5))
    score = run(*arrays, resamples=300)
    assert score.interval.low < score.value < score.interval.high
    assert score.interval.low >= 0
    assert score.interval.high <= 1


def test_one_triplet_has_no_interval_and_none_has_no_value():
    assert run(at(1), at(0.9), at(0.1), resamples=10).interval is None
    nothing = run(*np.empty((3, 0, 4)), resamples=10)
    assert np.isnan(nothing.value)
    assert nothing.reason


def test_zero_vectors_have_an_auc_of_one_half():
    assert run(*np.zeros((3, 4, 2)), resamples=10).value == 0.5


def test_the_mean_cosines_are_scores_with_intervals():
    meaning, names = [0.9, 0.3, 0.8, 0.5, 0.5], [0.5, 0.1, 0.4, 0.2, 0.3]
    measured = scores(at(*[1] * 5), at(*meaning), at(*names), resamples=50)
    for name, cosines in (("same_meaning", meaning), ("same_names", names)):
        assert measured[name].value == pytest.approx(np.mean(cosines))
        interval = measured[name].interval
        assert -1 < interval.low < np.mean(cosines) < interval.high < 1
        assert measured[name].samples[0].contribution == pytest.approx(cosines)


def test_the_table_has_the_two_pairs_of_each_triplet_with_their_texts():
    texts = {"queries": ["q1", "q2"], "positives": ["p1", "p2"], "negatives": ["n1", "n2"]}
    rows = run(at(1, 1), at(0.9, 0.3), at(0.5, 0.1), texts=texts).tables["pairs"]
    assert [(row["triplet"], row["label"], row["query"], row["text"]) for row in rows] == [
        (1, 1, "q1", "p1"), (1, 0, "q1", "n1"), (2, 1, "q2", "p2"), (2, 0, "q2", "n2"),
    ]  # fmt: skip
    assert [row["cosine"] for row in rows] == pytest.approx([0.9, 0.5, 0.3, 0.1])


def test_noise_has_an_auc_near_one_half_and_shuffled_sides_swap_it():
    rng = np.random.default_rng(4)
    areas = [run(*rng.standard_normal((3, 20, 8))).value for _ in range(40)]
    assert np.mean(areas) == pytest.approx(0.5, abs=0.04)


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
