"""Lines that begin with a label."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.labelled_lines import labelled_lines


def test_the_label_ends_at_the_first_space():
    rows = [{"line": "1 a film  for 2 "}, {"line": "0 dull"}]
    assert labelled_lines(rows) == [
        {"label": "1", "text": "a film  for 2"},
        {"label": "0", "text": "dull"},
    ]


def test_a_label_without_a_text_is_left_out():
    assert labelled_lines([{"line": "0 "}, {"line": "1"}, {"line": "1 x"}]) == [
        {"label": "1", "text": "x"}
    ]


def test_another_mark_separates_and_other_columns_stay():
    rows = [{"src": "Fix this: A time: ten.", "n": 1}, {"src": "No mark", "n": 2}]
    found = labelled_lines(rows, column="src", mark=": ")
    assert found == [{"n": 1, "label": "Fix this", "text": "A time: ten."}]
    with pytest.raises(InvalidOption, match="mark: must not be empty"):
        labelled_lines(rows, column="src", mark="")
