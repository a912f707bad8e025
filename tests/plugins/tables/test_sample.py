"""A sample of rows is the same always and keeps the proportions of a column."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidOption
from harness.plugins.tables.sample import sample

TABLE = [{"text": f"text {i}", "label": "even" if i % 4 else "odd"} for i in range(100)]


def test_the_same_rows_are_drawn_whatever_library_draws_them():
    assert [row["text"] for row in sample(TABLE, n=4)] == [
        "text 45",
        "text 56",
        "text 91",
        "text 93",
    ]


def test_shares_stay_and_order_stays():
    drawn = sample(TABLE, n=20, by="label")
    assert Counter(row["label"] for row in drawn) == {"even": 15, "odd": 5}
    assert drawn == [row for row in TABLE if row in drawn]


@given(st.integers(1, 120), st.integers(0, 5), st.lists(st.sampled_from("abc"), min_size=1))
def test_as_many_rows_as_asked_each_value_within_one_of_its_share(n, seed, labels):
    rows = [{"label": label, "text": i} for i, label in enumerate(labels)]
    drawn = sample(rows, n=n, by="label", seed=seed)
    assert len(drawn) == min(n, len(rows))
    for label, size in Counter(labels).items():
        share = len(drawn) * size / len(rows)
        assert abs(sum(row["label"] == label for row in drawn) - share) < 1


def test_the_order_of_the_rows_does_not_decide_and_the_seed_does():
    drawn = sample(TABLE, n=30)
    key = str
    assert sorted(sample(TABLE[::-1], n=30), key=key) == sorted(drawn, key=key)
    assert sample(TABLE, n=30, seed=1) != drawn


def test_without_a_number_all_rows_stay():
    assert sample(TABLE) == TABLE
    assert sample(TABLE, n=1000, by="label") == TABLE


@pytest.mark.parametrize("options", [{"n": 0}, {"n": 3, "by": "colour"}])
def test_what_cannot_be_drawn_is_refused(options):
    with pytest.raises(InvalidOption, match=next(reversed(options))):
        sample(TABLE, **options)
