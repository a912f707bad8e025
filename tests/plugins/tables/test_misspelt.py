"""Typing errors in as many words as another version differs in."""

from __future__ import annotations

import pytest

from harness.plugins.tables.misspelt import misspelt, words_changed


@pytest.mark.parametrize(
    ("first", "second", "number"),
    [
        ("the bus is late", "the bus is late", 0),
        ("the bus is late", "the bus late", 1),
        ("The bus, is late.", "the bus is late", 0),
        ("the bus is late", "the bus @ late", 1),
        ("the bus is always late", "the bus be late", 2),
        ("the bus is late", "a bus is early today", 3),
    ],
)
def test_words_that_are_replaced_inserted_or_deleted_are_counted(first, second, number):
    assert words_changed(first, second) == words_changed(second, first) == number


def test_as_many_words_get_two_letters_exchanged():
    rows = [
        {"text": "my neighbor planted seven trees yesterday", "other": "my neighbor plant trees"}
    ]
    (row,) = misspelt(rows, column="text", like="other", into="edited")
    pairs = list(zip(row["text"].split(), row["edited"].split(), strict=True))
    changed = [(before, after) for before, after in pairs if before != after]
    assert len(changed) == words_changed(row["text"], row["other"]) == 3
    for before, after in changed:
        assert sorted(before) == sorted(after)
        assert (before[0], before[-1]) == (after[0], after[-1])
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 2
    assert misspelt(rows, column="text", like="other", into="edited") == [row]


def test_short_words_and_those_of_equal_letters_stay():
    (row,) = misspelt([{"a": "it is 1234 boot", "b": "x y z w v"}], column="a", like="b")
    assert row["misspelt"] == "it is 1234 boot"
