"""Query loss on vectors with known cosines, on noise, and on planted losses."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.query_loss import loss_gap, query_loss


def at(*degrees) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def run(*arrays, **options):
    return query_loss(*arrays, rng=np.random.default_rng(0), **{"resamples": 100} | options)


def gaps_of(*arrays):
    names = [f"query {i}" for i in range(len(arrays[0]))]
    return loss_gap(*arrays, units={"queries": names})


@pytest.fixture(scope="module")
def search():
    """Queries and their documents: 60 pairs that share a part of their vectors."""
    rng = np.random.default_rng(3)
    shared, own, other = rng.normal(size=(3, 60, 24))
    return shared + 0.6 * own, shared + 0.6 * other, rng


def test_three_queries_by_hand():
    documents = at(0, 40, 90)
    # the varied queries at 30 and 85 degrees are nearer to the document at 40, at 90 to their own
    scores = run(at(5, 45, 80), at(30, 45, 90), documents, at(5, 60, 80), k=1)
    rank, margin = scores["rank_loss"], scores["margin_loss"]
    assert rank.value == pytest.approx((1 - 1 / 2) / 3)
    assert rank.details["reciprocal_rank"] == pytest.approx(
        {"standard": 1, "varied": 5 / 6, "edited": 1}
    )
    assert rank.details["recall"] == pytest.approx({"standard": 1, "varied": 2 / 3, "edited": 1})
    cosine = lambda degrees: np.cos(np.radians(degrees))  # noqa: E731
    standard = [
        cosine(5) - (cosine(35) + cosine(85)) / 2,
        cosine(5) - (cosine(45) + cosine(45)) / 2,
        cosine(10) - (cosine(80) + cosine(40)) / 2,
    ]
    varied = [
        cosine(30) - (cosine(10) + cosine(60)) / 2,
        cosine(5) - (cosine(45) + cosine(45)) / 2,
        cosine(0) - (cosine(90) + cosine(50)) / 2,
    ]
    assert margin.value == pytest.approx(np.mean(standard) - np.mean(varied))
    assert margin.details["margin"]["varied"] == pytest.approx(np.mean(varied))
    assert margin.n == 3


def test_a_document_that_is_as_near_counts_half_a_place():
    scores = run(at(0, 0, 180), at(0, 180, 180), at(0, 0, 180), k=1)
    assert scores["rank_loss"].details["recall"]["standard"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    details = scores["rank_loss"].details["reciprocal_rank"]
    assert details["standard"] == pytest.approx((1 / 1.5 + 1 / 1.5 + 1) / 3)
    assert details["varied"] == pytest.approx((1 / 1.5 + 1 / 2.5 + 1) / 3)


def test_the_gap_is_the_loss_of_margin_and_its_yardstick_that_of_edits(search):
    queries, documents, rng = search
    varied, edited = (queries + s * rng.normal(size=queries.shape) for s in (0.5, 1))
    gaps = gaps_of(queries, varied, documents, edited)
    scores = run(queries, varied, documents, edited)
    assert gaps.gap.value == pytest.approx(scores["margin_loss"].value)
    assert gaps.yardstick.value == pytest.approx(scores["margin_loss"].details["edited_loss"])
    assert gaps_of(queries, varied, documents).yardstick is None


def test_a_larger_planted_change_loses_more(search):
    queries, documents, _ = search
    shift = np.random.default_rng(5).normal(size=queries.shape[1])
    losses = [
        run(queries, queries + size * shift, documents)["margin_loss"].value
        for size in (0, 0.5, 1, 2)
    ]
    assert losses[0] == 0
    assert losses == sorted(losses)
    assert losses[-1] > 0.1


def test_versions_that_differ_by_chance_stay_within_the_floor(search):
    _, documents, _ = search
    rng = np.random.default_rng(7)
    found = []
    for _ in range(40):
        first, second = (documents + rng.normal(size=documents.shape) for _ in range(2))
        found.append(run(first, second, documents, resamples=0)["rank_loss"].p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.15


def test_noise_scales_the_gap_and_its_yardstick_alike(search):
    queries, documents, _ = search
    rng = np.random.default_rng(13)
    shifts = rng.normal(size=(2, queries.shape[1]))
    arrays = queries, queries + shifts[0], documents, queries + shifts[1]
    clean = gaps_of(*arrays)
    noisy = [gaps_of(*(a + 1.5 * rng.normal(size=a.shape) for a in arrays)) for _ in range(60)]
    gap, yardstick = (np.mean([getattr(g, of).value for g in noisy]) for of in ("gap", "yardstick"))
    assert gap < 0.8 * clean.gap.value
    assert gap / yardstick == pytest.approx(clean.gap.value / clean.yardstick.value, rel=0.15)
