"""Similarity of perturbations by hand, compared with scipy, and its standard errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

from harness.plugins.metrics.perturbation_similarity import perturbation_similarity


def run(vectors, texts_of, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"resamples": 0} | options
        vectors, texts_of = np.asarray(vectors, dtype=float), np.asarray(texts_of, dtype=float)
        return perturbation_similarity(vectors, texts_of, rng=np.random.default_rng(0), **options)


def test_pairs_count_once_and_texts_have_equal_weight():
    # cosines of the text with three perturbations: 0, 1 and 0; of that with two: 1
    scores = run([[1, 0], [0, 2], [3, 0], [1, 1], [2, 2]], [7, 7, 7, 3, 3])
    assert scores["cosine"].value == pytest.approx((1 / 3 + 1) / 2)
    distances = (5**0.5 + 2 + 13**0.5) / 3
    assert scores["distance"].value == pytest.approx((distances + 2**0.5) / 2)
    assert scores["cosine"].n == 2
    assert scores["cosine"].details["pairs"] == 4
    assert scores["cosine"].tables["texts"] == [
        {
            "text": 3.0,
            "perturbations": 2,
            "cosine": pytest.approx(1),
            "distance": pytest.approx(2**0.5),
        },
        {
            "text": 7.0,
            "perturbations": 3,
            "cosine": pytest.approx(1 / 3),
            "distance": pytest.approx(distances),
        },
    ]


def test_the_cosine_is_half_of_the_printed_formula():
    k, vectors = 4, np.random.default_rng(1).standard_normal((4, 5))
    similarities = 1 - cdist(vectors, vectors, "cosine")
    printed = (similarities.sum() - k) / (k * (k - 1) / 2)
    assert run(vectors, [0] * k)["cosine"].value == pytest.approx(printed / 2)


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(2, 6), min_size=1, max_size=6))
def test_means_and_standard_errors_equal_scipy_in_any_order_of_rows(seed, sizes):
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((k, 4)) + rng.standard_normal(4) for k in sizes]
    order = rng.permutation(sum(sizes))
    vectors, codes = np.concatenate(parts), np.repeat(np.arange(len(sizes)), sizes)
    scores = run(vectors[order], codes[order])
    similarities = [1 - pdist(part, "cosine") for part in parts]
    distances = [pdist(part) for part in parts]
    for name, pairs in (("cosine", similarities), ("distance", distances)):
        means = [of_text.mean() for of_text in pairs]
        assert scores[name].value == pytest.approx(np.mean(means))
        pooled = np.concatenate(pairs)
        details = scores[name].details
        if len(sizes) > 1:
            expected = np.std(means, ddof=1) / len(sizes) ** 0.5
            assert details["standard_error"] == pytest.approx(expected)
        if len(pooled) > 1:
            expected = pooled.std(ddof=1) / len(pooled) ** 0.5
            assert details["standard_error_of_pairs"] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 100))
def test_equal_vectors_are_fair_at_any_length(seed, scale):
    vectors = np.random.default_rng(seed).standard_normal((2, 8)) * scale
    scores = run(np.repeat(vectors, 5, axis=0), np.repeat([0, 1], 5))
    assert scores["cosine"].value == pytest.approx(1, abs=1e-12)
    assert scores["distance"].value == pytest.approx(0, abs=1e-12 * scale)


def test_the_standard_error_is_over_texts_not_pairs():
    rng = np.random.default_rng(2)
    spreads = np.repeat(rng.uniform(0.1, 2, 40), 20)[:, None]
    vectors = np.ones(8) + spreads * rng.standard_normal((800, 8))
    scores = run(vectors, np.repeat(np.arange(40), 20), resamples=400)["cosine"]
    assert scores.details["standard_error"] > 5 * scores.details["standard_error_of_pairs"]
    assert "of texts" in scores.interval.method
    width = scores.interval.high - scores.interval.low
    assert width == pytest.approx(2 * 1.96 * scores.details["standard_error"], rel=0.2)


def test_a_text_with_one_perturbation_is_left_out_and_counted():
    scores = run([[1, 0], [1, 0], [0, 1]], [0, 0, 1])
    assert scores["cosine"].value == pytest.approx(1)
    assert scores["cosine"].details["left_out"] == 1
    assert scores["cosine"].details["standard_error"] is None
    assert scores["cosine"].interval is None


def distance_in_units(score):
    return (1 - score.value) / score.unit


@pytest.mark.parametrize("dimensions", [20, 300])
def test_random_vectors_are_one_unit_from_fair(dimensions):
    vectors = np.random.default_rng(0).standard_normal((200, dimensions))
    score = run(vectors, np.repeat(np.arange(40), 5))["cosine"]
    assert distance_in_units(score) == pytest.approx(1, abs=0.05)


def test_a_constant_part_of_all_vectors_does_not_make_names_matter_less():
    rng = np.random.default_rng(1)
    texts_of = np.repeat(np.arange(40), 5)
    vectors = rng.standard_normal((40, 50))[texts_of] + 0.5 * rng.standard_normal((200, 50))
    plain, narrow = run(vectors, texts_of)["cosine"], run(vectors + 3, texts_of)["cosine"]
    assert narrow.value > plain.value + 0.1, "nearer to 1"
    assert distance_in_units(narrow) == pytest.approx(distance_in_units(plain), abs=0.02)
    assert distance_in_units(plain) == pytest.approx(0.2, abs=0.03)


def test_the_distance_rises_with_what_names_add():
    rng = np.random.default_rng(2)
    texts_of = np.repeat(np.arange(40), 5)
    texts, names = rng.standard_normal((40, 50))[texts_of], rng.standard_normal((200, 50))
    scores = [run(texts + amount * names, texts_of)["cosine"] for amount in (0, 0.25, 0.5, 1)]
    assert distance_in_units(scores[0]) == pytest.approx(0, abs=1e-9)
    assert (np.diff([distance_in_units(score) for score in scores]) > 0).all()


def test_the_mean_between_texts_is_that_of_all_pairs_and_one_text_has_none():
    vectors, texts_of = np.random.default_rng(3).standard_normal((9, 4)), np.arange(9) // 4
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    other = texts_of[:, None] != texts_of
    score = run(vectors, texts_of)["cosine"]
    assert score.details["between"] == pytest.approx((unit @ unit.T)[other].mean())
    alone = run(vectors, np.zeros(9))["cosine"]
    assert (alone.details["between"], alone.unit) == (None, None)
    assert run(np.ones((9, 4)), texts_of)["cosine"].unit is None, "all texts are alike"
