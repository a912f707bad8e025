"""Table maker `mended-tests`: word lists of association tests, mended by stated rules."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.mended_tests import INPUTS, mended_tests

LISTS = {
    "targets_1": "a|b|c|d",
    "targets_2": "e|f|g|h|i",
    "attributes_1": "j|k|l|m",
    "attributes_2": "n|o|p|q",
}


def rows(test="weat7", language="de", **changed):
    lists = LISTS | changed
    return [
        {"language": language, "test": test, "input": name, "words": lists[name]} for name in INPUTS
    ]


def words(made, name, test="weat7"):
    return [row["text"] for row in made if (row["input"], row["test"]) == (name, test)]


def test_each_word_of_sound_lists_is_a_row_with_the_number_of_its_test():
    made = mended_tests([*rows(), *rows("weat12b")], language="de")
    assert len(made) == 34
    assert words(made, "targets_2") == ["e", "f", "g", "h", "i"]
    assert {(row["test"], row["number"]) for row in made} == {("weat7", 7.0), ("weat12b", 12.5)}


def test_a_repeated_word_counts_once_in_its_first_spelling():
    made = mended_tests(rows(targets_1="Idiot|b|idiot|c|d|IDIOT"))
    assert words(made, "targets_1") == ["Idiot", "b", "c", "d"]


def test_a_word_of_several_lists_is_in_none():
    made = mended_tests(rows(attributes_1="j|k|l|m|su", attributes_2="n|o|p|q|Su"))
    assert words(made, "attributes_1") == ["j", "k", "l", "m"]
    assert words(made, "attributes_2") == ["n", "o", "p", "q"]


def test_a_test_with_fewer_than_four_words_in_a_list_is_left_out():
    made = mended_tests([*rows(), *rows("weat8", attributes_2="n|o|p|p")])
    assert {row["test"] for row in made} == {"weat7"}
    with pytest.raises(InvalidOption, match="no test with 4 words in each list"):
        mended_tests(rows(targets_1="a|b|c"))


def test_a_language_and_tests_are_chosen():
    many = [*rows(), *rows("weat8"), *rows(language="fr", targets_1="r|s|t|u")]
    assert words(mended_tests(many, language="fr"), "targets_1") == ["r", "s", "t", "u"]
    chosen = mended_tests(many, language="de", tests=("weat8",))
    assert {row["test"] for row in chosen} == {"weat8"}


def test_a_correction_replaces_a_word_or_leaves_it_out():
    corrections = (("weat7", "e", "club"), ("weat7", "f", ""), ("weat8", "e", "no"))
    made = mended_tests([*rows(), *rows("weat8")], corrections=corrections)
    assert words(made, "targets_2") == ["club", "g", "h", "i"]
    assert words(made, "targets_2", "weat8") == ["no", "f", "g", "h", "i"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corrections": (("weat7", "z", ""),)}, "weat7 has no word 'z' to correct"),
        ({"corrections": (("weat9", "a", ""),)}, "no test weat9 to correct"),
        ({"tests": ("weat9",)}, "no test weat9"),
        ({"language": "xx"}, "no test of the language 'xx'"),
    ],
)
def test_a_mistaken_option_is_named(options, message):
    with pytest.raises(InvalidOption, match=message):
        mended_tests(rows(), **options)
