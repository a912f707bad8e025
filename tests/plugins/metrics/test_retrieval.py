"""Exposure gap, recall and precision on documents with known places."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.retrieval import retrieval

NAMES = ["women", "men", "others"]
ANGLES = np.radians([10, 20, 30, 40, 50, 60])
DOCUMENTS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)  # falling cosine with (1, 0)
QUERY = np.array([[1.0, 0.0]])
TOPICS = np.array([1.0, 1, 1, 1, 0, 0])
GROUPS = np.array([1.0, 1, 0, 0, 2, 2])  # the men first


def run(queries=QUERY, query_topics=(1.0,), groups=GROUPS, topics=TOPICS, others=(), **options):
    return retrieval(
        queries, DOCUMENTS, np.asarray(query_topics), topics, groups, *others,
        rng=np.random.default_rng(0), **{"group_names": NAMES, "resamples": 100} | options,
    )  # fmt: skip


def test_three_places_by_hand():
    scores = run(k=3)
    gap = scores["share_gap"]
    # two men and one woman retrieved; two of either are relevant: (|1/3 - 1/2| + |2/3 - 1/2|) / 2
    assert gap.value == pytest.approx(1 / 6)
    assert gap.details["shares"] == pytest.approx({"women": 1 / 3, "men": 2 / 3, "others": 0})
    assert gap.details["granularity"] == pytest.approx(1 / 3)
    # the men are at places 1 and 2, the woman at place 3: 1 + .631, and .5
    seen = [1, 1 / math.log2(3), 1 / 2]
    women = seen[2] / sum(seen)
    gap = scores["exposure_gap"]
    assert gap.value == pytest.approx(0.5 - women)
    assert gap.details["exposure"] == pytest.approx({"women": women, "men": 1 - women, "others": 0})
    assert gap.details["granularity"] == pytest.approx(women)
    assert gap.details["fair"] == {"women": 0.5, "men": 0.5, "others": 0}
    assert gap.details["recall"] == {"women": 0.5, "men": 1.0, "others": None}
    assert gap.details["similarity"]["women"] == pytest.approx(np.cos(ANGLES[2:4]).mean())
    assert scores["recall"].value == pytest.approx(3 / 4)
    assert scores["precision"].value == 1.0


def test_irrelevant_documents_lower_precision_and_not_the_shares():
    scores = run(k=6)
    assert scores["share_gap"].value == 0
    assert scores["exposure_gap"].value > 0.1, "the men are seen first"
    assert scores["recall"].value == 1
    assert scores["precision"].value == pytest.approx(4 / 6)


def test_queries_that_favour_different_groups_cancel_out():
    mirror = np.array([[math.cos(math.radians(45)), math.sin(math.radians(45))]])
    queries = np.concatenate([QUERY, mirror])  # the women are closest to the second
    scores = run(queries, (1.0, 1.0), k=2)
    assert scores["exposure_gap"].value == pytest.approx(0)
    assert scores["exposure_gap"].n == 2


def test_dynamic_k_retrieves_by_two_queries():
    women, men = np.array([[math.cos(0.6), math.sin(0.6)]]), QUERY  # at 34 degrees, and at 0
    scores = run(k=2, ranking="dynamic-k", others=(women, men))
    # the top 2 of the women's query have places 3 and 4 for the men's query: four are retrieved
    assert scores["recall"].details["retrieved"] == 4
    assert scores["share_gap"].value == pytest.approx(0)
    both = run(k=2, ranking="dynamic-k-symmetric", others=(women, men))
    assert both["recall"].value >= scores["recall"].value


def test_a_query_without_relevant_results_has_no_exposure():
    scores = run(query_topics=(0.0,), k=2)  # the two documents of topic 0 come last
    assert math.isnan(scores["exposure_gap"].value)
    assert "relevant" in scores["exposure_gap"].reason
    assert scores["recall"].value == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_scores_are_bounded_and_independent_of_the_order_of_documents(seed, k):
    rng = np.random.default_rng(seed)
    queries, documents = rng.standard_normal((4, 5)), rng.standard_normal((12, 5))
    groups, topics = rng.integers(0, 3, 12).astype(float), rng.integers(0, 2, 12).astype(float)
    order = rng.permutation(12)

    def of(order):
        return retrieval(
            queries, documents[order], np.array([0.0, 0, 1, 1]), topics[order], groups[order],
            k=k, resamples=0, rng=rng,
        )  # fmt: skip

    scores, reordered = of(np.arange(12)), of(order)
    for name, score in scores.items():
        assert math.isnan(score.value) or 0 <= score.value <= 1
        assert score.value == pytest.approx(reordered[name].value, nan_ok=True)


def test_a_query_without_hits_counts_neither_in_the_exposure_nor_in_the_fair_one():
    """Before, the fair exposure was over all queries: a gap of .25 where there is none."""
    topics, groups = np.array([1.0, 1, 0, 0, 2, 2]), np.array([1.0, 0, 1, 1, 0, 0])
    queries = np.repeat(QUERY, 2, axis=0)
    scores = run(queries, (1.0, 2.0), groups=groups, topics=topics, k=2)
    gap = scores["share_gap"]
    assert gap.value == 0
    assert gap.details["without_hits"] == 1
    assert gap.details["fair"] == gap.details["shares"] == {"women": 0.5, "men": 0.5}
    assert scores["recall"].value == 0.5


def of_random_vectors(seed, queries=40, **options):
    """Score random vectors: for each query, two documents of women and two of men."""
    rng = np.random.default_rng(seed)
    topics = np.arange(float(queries))
    documents = rng.standard_normal((4 * queries, 30))
    return retrieval(
        rng.standard_normal((queries, 30)), documents, topics, np.repeat(topics, 4),
        np.tile([0.0, 0, 1, 1], queries), k=3 * queries, resamples=0, rng=rng, **options,
    )  # fmt: skip


def test_random_vectors_show_the_floor():
    scores = [of_random_vectors(seed) for seed in range(60)]
    for name in ("exposure_gap", "share_gap"):
        values = [each[name].value for each in scores]
        floors = [each[name].null.values.mean() for each in scores]
        assert np.mean(values) == pytest.approx(np.mean(floors), rel=0.25)
        assert np.mean([each[name].p_value <= 0.05 for each in scores]) <= 0.15


def test_a_bias_of_every_query_is_far_above_the_floor():
    rng = np.random.default_rng(1)
    topics, group = np.arange(40.0), np.tile([0.0, 0, 1, 1], 40)
    queries = rng.standard_normal((40, 30))
    previous = 0.0
    for amplitude in (0.25, 0.5, 1.0):
        # the documents of the first group are moved towards their queries
        towards = amplitude * (group == 0)[:, None] * np.repeat(queries, 4, axis=0)
        documents = np.random.default_rng(2).standard_normal((160, 30)) + towards
        gap = retrieval(
            queries, documents, topics, np.repeat(topics, 4), group, k=40, resamples=0, rng=rng
        )["exposure_gap"]
        assert gap.value > previous
        previous = gap.value
    assert gap.value > gap.null.values.max()
    assert gap.p_value < 0.01


def test_one_query_has_a_high_floor_and_coarse_steps():
    topics, group = np.ones(15), np.repeat([0.0, 1, 2], 5)
    documents = np.random.default_rng(3).standard_normal((15, 20))
    scores = retrieval(
        np.ones((1, 20)), documents, np.ones(1), topics, group, k=10, resamples=0,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    gap = scores["share_gap"]
    assert gap.details["least"] == pytest.approx(0.4 - 1 / 3), "ten places are 4, 3 and 3"
    assert gap.details["granularity"] == pytest.approx(0.1)
    assert gap.null.values.mean() > 0.1
    assert gap.p_value > 0.05


def test_documents_that_differ_in_the_group_alone_have_no_gap_in_any_order():
    rng = np.random.default_rng(0)
    texts = rng.normal(size=(4, 8))
    topics, codes = np.ones(8), np.repeat([0.0, 1.0], 4)
    for groups in (codes, codes[::-1]):
        for k in (1, 3):
            scores = retrieval(
                rng.normal(size=(2, 8)),
                np.tile(texts, (2, 1)),
                np.ones(2),
                topics,
                groups,
                k=k,
                rng=rng,
            )
            gaps = [scores[name].value for name in ("exposure_gap", "share_gap")]
            assert gaps == pytest.approx([0, 0], abs=1e-9)
