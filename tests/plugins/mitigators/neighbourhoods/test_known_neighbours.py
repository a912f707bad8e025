"""Neighbours are sought once, and are those of a search whatever was asked before."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.arrays import unit_rows
from harness.plugins.mitigators.neighbourhoods import known_neighbours
from harness.plugins.mitigators.neighbourhoods.known_neighbours import sought
from harness.plugins.mitigators.neighbourhoods.neighbours import nearest
from harness.vocabulary import Vocabulary


class Read(Vocabulary):
    """A vocabulary that counts how many words were read of it."""

    def __init__(self, n: int = 400, d: int = 6, seed: int = 0) -> None:
        self.vectors = np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)
        self.read = 0
        super().__init__([f"w{i}" for i in range(n)], self._rows)

    def _rows(self, start: int, stop: int):
        self.read += stop - start
        return self.vectors[start:stop]


def agree(rows, words, n) -> None:
    wanted = nearest(rows, words, n)
    for block, near in sought(rows, words, n):
        assert np.array_equal(near.cosines, wanted.cosines[block], equal_nan=True)
        assert np.array_equal(near.gathered(), wanted.gathered(block), equal_nan=True)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 12), st.integers(1, 300)), max_size=8))
def test_they_are_those_of_a_search_whatever_was_asked_before(asked):
    words = Read()
    rows = unit_rows(words.vectors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_neighbours, "PLACES", 256 * 20)  # 20 rows are kept, then none
        patch.setattr(known_neighbours, "AT_ONCE", 256 * 5)
        for start, m, n in asked:
            agree(rows[start : start + m], words, n)
        agree(rows[:30], words, 10)


def test_what_was_asked_is_not_sought_again_nor_fewer_of_it():
    words = Read()
    rows = unit_rows(words.vectors[:20])
    agree(rows, words, 100)
    words.read = 0
    for part, n in ((rows, 100), (rows, 200), (rows[3:7], 50), (rows[::-1], 1)):
        list(sought(part, words, n))
    assert words.read == 0
    list(sought(unit_rows(words.vectors[19:21]), words, 100))
    assert words.read


def test_too_many_to_keep_leave_what_is_kept(monkeypatch):
    monkeypatch.setattr(known_neighbours, "PLACES", 256 * 20)
    words = Read()
    rows = unit_rows(words.vectors[:21])
    list(sought(rows[:20], words, 10))
    blocks = [block for block, _ in sought(rows, words, 10)]
    assert sum(block.stop - block.start for block in blocks) == 21
    words.read = 0
    list(sought(rows[:20], words, 10))
    assert words.read == 0


def test_the_same_row_twice_and_no_row_are_no_obstacle():
    words = Read()
    agree(unit_rows(words.vectors[[1, 1, 2]]), words, 5)
    assert not list(sought(np.empty((0, 6)), words, 5))


def test_another_vocabulary_is_searched_by_itself():
    one, other = Read(), Read(seed=1)
    rows = unit_rows(one.vectors[:4])
    agree(rows, one, 5)
    agree(rows, other, 5)
    agree(rows, one, 5)


def test_threads_that_ask_at_once_are_given_the_same():
    words = Read()
    rows = unit_rows(words.vectors)
    failed = []

    def ask(start: int) -> None:
        try:
            agree(rows[start : start + 20], words, 10 + start)
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(0, 80, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
