"""Correlation of summaries with references, by hand and compared with scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from harness.plugins.metrics.reference_correlation import reference_correlation


def run(*arrays, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"resamples": 0} | options
        arrays = [np.asarray(array, dtype=float) for array in arrays]
        return reference_correlation(*arrays, rng=np.random.default_rng(0), **options)


def at(*cosines: float) -> list[list[float]]:
    """Return vectors with these cosines to the first axis."""
    return [[c, np.sqrt(1 - c * c)] for c in cosines]


def test_only_references_of_the_same_document_count():
    # only the reference of the same document counts; that of the second one is orthogonal
    summaries, references = at(0.9, 0.5, 0.1, 0.2), [[2, 0], [0, 1]]
    documents, of = [0, 0, 0, 1], [0, 1]
    predicted = [0.9, 0.5, 0.1, np.sqrt(1 - 0.04)]
    ratings = [5, 3, 1, 2]
    scores = run(summaries, references, ratings, documents, of)
    assert scores["pooled_pearson"].value == pytest.approx(pearsonr(predicted, ratings)[0])
    assert scores["pooled_spearman"].value == pytest.approx(spearmanr(predicted, ratings)[0])
    assert scores["pooled_pearson"].n == 4
    assert scores["pooled_pearson"].details == {"documents": 2}
    assert scores["pearson"].value == pytest.approx(1.0)  # of the document with three summaries
    assert (scores["pearson"].n, scores["pearson"].details) == (3, {"documents": 1})


@given(st.integers(0, 2**32 - 1), st.sampled_from(["max", "mean"]))
def test_pooled_and_within_document_correlations_equal_scipy(seed, of_references):
    rng = np.random.default_rng(seed)
    s, r = rng.standard_normal((24, 5)), rng.standard_normal((12, 5))
    documents, of, ratings = np.arange(24) % 4, np.arange(12) // 3, rng.standard_normal(24)
    order = rng.permutation(24)
    scores = run(s[order], r, ratings[order], documents[order], of, of_references=of_references)
    predicted = np.array(
        [
            getattr(np, of_references)(
                [x @ y / np.linalg.norm(x) / np.linalg.norm(y) for y in r[of == d]]
            )
            for x, d in zip(s, documents, strict=True)
        ]
    )
    for name, peer in (("spearman", spearmanr), ("pearson", pearsonr)):
        assert scores[f"pooled_{name}"].value == pytest.approx(peer(predicted, ratings)[0])
        within = [peer(predicted[documents == d], ratings[documents == d])[0] for d in range(4)]
        assert scores[name].value == pytest.approx(np.mean(within))
        contributions = scores[name].samples[0].contribution
        assert np.mean(contributions) == pytest.approx(np.mean(within))


def test_a_document_without_references_is_left_out():
    scores = run(at(0.9, 0.5, 0.1, 0.3), [[1, 0]], [3, 2, 1, 9], [0, 0, 0, 5], [0])
    assert scores["spearman"].value == pytest.approx(1)
    assert scores["spearman"].n == 3


def test_the_interval_resamples_documents():
    rng = np.random.default_rng(4)
    s, r = rng.standard_normal((60, 4)), rng.standard_normal((10, 4))
    scores = run(s, r, rng.standard_normal(60), np.arange(60) // 6, np.arange(10), resamples=200)
    assert "of documents" in scores["pearson"].interval.method
    assert "of clusters" in scores["pooled_pearson"].interval.method
    for score in scores.values():
        assert score.interval.low < score.value < score.interval.high
    single = run(s, r[:1], rng.standard_normal(60), np.zeros(60), [0], resamples=200)
    assert single["pearson"].interval is None


def test_levels_of_whole_documents_raise_the_pooled_correlation_only():
    rng = np.random.default_rng(5)
    documents = np.repeat(np.arange(30), 8)
    level = rng.uniform(0.1, 0.8, 30)[documents]  # cosines and ratings of a document rise together
    ratings = level + 0.1 * rng.standard_normal(240)
    summaries = at(*(level + 0.1 * rng.standard_normal(240)))
    scores = run(summaries, np.tile([1, 0], (30, 1)), ratings, documents, np.arange(30))
    assert scores["pooled_spearman"].value > 0.7
    assert abs(scores["spearman"].value) < 0.15


def test_random_vectors_predict_nothing():
    rng = np.random.default_rng(6)
    documents = np.repeat(np.arange(60), 16)
    scores = run(
        rng.standard_normal((960, 50)),
        rng.standard_normal((120, 50)),
        rng.uniform(1, 5, 60)[documents] + rng.standard_normal(960),
        documents,
        np.repeat(np.arange(60), 2),
    )
    for score in scores.values():
        assert abs(score.value) < 0.1
