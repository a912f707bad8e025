"""ARaB and NFaiRR: by hand, by the published code's rule, and as instruments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.ranking_bias import (
    arab_places,
    fairr_places,
    neutrality,
    ranking_bias,
    weights,
)
from harness.plugins.metrics.statistics.group_gaps import content_gap

CODE = [0, 3, 0, 0, 0, 0, 0, -5, 0, -2]
"""Content of ten places: the example that the authors' code prints (step2_calculate_bias_runs)."""


def ranked(cosines, first, second, **options):
    """Score one query and documents of chosen cosines."""
    c = np.asarray(cosines, dtype=float)
    documents = np.stack([c, np.sqrt(1 - c**2)], axis=1)
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return ranking_bias(
        np.array([[1.0, 0.0]]), documents, np.array(first, float), np.array(second, float),
        **options,
    )  # fmt: skip


def test_three_documents_by_hand():
    # women's words 0, 1, 3; men's 2, 0, 3; the second document is ranked first
    scores = ranked([0.5, 0.9, 0.1], [0, 1, 3], [2, 0, 3], k=2)
    ln = math.log
    # places: document 2, then 1; qRaB_1 is that of place 1, qRaB_2 the mean of both
    tf = (-ln(2) + (-ln(2) + ln(3)) / 2) / 2
    assert scores["arab_tf"].value == pytest.approx(tf)
    assert scores["arab_boolean"].value == pytest.approx((-1 + (-1 + 1) / 2) / 2)
    any_order = (ln(3) - ln(2)) / 3
    assert scores["excess_tf"].value == pytest.approx(tf - any_order)
    assert scores["excess_tf"].details["collection"] == pytest.approx(any_order)
    assert scores["excess_boolean"].value == pytest.approx(-0.5)
    parts = scores["arab_tf"].details
    assert parts["group_2"] - parts["group_1"] == pytest.approx(tf)
    # neutrality 0, 1 (one word), 1 (balanced): FaiRR 1 at place 1, 0 at place 2
    assert neutrality(np.array([0, 1, 3]), np.array([2, 0, 3])).tolist() == [0, 1, 1]
    assert scores["nfairr"].value == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_the_weights_of_places_give_what_the_code_of_the_authors_gives():
    means = [np.mean(CODE[:t]) for t in range(1, 11)]  # calc_RaB_q, and calc_ARaB_q their mean
    assert arab_places(10, 10) @ CODE == pytest.approx(np.mean(means))
    assert arab_places(4, 10) @ CODE == pytest.approx(np.mean(means[:4]))
    assert arab_places(40, 10) @ CODE == pytest.approx(np.mean(means)), "as many as there are"
    assert fairr_places(2, 3).tolist() == pytest.approx([1, 1 / math.log2(3), 0])


def test_a_document_with_few_words_of_either_group_is_neutral():
    first, second = np.array([0.0, 1, 2, 3, 4]), np.array([0.0, 0, 0, 1, 4])
    assert neutrality(first, second).tolist() == [1, 1, 0, 0.5, 1]
    assert neutrality(first, second, threshold=2).tolist() == [1, 1, 1, 0.5, 1]


def test_equal_cosines_share_their_places_and_are_as_the_collection():
    scores = ranked([0.5] * 4, [0, 1, 2, 0], [3, 0, 0, 1], k=2)
    assert scores["excess_tf"].value == pytest.approx(0)
    assert scores["nfairr"].value == pytest.approx(scores["nfairr"].details["collection"])
    shared = weights(
        np.array([[0.2, 0.9, 0.2]]), np.ones((1, 3), bool), lambda n: np.arange(n, 0, -1)
    )
    assert shared.tolist() == [[1.5, 3, 1.5]]


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_swapped_groups_turn_the_sign_and_the_order_of_documents_does_not_matter(seed, k):
    rng = np.random.default_rng(seed)
    queries, documents = rng.standard_normal((3, 5)), rng.standard_normal((8, 5))
    first, second = rng.integers(0, 4, (2, 8)).astype(float)
    options = {"k": k, "resamples": 0, "null_draws": 0}
    one = ranking_bias(queries, documents, first, second, rng=rng, **options)
    other = ranking_bias(queries, documents, second, first, rng=rng, **options)
    rows = rng.permutation(8)
    moved = ranking_bias(queries, documents[rows], first[rows], second[rows], rng=rng, **options)
    for name, score in one.items():
        sign = 1 if name == "nfairr" else -1
        assert other[name].value == pytest.approx(sign * score.value), name
        assert moved[name].value == pytest.approx(score.value), name
    assert 0 <= one["nfairr"].value <= 1 + 1e-12
    every = ranking_bias(
        queries, documents, first, second, np.zeros(3), np.zeros(8), candidates="topic", rng=rng,
        **options,
    )  # fmt: skip
    assert every["excess_tf"].value == pytest.approx(one["excess_tf"].value)


def test_each_query_ranks_the_documents_of_its_topic():
    rng = np.random.default_rng(1)
    queries, documents = rng.standard_normal((2, 4)), rng.standard_normal((6, 4))
    first, second = rng.integers(0, 5, (2, 6)).astype(float)
    topics = np.array([0, 0, 0, 1, 1, 1])
    options = {"k": 2, "resamples": 0, "null_draws": 0, "rng": rng}
    both = ranking_bias(
        queries, documents, first, second, np.array([0, 1]), topics, candidates="topic", **options
    )
    alone = [
        ranking_bias(queries[[t]], documents[rows], first[rows], second[rows], **options)
        for t, rows in enumerate((slice(0, 3), slice(3, 6)))
    ]
    for name, score in both.items():
        assert score.value == pytest.approx(np.mean([part[name].value for part in alone])), name
    assert both["nfairr"].details["candidates"] == 3


def collection(seed, planted=0.0, q=40, n=300, d=30):
    """Return queries, documents and counts; queries are moved towards documents on men."""
    rng = np.random.default_rng(seed)
    first, second = rng.poisson(1, n), rng.poisson(2, n)  # a collection with more on men
    side = rng.standard_normal(d) / math.sqrt(d)
    documents = rng.standard_normal((n, d)) + np.outer(np.sign(second - first), side)
    queries = rng.standard_normal((q, d))
    queries += (planted - queries @ side)[:, None] * side  # no bias but what is planted
    return queries, documents, first.astype(float), second.astype(float)


def test_noise_shows_the_floor_and_planted_bias_is_found_on_its_side():
    fair = [
        ranking_bias(*collection(seed), resamples=0, rng=np.random.default_rng(seed))
        for seed in range(30)
    ]
    for name in ("excess_tf", "excess_boolean"):
        floors = [np.abs(scores[name].null.values).mean() for scores in fair]
        distances = [abs(scores[name].value) for scores in fair]
        assert np.mean(distances) == pytest.approx(np.mean(floors), rel=0.3), name
        assert np.mean([scores[name].p_value <= 0.05 for scores in fair]) <= 0.15
    assert np.mean([scores["arab_tf"].value for scores in fair]) > 0.2, "the collection's own"
    values = [
        ranking_bias(*collection(3, a), rng=np.random.default_rng(0))["excess_tf"]
        for a in (-2, -1, 0, 1, 2)
    ]
    assert (np.diff([score.value for score in values]) > 0).all()
    assert values[0].value < 0 < values[-1].value
    assert values[-1].p_value < 0.01
    assert values[-1].interval.low > 0


def test_the_gap_finds_planted_bias_and_not_what_topics_are_about():
    rng = np.random.default_rng(0)
    topic = np.arange(300) % 5
    centres = 3 * rng.standard_normal((5, 30))
    queries = centres[np.arange(40) % 5] + rng.standard_normal((40, 30))
    first, second = rng.poisson(2, 300).astype(float), rng.poisson(1 + topic).astype(float)
    side = rng.standard_normal(30)

    def gap(amplitude):
        content = (second - first) / np.maximum(first + second, 1)
        documents = (
            centres[topic] + rng.standard_normal((300, 30)) + np.outer(content, side) * amplitude
        )
        units = {"documents": [str(i) for i in range(300)], "queries": [str(i) for i in range(40)]}
        return content_gap(
            queries + side, documents, first, second, np.arange(40) % 5, topic, units=units
        )

    none, some = gap(0.0), gap(1.0)
    assert abs(none.gap.value) < 3 * math.sqrt(none.gap.variance)
    assert some.gap.value > 5 * math.sqrt(some.gap.variance)
    assert some.yardstick.value > 3 * math.sqrt(some.yardstick.variance)


def test_the_versions_of_a_text_are_left_out_together():
    rng = np.random.default_rng(2)
    queries, documents = (
        rng.standard_normal((9, 8)),
        np.repeat(rng.standard_normal((9, 8)), 2, axis=0),
    )
    documents += 0.3 * rng.standard_normal(documents.shape)
    first, second, topic = np.tile([2.0, 0], 9), np.tile([0, 2.0], 9), np.arange(18) // 2
    units = {"documents": [str(i) for i in range(18)], "queries": [str(i) for i in range(9)]}
    arrays = queries, documents, first, second, np.arange(9), topic
    alone, together = content_gap(*arrays, units=units), content_gap(*arrays, topic, units=units)
    assert len(alone.gap.deviations) == 18
    assert len(together.gap.deviations) == 9
    assert together.gap.value == pytest.approx(alone.gap.value)
    assert together.gap.variance > 1.5 * alone.gap.variance
