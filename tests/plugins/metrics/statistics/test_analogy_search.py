"""The search for analogies in blocks, compared with the matrix of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.arrays import unit_rows
from harness.plugins.metrics.statistics import analogy_search
from harness.plugins.metrics.statistics.analogy_search import (
    distinct_rows,
    find_pairs,
    find_parallelograms,
)


def every_pair(vectors, direction, *, delta, top, repeats):
    """Return the best pairs by equation 1, from the matrix of all pairs."""
    units = unit_rows(vectors)
    difference = units[:, None] - units[None]
    lengths = np.linalg.norm(difference, axis=2)
    s = np.where((lengths <= delta) & (lengths > 1e-5), difference @ direction, 0)
    s /= np.where(lengths > 0, lengths, 1)
    chosen = []
    for x, y in zip(*np.unravel_index(np.argsort(-s, axis=None), s.shape), strict=True):
        used = {row[0] for row in chosen}, {row[1] for row in chosen if repeats == "both"}
        if s[x, y] > 0 and x not in used[0] and y not in used[1] and len(chosen) < top:
            chosen.append((x, y, s[x, y]))
    return chosen


@pytest.mark.parametrize("kept", [7, 200_000])
@pytest.mark.parametrize("repeats", ["first", "both"])
@given(seed=st.integers(0, 2**32 - 1), delta=st.floats(0.5, 1.9))
@example(seed=80, delta=1.5)  # two pairs at the cut with equal scores in float32
def test_the_search_equals_the_matrix_of_all_pairs(kept, repeats, seed, delta):
    rng = np.random.default_rng(seed)
    vectors, u = rng.standard_normal((40, 4)), unit_rows(rng.standard_normal((1, 4)))[0]
    options = {"delta": delta, "top": 15, "repeats": repeats}
    with pytest.MonkeyPatch.context() as patch:
        # Few kept pairs are used up by repeats; small blocks make many of them.
        patch.setattr(analogy_search, "KEPT", kept)
        patch.setattr(analogy_search, "BUFFER", 3 * kept)
        patch.setattr(analogy_search, "BLOCK", (8, 16))
        pairs = find_pairs(vectors, u, **options)
    expected = every_pair(vectors, u, **options)
    assert list(zip(pairs.first, pairs.second, strict=True)) == [(x, y) for x, y, _ in expected]
    assert pairs.scores == pytest.approx([s for _, _, s in expected], abs=1e-9)


def test_pairs_within_delta_are_counted_once_and_equal_vectors_not():
    angles = np.radians([0, 50, 100, 100])  # 50° apart is a distance of .85, 100° one of 1.5
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    pairs = find_pairs(vectors, np.array([1.0, 0]), delta=1.0, top=9, repeats="first")
    assert pairs.within_delta == 3


@pytest.mark.parametrize("kept", [7, 200_000])
@pytest.mark.parametrize("repeats", ["first", "both"])
@given(seed=st.integers(0, 2**32 - 1))
def test_parallelograms_equal_the_matrix_of_all_pairs(kept, repeats, seed):
    vectors = np.random.default_rng(seed).standard_normal((40, 4))
    units = unit_rows(vectors)
    sought = units[0] - units[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analogy_search, "KEPT", kept)
        patch.setattr(analogy_search, "BUFFER", 3 * kept)
        patch.setattr(analogy_search, "BLOCK", (8, 16))
        pairs = find_parallelograms(vectors, sought, top=15, repeats=repeats, seeds=(0, 1))
    distances = np.linalg.norm(sought - (units[:, None] - units[None]), axis=2)
    expected, limit = [], 2**0.5 * np.linalg.norm(sought)
    for x, y in zip(*np.unravel_index(np.argsort(distances, axis=None), (40, 40)), strict=True):
        used = {row[0] for row in expected}, {row[1] for row in expected if repeats == "both"}
        if x == 0 or y == 1 or x in used[0] or y in used[1] or len(expected) == 15:
            continue
        if x != y and (units[x] - units[y]) @ sought > 0 and distances[x, y] < limit - 1e-9:
            expected.append((x, y))
    assert list(zip(pairs.first, pairs.second, strict=True)) == expected
    assert pairs.scores == pytest.approx([distances[pair] for pair in expected], abs=1e-9)


def test_rows_without_a_direction_or_of_an_earlier_word_are_not_distinct():
    assert distinct_rows(np.array([[1.0, 0], [0, 0], [1, 0], [2, 0]])) == [0, 3]
