"""Words of a column as integer codes."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.codes import codes

ROWS = [{"text": "a", "group": "male"}, {"text": "b", "group": "female"}, {"text": "c", "group": 1}]
VALUES = ("female", "male", "1")


def test_a_word_becomes_its_index_in_the_list():
    assert [row["code"] for row in codes(ROWS, column="group", values=VALUES)] == [1, 0, 2]


def test_other_cells_are_kept_and_the_new_column_has_the_chosen_name():
    row = codes(ROWS, column="group", values=VALUES, into="of")[0]
    assert row == {"text": "a", "group": "male", "of": 1}
    assert "of" not in ROWS[0]


def test_without_a_list_words_have_codes_as_they_come_from_any_first_code():
    rows = [{"term": word} for word in ("b", "a", "b", "c")]
    assert [row["code"] for row in codes(rows, column="term")] == [0, 1, 0, 2]
    assert [row["code"] for row in codes(rows, column="term", start=10)] == [10, 11, 10, 12]


def test_words_may_have_chosen_numbers_and_share_one():
    numbers = (1.0, 0.0, 0.0)
    rows = codes(ROWS, column="group", values=VALUES, numbers=numbers)
    assert [row["code"] for row in rows] == [0, 1, 0]
    with pytest.raises(InvalidOption, match="2 'numbers' for 3 'values'"):
        codes(ROWS, column="group", values=VALUES, numbers=(1.0, 0.0))


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"column": "groups", "values": VALUES}, "'groups'.*'group'"),
        ({"column": "group", "values": ("femal", "male")}, "row 2.*'female'"),
        ({"column": "group", "values": ("male", "male")}, "'male'"),
    ],
)
def test_invalid_options_are_rejected(options, fact):
    with pytest.raises(InvalidOption, match=fact):
        codes(ROWS, **options)
