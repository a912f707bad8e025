"""Equations 1–3, importance and direction against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.errors import NotApplicable
from harness.plugins.bias_score.scorer import (
    IMPORTANCES,
    bias_score,
    by_maximum,
    by_mean,
    direction,
    importance_shares,
    of_poolings,
)

G = np.array([1.0, 0.0])
STATES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.floats(-10, 10, allow_subnormal=False),
)


def test_the_scores_of_a_sentence_equal_those_computed_by_hand():
    # she (gendered), dress (cosine .6), football (−.8), the (0)
    vectors = np.array([[1.0, 0.0], [3.0, 4.0], [-4.0, 3.0], [0.0, 2.0]])
    result = bias_score(vectors, np.array([0.4, 0.3, 0.2, 0.1]), np.array([True, 0, 0, 0]), G)
    assert result.female == pytest.approx(0.18)
    assert result.male == pytest.approx(-0.16)
    assert result.absolute == pytest.approx(0.34)
    assert result.biases == pytest.approx([0, 0.18, -0.16, 0])


def test_a_word_without_a_vector_contributes_nothing():
    vectors = np.array([[np.nan, np.nan], [0.0, 0.0]])
    result = bias_score(np.nan_to_num(vectors), np.ones(2) / 2, np.zeros(2, dtype=bool), G)
    assert (result.female, result.male, result.absolute) == (0, 0, 0)


@given(STATES, st.randoms(use_true_random=False))
def test_the_female_score_is_positive_the_male_score_negative_and_the_absolute_one_their_sum(
    states, random
):
    n, d = states.shape
    gendered = np.array([random.random() < 0.5 for _ in range(n)])
    g = np.eye(d)[0]
    result = bias_score(states, np.full(n, 1 / n), gendered, g)
    assert result.female >= 0 >= result.male
    assert result.absolute == pytest.approx(np.abs(result.biases).sum())
    assert result.absolute <= 1 + 1e-12
    turned = bias_score(states, np.full(n, 1 / n), gendered, -g)
    assert turned.female == pytest.approx(-result.male)


def test_importance_by_maximum_counts_dimensions():
    states = np.array([[1.0, 5.0, 0.0, 2.0], [3.0, 1.0, 0.0, 9.0]])
    assert by_maximum(states) == pytest.approx([0.5, 0.5])  # the tie in the third is the first's
    with_special = np.vstack([np.full(4, 100.0), states])
    counted = np.array([False, True, True])
    assert importance_shares(with_special, counted, "max") == pytest.approx([0, 0.5, 0.5])


def test_importance_by_mean_equals_that_computed_by_hand():
    # s̄ = (2, 1): h·s̄ = 4 and 6, T‖s̄‖² = 10
    assert by_mean(np.array([[1.0, 2.0], [3.0, 0.0]])) == pytest.approx([0.4, 0.6])


@given(STATES)
def test_importance_by_mean_sums_to_one(states):
    mean = states.mean(axis=0)
    if mean @ mean > 1e-3:
        assert by_mean(states).sum() == pytest.approx(1)


@given(STATES, st.sampled_from(IMPORTANCES))
def test_no_importance_is_negative_and_special_tokens_have_none(states, kind):
    counted = np.arange(len(states)) > 0
    result = importance_shares(states, counted, kind)
    assert (result >= 0).all()
    assert result[0] == 0
    if kind != "mean-raw" and result.any():
        assert result.sum() == pytest.approx(1)


def test_a_text_of_special_tokens_has_no_importance():
    for kind in IMPORTANCES:
        assert not importance_shares(np.ones((2, 3)), np.zeros(2, dtype=bool), kind).any()


def test_the_default_importance_follows_from_the_pooling():
    assert of_poolings(("max",)) == "max"
    assert of_poolings(("mean",)) == "mean"
    assert (
        of_poolings(("lasttoken",)) == of_poolings(("mean", "max")) == of_poolings(()) == "uniform"
    )


def test_the_direction_is_the_first_component_without_centring():
    first = np.array([[3.0, 1.0], [2.0, 0.0], [4.0, 0.0]])
    result = direction(first, np.zeros((3, 2)))
    values, vectors = np.linalg.eigh(first.T @ first)
    assert abs(result.vector @ vectors[:, -1]) == pytest.approx(1)
    assert result.explained == pytest.approx(values[-1] / values.sum())
    assert result.vector[0] > 0
    assert result.pairs == 3


def test_orientation_decides_only_the_sign():
    first, second = np.array([[1.0, 0.1], [-1.0, 0.1]]), np.zeros((2, 2))
    result = direction(first, second, orientation=np.array([-1.0, 1.0]))
    assert result.vector[0] < 0
    opposite = direction(first, second, orientation=np.array([1.0, -1.0]))
    assert result.vector == pytest.approx(-opposite.vector)


def test_differences_of_length_one_have_equal_weight():
    first = np.array([[100.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert direction(first, np.zeros((3, 2))).vector[0] == pytest.approx(1)
    assert direction(first, np.zeros((3, 2)), unit=True).vector[1] == pytest.approx(1)


def test_pairs_without_a_difference_have_no_direction():
    with pytest.raises(NotApplicable, match="no pair"):
        direction(np.ones((2, 3)), np.ones((2, 3)))
