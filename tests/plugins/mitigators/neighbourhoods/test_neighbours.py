"""The nearest words in a vocabulary are independent of the block sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.arrays import unit_rows
from harness.embedder import vocabulary_of
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.fitting import neighbours
from harness.plugins.mitigators.fitting.neighbours import nearest


def embedder(seed: int = 0, n: int = 80, d: int = 6) -> WordVectors:
    rows = np.random.default_rng(seed).standard_normal((n, d)) + 0.5
    return WordVectors.of([f"w{i}" for i in range(n)], rows)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_neighbours_equal_those_of_sorted_cosines_for_any_block_size(seed, n):
    model = embedder(seed)
    rows = unit_rows(model.vectors[:7])
    cosines = rows @ unit_rows(model.vectors).T
    cosines[np.arange(7), np.arange(7)] = -2
    expected = -np.sort(-cosines, axis=1)[:, :n]
    for words, compared in ((8, 256), (33, 3), (1000, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(neighbours, "BLOCK", words)
            patch.setattr(neighbours, "COMPARED", compared)
            near = nearest(rows, vocabulary_of(model), n)
        assert near.cosines == pytest.approx(expected, abs=1e-6)
        vectors = near.gathered()
        assert np.einsum("ij,ikj->ik", rows, vectors) == pytest.approx(expected, abs=1e-6)
        assert (near.gathered(np.array([3, 1])) == vectors[[3, 1]]).all()


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_a_search_for_fewer_neighbours_or_rows_gives_a_part_of_the_result_also_with_ties(seed, n):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, (90, 3)) + np.array([0.0, 0.0, 3.0])  # 27 vectors: most are shared
    words = vocabulary_of(WordVectors.of([f"w{i}" for i in range(90)], rows))
    queries = unit_rows(rows[:9])
    more, fewer = nearest(queries, words, 30), nearest(queries, words, n)
    assert np.array_equal(more.cosines[:, :n], fewer.cosines, equal_nan=True)
    assert np.array_equal(more.gathered()[:, :n], fewer.gathered(), equal_nan=True)
    alone = nearest(queries[4:5], words, n)
    assert np.array_equal(alone.cosines, fewer.cosines[4:5], equal_nan=True)


def test_in_a_tie_the_first_word_of_the_vocabulary_is_nearer():
    turned = np.array([[0.6, 0.8], [0.6, -0.8], [0.6, 0.8]])
    words = vocabulary_of(WordVectors.of(["a", "b", "c"], turned))
    near = nearest(np.array([[1.0, 0.0]]), words, 2)
    assert near.gathered()[0] == pytest.approx(turned[:2])


def test_positive_and_negative_cosines_are_sorted():
    rows = [[1, 0], [0.8, 0.6], [0, 1], [-0.6, 0.8], [-1, 0], [0, -1]]
    words = vocabulary_of(WordVectors.of(list("abcdef"), rows))
    near = nearest(np.array([[1.0, 0.0], [0.0, 1.0]]), words, 5)
    assert near.cosines == pytest.approx(np.array([[0.8, 0, 0, -0.6, -1], [0.8, 0.6, 0, 0, -1]]))


def test_missing_neighbours_are_nan_and_words_with_the_same_vector_are_skipped():
    words = vocabulary_of(WordVectors.of(["a", "b", "c"], [[1, 0], [1, 0], [0.6, 0.8]]))
    near = nearest(np.array([[1.0, 0.0]]), words, 5)
    assert near.cosines[0, 0] == pytest.approx(0.6)
    assert np.isnan(near.cosines[0, 1:]).all()
    assert np.isnan(near.gathered()[0, 1:]).all()
    assert nearest(np.empty((0, 2)), words, 5).gathered().shape == (0, 5, 2)


def test_a_zero_vector_has_cosine_0():
    words = vocabulary_of(WordVectors.of(["a", "b"], [[0, 0], [0.6, 0.8]]))
    near = nearest(np.array([[1.0, 0.0]]), words, 2)
    assert near.cosines[0] == pytest.approx([0.6, 0])
