"""Whether two sets of pairs define one direction."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.direction_agreement import direction_agreement
from harness.plugins.metrics.explained_variance import explained_variance


def test_two_sets_at_60_degrees_by_hand():
    # after unit length all differences of a set are parallel to the difference of (1, 0) and (0, 1)
    # turned by 0 and by 60 degrees
    first, second = np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 3.0]])
    half = np.sqrt(3) / 2
    turn = np.array([[0.5, half], [-half, 0.5]])
    scores = direction_agreement(first, second, first @ turn, second @ turn)
    assert scores["cosine"].value == pytest.approx(0.5)
    assert scores["explained"].value == pytest.approx(1.0)
    assert scores["cosine"].details["other_components"] == pytest.approx([1.0])
    assert [s.columns["cosine"] for s in scores["cosine"].samples] == [
        pytest.approx([0.5, 0.5]), pytest.approx([0.5, 0.5]),
    ]  # fmt: skip


def test_the_shares_are_those_of_explained_variance_and_the_ten_largest_are_kept():
    a, b, c, d = np.random.default_rng(0).standard_normal((4, 15, 20))
    scores = direction_agreement(a, b, c, d)
    rng = np.random.default_rng(0)
    for score, (first, second) in (("explained", (a, b)), ("explained_other", (c, d))):
        share = explained_variance(first, second, draws=0, rng=rng).value
        assert scores[score].value == pytest.approx(share)
    assert len(scores["cosine"].details["components"]) == 10
