"""Exposure of groups: shares, means over queries and the gap, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.statistics.exposure import (
    count_by_group,
    exposure_gap,
    mean_over_queries,
    shares_of,
)

ONCE = np.ones((1, 2))


def test_documents_are_counted_by_query_and_group():
    retrieved = np.array([[True, True, False], [False, False, True]])
    member = np.array([[True, False, True], [False, True, False]])
    assert count_by_group(retrieved, member).tolist() == [[1, 1], [1, 0]]


def test_a_query_without_documents_has_no_shares_and_is_left_out_of_the_mean():
    values = shares_of(np.array([[3.0, 1.0], [0.0, 0.0]]))
    assert values[0].tolist() == [0.75, 0.25]
    assert np.isnan(values[1]).all()
    assert mean_over_queries(values, ONCE).tolist() == [[0.75, 0.25]]


def test_the_mean_weighs_queries_by_how_often_they_were_drawn():
    values = np.array([[1.0], [0.0]])
    assert mean_over_queries(values, np.array([[3.0, 1.0], [0.0, 2.0]])).tolist() == [[0.75], [0]]


def test_the_gap_is_half_the_sum_of_the_differences_of_the_means():
    exposure, fair = np.array([[1.0, 0.0], [0.5, 0.5]]), np.full((2, 2), 0.5)
    assert exposure_gap(exposure, fair, ONCE) == pytest.approx([0.25])
    assert exposure_gap(exposure, fair, np.array([[0.0, 1.0]])) == pytest.approx([0.0])
