"""Scales, scores, and what a metric may return."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness import HarnessError, Scale, Score, metric


def declared(result, **scale):
    @metric("mine", scores={"a": Scale(**({"ideal": 0} | scale))})
    def mine():
        return result

    return mine.metric


@pytest.mark.parametrize(
    ("ideal", "bounds"),
    [(2, (0, 1)), (-1, (0, None)), (1, (None, 0.5)), (math.nan, (0, 1)), ("low", (None, None))],
)
def test_a_scale_that_is_impossible_is_an_error(ideal, bounds):
    with pytest.raises(HarnessError, match="ideal="):
        Scale(ideal=ideal, bounds=bounds)


@pytest.mark.parametrize("ideal", [0, 1, 0.5, "higher", "lower"])
def test_a_scale_may_have_its_ideal_anywhere_within_its_bounds(ideal):
    assert Scale(ideal=ideal, bounds=(0, 1)).ideal == ideal


@pytest.mark.parametrize(
    ("value", "bounds"),
    [(1.1, (0, 1)), (-0.1, (0, 1)), (-1e-6, (0, None)), (3, (None, 2)), (1 + 1e-7, (-1, 1))],
)
def test_a_value_outside_its_bounds_names_metric_score_value_and_bounds(value, bounds):
    with pytest.raises(HarnessError, match=r"metric 'mine': the score 'a' is .*outside its bounds"):
        declared(value, bounds=bounds)()


@pytest.mark.parametrize("value", [1 + 1e-12, -1 - 1e-12, 1, np.float32(1), np.array(-1.0)])
def test_rounding_takes_no_value_out_of_its_bounds(value):
    score = declared(value, bounds=(-1, 1))()["a"]
    assert score.value == float(value)
    assert type(score.value) is float


def test_bounds_of_the_score_replace_those_of_the_scale():
    assert declared(Score(2.4, bounds=(-2.5, 2.5)), bounds=(-2, 2))()["a"].value == 2.4
    with pytest.raises(HarnessError, match=r"2\.6, outside its bounds -2\.5 to 2\.5"):
        declared(Score(2.6, bounds=(-2.5, 2.5)), bounds=(-2, 2))()


@pytest.mark.parametrize("result", ["1", None, b"1", np.ones(3), object(), Score("x"), [1]])
def test_a_result_that_is_no_number_is_an_error_with_its_type(result):
    with pytest.raises(HarnessError, match="metric 'mine': the score 'a' is no number"):
        declared(result)()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_needs_a_reason(value):
    with pytest.raises(HarnessError, match="without a reason"):
        declared(value)()
    assert declared(Score(value, reason="few"))()["a"].reason == "few"


@pytest.mark.parametrize("result", [{"b": 1}, {"a": 1, "b": 1}, {}, {1: 1}])
def test_other_scores_than_the_declared_ones_are_an_error(result):
    with pytest.raises(HarnessError, match=r"metric 'mine' declares the scores \['a'\]"):
        declared(result)()
