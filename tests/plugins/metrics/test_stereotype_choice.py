"""Stereotype choice and related choice on vectors with known cosines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import NotApplicable
from harness.plugins.metrics.related_choice import related_choice
from harness.plugins.metrics.stereotype_choice import stereotype_choice


def at(*degrees) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def stereotype(*arrays, **options):
    return stereotype_choice(*arrays, rng=np.random.default_rng(0), **{"resamples": 0} | options)


def related(*arrays, **options):
    scores = related_choice(*arrays, rng=np.random.default_rng(0), **{"resamples": 0} | options)
    return scores["related_score"]


def icat(*arrays, **options):
    return related_choice(*arrays, rng=np.random.default_rng(0), resamples=0, **options)["icat"]


def test_four_contexts_by_hand():
    score = stereotype(at(0, 0, 0, 0), at(10, 10, 30, 20), at(20, 40, 10, 20))
    assert score.value == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert score.details["stereotyped"] == 2
    assert score.details["equal"] == 1
    cosines = np.cos(np.radians([10, 10, 30, 20]))
    assert score.details["cosine_stereotyped"] == pytest.approx(cosines.mean())
    assert score.samples[0].contribution.tolist() == [1, 1, 0, 0.5]


def test_related_texts_are_counted_one_by_one_by_hand():
    scores = related(at(0, 0, 0), at(10, 50, 5), at(20, 80, 30), at(30, 40, 30))
    assert scores.value == pytest.approx((2 + 0 + 1.5) / 6)
    assert scores.samples[0].contribution.tolist() == [1, 0, 0.75]


def test_icat_is_the_related_score_times_the_distance_from_a_preference_by_hand():
    """Three contexts of four are nearer to the stereotype, which costs half of the score."""
    contexts, unrelated = at(0, 0, 0, 0), at(30, 30, 30, 30)
    s, a = at(10, 10, 10, 20), at(20, 20, 40, 10)
    assert related(contexts, s, a, unrelated).value == pytest.approx(7 / 8)
    assert icat(contexts, s, a, unrelated).value == pytest.approx(7 / 8 * 0.25 / 0.5)
    assert icat(contexts, s, s, unrelated).value == pytest.approx(1), "no preference costs nothing"
    assert icat(contexts, at(1, 1, 1, 1), at(2, 2, 2, 2), unrelated).value == 0, "all stereotypes"


def test_a_background_says_what_other_contexts_say():
    """By hand: the contexts are one; compared with their own mean, no text is preferred."""
    contexts, s, a = at(0, 0), at(10, 10), at(90, 90)
    assert stereotype(contexts, s, a, centred=True).value == 0.5
    assert stereotype(contexts, s, a, background=at(90, 90, 90), centred=True).value == 1
    assert stereotype(contexts, s, a, background=at(-40), centred=True).value == 0
    with pytest.raises(NotApplicable, match="centred"):
        stereotype(contexts, s, a, background=contexts)


def test_centred_a_text_that_is_near_to_any_context_is_not_preferred():
    """By hand: with the contexts at 0 and 90 degrees, the mean context is at 45 degrees."""
    contexts, near_to_all, far = at(0, 90), at(45, 45), at(180, 180)
    assert stereotype(contexts, near_to_all, far).value == 1
    centred = stereotype(contexts, near_to_all, far, centred=True)
    # d = cos 45 - cos 180 = 1.707 for the first; the mean of both contexts is 1.207
    assert centred.samples[0].contribution.tolist() == [1, 0]
    assert centred.value == 0.5
    # each text is near to its own context alone
    assert stereotype(contexts, at(0, 90), at(90, 0), centred=True).value == 1


def test_the_floor_swaps_the_texts_of_whole_terms():
    contexts, s, a = at(*np.zeros(12)), at(*np.full(12, 10)), at(*np.full(12, 20))
    by_context = stereotype(contexts, s, a)
    by_term = stereotype(contexts, s, a, np.repeat([1.0, 2], 6))
    assert set(by_term.null.values.tolist()) == {0, 0.5, 1}
    assert by_term.p_value == pytest.approx(0.5, abs=0.1)
    assert by_context.p_value < 0.01


def test_the_interval_leaves_out_whole_terms():
    rng = np.random.default_rng(1)
    contexts, s, a = rng.standard_normal((3, 60, 5))
    terms = np.repeat(np.arange(6.0), 10)
    for score in (
        stereotype(contexts, s, a, terms, resamples=100),
        related(contexts, s, a, -contexts, terms, resamples=100),
    ):
        assert score.interval is None or "clusters" in score.interval.method
    assert stereotype(contexts, s, a, np.repeat([0.0, 1], 30), resamples=100).interval is None


@given(seed=st.integers(0, 2**32 - 1))
def test_related_and_unrelated_texts_that_change_places_mirror_the_score(seed):
    rng = np.random.default_rng(seed)
    contexts, s, u = rng.standard_normal((3, 7, 4))
    value = related(contexts, s, s, u).value
    assert 0 <= value <= 1
    assert related(contexts, u, u, s).value == pytest.approx(1 - value)


def test_random_vectors_show_the_floor_and_are_seldom_significant():
    scores = []
    for seed in range(100):
        contexts, s, a = np.random.default_rng(seed).standard_normal((3, 60, 40))
        scores.append(stereotype(contexts, s, a))
    distance = np.mean([abs(score.value - 0.5) for score in scores])
    floor = np.mean([np.abs(score.null.values - 0.5).mean() for score in scores])
    assert distance == pytest.approx(floor, rel=0.2)
    assert np.mean([score.p_value <= 0.05 for score in scores]) <= 0.08
