"""Neighbours from the cache equal those of a search, and are searched only once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.arrays import unit_rows
from harness.embedder import Vocabulary
from harness.plugins.mitigators.fitting import neighbours
from harness.plugins.mitigators.fitting.neighbours import cached_nearest, nearest


class CountingVocabulary(Vocabulary):
    """A vocabulary that counts the words that are read."""

    def __init__(self, n: int = 400, d: int = 6, seed: int = 0) -> None:
        self.vectors = np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)
        self.read = 0
        super().__init__([f"w{i}" for i in range(n)], self._rows)

    def _rows(self, start: int, stop: int):
        self.read += stop - start
        return self.vectors[start:stop]


def assert_equal_to_a_search(rows, words, n) -> None:
    expected = nearest(rows, words, n)
    for block, near in cached_nearest(rows, words, n):
        assert np.array_equal(near.cosines, expected.cosines[block], equal_nan=True)
        assert np.array_equal(near.gathered(), expected.gathered(block), equal_nan=True)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 12), st.integers(1, 300)), max_size=8))
def test_the_result_does_not_depend_on_earlier_searches(searches):
    words = CountingVocabulary()
    rows = unit_rows(words.vectors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "CAPACITY", 256 * 20)  # room for 20 rows
        patch.setattr(neighbours, "BLOCK", 256 * 5)
        for start, m, n in searches:
            assert_equal_to_a_search(rows[start : start + m], words, n)
        assert_equal_to_a_search(rows[:30], words, 10)


def test_the_same_or_fewer_neighbours_are_not_searched_again():
    words = CountingVocabulary()
    rows = unit_rows(words.vectors[:20])
    assert_equal_to_a_search(rows, words, 100)
    words.read = 0
    for part, n in ((rows, 100), (rows, 200), (rows[3:7], 50), (rows[::-1], 1)):
        list(cached_nearest(part, words, n))
    assert words.read == 0
    list(cached_nearest(unit_rows(words.vectors[19:21]), words, 100))
    assert words.read


def test_a_search_that_exceeds_the_capacity_leaves_the_cache_unchanged(monkeypatch):
    monkeypatch.setattr(neighbours, "CAPACITY", 256 * 20)
    words = CountingVocabulary()
    rows = unit_rows(words.vectors[:21])
    list(cached_nearest(rows[:20], words, 10))
    blocks = [block for block, _ in cached_nearest(rows, words, 10)]
    assert sum(block.stop - block.start for block in blocks) == 21
    words.read = 0
    list(cached_nearest(rows[:20], words, 10))
    assert words.read == 0


def test_each_vocabulary_has_its_own_cache():
    first, second = CountingVocabulary(), CountingVocabulary(seed=1)
    rows = unit_rows(first.vectors[:4])
    assert_equal_to_a_search(rows, first, 5)
    assert_equal_to_a_search(rows, second, 5)
    assert_equal_to_a_search(rows, first, 5)
