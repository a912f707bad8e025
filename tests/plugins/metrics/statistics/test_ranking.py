"""Retrieved documents: by hand on four documents, and for random similarities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.plugins.metrics.statistics.exposure import dynamic_k, dynamic_k_symmetric, plain

SIMILARITIES = arrays(np.float64, (3, 7), elements=st.integers(-5, 5).map(float))
FEMALE = np.array([[0.9, 0.8, 0.1, 0.2]])
MALE = np.array([[0.3, 0.5, 0.9, 0.1]])


def retrieved(ranked) -> list[int]:
    return ranked.order[0, : np.count_nonzero(ranked.retrieved[0])].tolist()


def test_plain_takes_the_k_nearest():
    assert retrieved(plain(FEMALE, 2)) == [0, 1]
    assert plain(FEMALE, 2).order[0].tolist() == [0, 1, 3, 2]


def test_dynamic_k_includes_the_whole_top_k_of_the_first_query():
    # the female query's top 2 is {0, 1}; the male query puts 2 and 1 before 0
    assert retrieved(dynamic_k(FEMALE, MALE, 2)) == [2, 1, 0]


def test_the_order_of_the_queries_matters_and_the_symmetric_form_is_the_union():
    # the male query's top 2 is {2, 1}; all four are at least as similar to the female query as 2 is
    assert retrieved(dynamic_k(MALE, FEMALE, 2)) == [0, 1, 3, 2]
    assert retrieved(dynamic_k_symmetric(FEMALE, MALE, 2)) == [1, 0, 2, 3]  # by the mean


def test_equal_documents_share_their_places():
    seen = 1 / np.log2([2, 3, 4])
    near = plain(np.array([[0.9, 0.2, 0.9 + 2e-7, 0.5], [0.9, 0.1, 0.9, 0.3]]), 1)
    assert near.retrieved[0].tolist() == [0.5, 0, 0.5, 0]
    assert near.exposure[0] == pytest.approx([seen[0] / 2, 0, seen[0] / 2, 0])
    by_chance = plain(np.array([[0.9, 0.9 + 2e-7], [0.1, 0.3]]), 1)
    assert by_chance.retrieved.tolist() == [[0, 1], [0, 1]]
    third = plain(np.array([[0.5, 0.5, 0.5, 0.9]]), 2)
    assert third.exposure[0] == pytest.approx([*[seen[1] / 3] * 3, seen[0]])


@pytest.mark.parametrize("retrieve", [lambda s: plain(s, 9), lambda s: dynamic_k(s, s, 9)])
def test_k_beyond_the_documents_retrieves_all(retrieve):
    assert retrieve(FEMALE).retrieved.all()


@given(SIMILARITIES, SIMILARITIES, st.integers(1, 7))
def test_dynamic_k_includes_the_first_top_k_and_is_a_top_of_the_second_query(first, second, k):
    ranked = dynamic_k(first, second, k)
    assert (ranked.retrieved >= plain(first, k).retrieved).all()
    assert (ranked.retrieved.sum(axis=1) >= k).all()
    for kept, similarity in zip(ranked.retrieved > 0, second, strict=True):
        assert kept.all() or similarity[kept].min() > similarity[~kept].max()


@given(SIMILARITIES, st.integers(1, 7))
def test_without_ties_equal_queries_retrieve_the_plain_top(similarities, k):
    distinct = similarities + np.arange(7) / 100
    top = plain(distinct, k)
    for ranked in (dynamic_k(distinct, distinct, k), dynamic_k_symmetric(distinct, distinct, k)):
        assert (top.retrieved == ranked.retrieved).all()
        assert (top.order == ranked.order).all()


@given(SIMILARITIES, SIMILARITIES, st.integers(1, 7))
def test_the_symmetric_form_does_not_depend_on_the_order(first, second, k):
    ranked, swapped = dynamic_k_symmetric(first, second, k), dynamic_k_symmetric(second, first, k)
    assert (ranked.retrieved == swapped.retrieved).all()
    assert (ranked.retrieved >= dynamic_k(first, second, k).retrieved).all()
