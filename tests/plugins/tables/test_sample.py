"""Samples are reproducible and keep the proportions of a column."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidOption
from harness.plugins.tables.sample import sample

TABLE = [{"text": f"text {i}", "label": "even" if i % 4 else "odd"} for i in range(100)]


def test_the_sample_is_the_same_with_all_library_versions():
    assert [row["text"] for row in sample(TABLE, n=4)] == [
        "text 45",
        "text 56",
        "text 91",
        "text 93",
    ]


def test_proportions_and_order_are_kept():
    drawn = sample(TABLE, n=20, by="label")
    assert Counter(row["label"] for row in drawn) == {"even": 15, "odd": 5}
    assert drawn == [row for row in TABLE if row in drawn]


@given(st.integers(1, 120), st.integers(0, 5), st.lists(st.sampled_from("abc"), min_size=1))
def test_the_sample_has_n_rows_and_each_value_its_share_to_within_one_row(n, seed, labels):
    rows = [{"label": label, "text": i} for i, label in enumerate(labels)]
    drawn = sample(rows, n=n, by="label", seed=seed)
    assert len(drawn) == min(n, len(rows))
    for label, size in Counter(labels).items():
        share = len(drawn) * size / len(rows)
        assert abs(sum(row["label"] == label for row in drawn) - share) < 1


def test_the_sample_depends_on_the_seed_and_not_on_the_order_of_rows():
    drawn = sample(TABLE, n=30)
    key = str
    assert sorted(sample(TABLE[::-1], n=30), key=key) == sorted(drawn, key=key)
    assert sample(TABLE, n=30, seed=1) != drawn


def test_all_rows_are_kept_without_n_or_with_a_large_n():
    assert sample(TABLE) == TABLE
    assert sample(TABLE, n=1000, by="label") == TABLE


def test_each_value_may_have_the_same_number_of_rows():
    drawn = sample(TABLE, n=20, by="label", each=True)
    assert Counter(row["label"] for row in drawn) == {"even": 20, "odd": 20}
    assert drawn == [row for row in TABLE if row in drawn]
    few = sample(TABLE, n=60, by="label", each=True)
    assert Counter(row["label"] for row in few) == {"even": 60, "odd": 25}
    with pytest.raises(InvalidOption, match="needs by=COLUMN"):
        sample(TABLE, n=3, each=True)
