"""What follows a mark in a text."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.after_mark import after_mark


def test_what_follows_the_first_mark_is_kept_and_a_text_without_it_stays():
    rows = [{"src": "Fix this: A time: ten.", "n": 1}, {"src": "As it is."}, {"src": "Empty: "}]
    found = after_mark(rows, column="src", mark=": ", into="plain")
    assert [row["plain"] for row in found] == ["A time: ten.", "As it is.", "Empty: "]
    assert found[0]["n"] == 1


def test_a_missing_column_and_an_empty_mark_are_refused():
    with pytest.raises(InvalidOption, match="after-mark: the table has no column 'text'"):
        after_mark([{"src": "a"}], column="text", mark=":")
    with pytest.raises(InvalidOption, match="mark: must not be empty"):
        after_mark([{"text": "a"}], column="text", mark="")
