"""One row per element of a list."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.explode import explode

TABLE = [
    {"id": "a", "summaries": ["one", "two"], "ratings": [1.5, 2], "title": "A"},
    {"id": "b", "summaries": [], "ratings": [], "title": "B"},
    {"id": "c", "summaries": ["three"], "ratings": [3], "title": "C"},
]


def test_each_element_becomes_a_row():
    rows = explode(TABLE, columns=("summaries", "ratings"))
    assert [(r["id"], r["summaries"], r["ratings"], r["title"], r["row"]) for r in rows] == [
        ("a", "one", 1.5, "A", 0),
        ("a", "two", 2, "A", 0),
        ("c", "three", 3, "C", 2),
    ]


def test_lists_of_different_lengths_are_rejected():
    rows = [{"a": [1, 2], "b": [1]}]
    with pytest.raises(InvalidOption, match=r"row 0.*'a': 2.*'b': 1"):
        explode(rows, columns=("a", "b"))
