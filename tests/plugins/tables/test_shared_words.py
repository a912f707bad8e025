"""What two sentences share, texts with a word left out, and rows of a JSON list."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.json_rows import json_rows
from harness.plugins.tables.left_out import left_out
from harness.plugins.tables.shared_words import shared_words


def parts(first: str, second: str, units="words"):
    (row,) = shared_words([{"a": first, "b": second}], first="a", second="b", units=units)
    return row["shared"], row["only_first"], row["only_second"]


def test_the_words_that_both_and_that_one_sentence_has():
    assert parts("The cats like old fish.", "The dogs like new fish.") == (
        "The like fish.",
        "cats old",
        "dogs new",
    )


def test_japanese_is_cut_where_the_script_changes():
    assert parts("彼はコーヒーを飲む。", "彼女はコーヒーを飲む。", "scripts") == (
        "はコーヒーを飲む。",
        "彼",
        "彼女",
    )


def test_a_pair_has_the_same_number_either_way_round_in_any_case():
    rows = [{"a": "Cats sleep", "b": "Dogs sleep"}, {"a": "I like dogs.", "b": "I like cats."},
            {"a": "Birds sleep", "b": "Dogs sleep"}]  # fmt: skip
    assert [row["pair"] for row in shared_words(rows, first="a", second="b")] == [0, 0, 1]


def test_pairs_of_which_a_part_is_empty_are_left_out():
    kept = {"a": "one two", "b": "one three"}
    rows = [{"a": "a b", "b": "a b"}, {"a": "a b", "b": "a"}, {"a": "a", "b": "b"}, kept]
    (row,) = shared_words(rows, first="a", second="b")
    assert row["a"] == "one two"
    with pytest.raises(InvalidOption, match="no two sentences"):
        shared_words(rows[:3], first="a", second="b")


def test_a_blank_is_left_out_with_its_space():
    rows = [{"text": "The BLANK cat sleeps."}, {"text": "It is BLANK."}, {"text": "BLANK, he said"}]
    rests = [row["rest"] for row in left_out(rows, column="text", word="BLANK")]
    assert rests == ["The cat sleeps.", "It is.", ", he said"]


def test_json_rows_are_the_objects_of_a_list():
    lines = [{"line": "["}, {"line": '{"a": "x", "b": 1},'}, {"line": '{"a": "y"}'}, {"line": "]"}]
    assert json_rows(lines) == [{"a": "x", "b": 1}, {"a": "y"}]


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[1]", "3"])
def test_what_is_no_list_of_objects_is_a_mistake(text):
    with pytest.raises(InvalidOption, match="JSON list of objects"):
        json_rows([{"line": text}])
