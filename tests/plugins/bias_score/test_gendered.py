"""The list of gendered words, and pairs of gender-swapped sentences."""

from __future__ import annotations

import json

import pytest

from harness.errors import InvalidFile
from harness.plugins.bias_score import gendered, sentence_pairs
from harness.plugins.bias_score.gendered import Gendered
from harness.registry.registry import Registry


@pytest.fixture(scope="module")
def listed():
    return gendered.of_concept(Registry().concept("gender"))


def mask(listed, text):
    return listed.mask(text).tolist()


def test_gendered_words_are_matched_in_any_case_and_in_compounds(listed):
    assert mask(listed, "She met the Women's sister-in-law, a nurse.") == [
        *(True, False, False, True, False, True, False, False, False, False)
    ]


def test_a_name_is_matched_only_with_a_capital_letter(listed):
    names = Gendered(frozenset()).joined(names=["Will", "Rose"])
    assert mask(names, "Will it rise? Rose will.") == [
        True,
        False,
        False,
        False,
        True,
        False,
        False,
    ]
    assert mask(listed, "Mary and john") == [True, False, False]


def test_jobs_and_function_words_are_neutral(listed):
    assert not any(mask(listed, "The nurse and the engineer play football with a pink dress."))


def test_the_list_of_another_concept_has_its_own_words():
    religion = gendered.of_concept(Registry().concept("religion"))
    assert mask(religion, "a woman in a church") == [False, False, False, False, True]


def test_lists_are_read_from_lines_and_from_json(tmp_path):
    lines, array = tmp_path / "a.txt", tmp_path / "b.json"
    lines.write_text("duchess\n\nDuke\n")
    people = [{"word": "abbess", "gender": "f"}, {"word": "adult", "gender": "n"}]
    array.write_text(json.dumps(["he", ["she", "her"], *people]))
    assert gendered.read_words(lines) == ["duchess", "Duke"]
    assert gendered.read_words(array) == ["he", "she", "her", "abbess"]


def test_the_most_frequent_names_are_used(tmp_path):
    path = tmp_path / "yob.txt"
    path.write_text("Mary,F,10\nJohn,M,30\nKim,F,6\nKim,M,5\n")
    assert gendered.read_names(path, most=2) == ["John", "Kim"]
    assert gendered.read_names(path) == ["John", "Kim", "Mary"]


def test_an_invalid_list_is_reported_with_file_and_line(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("Mary,F,10\nJohn,M,many\n")
    with pytest.raises(InvalidFile, match=r"names\.csv:2: .*'many'"):
        gendered.read_names(path)
    path = tmp_path / "words.json"
    path.write_text("[1, 2]")
    with pytest.raises(InvalidFile, match=r"words\.json: .*array"):
        gendered.read_words(path)


def test_the_125_built_in_pairs_differ_in_gender_alone():
    pairs = sentence_pairs.shipped()
    assert len(pairs.first) == len(set(pairs.first)) == 125
    assert sentence_pairs.swapped(pairs.first[:100]).second == pairs.second[:100]


def test_swapped_sentences_have_the_side_of_the_first():
    pairs = sentence_pairs.swapped(["He sings.", "Rain falls.", "She met her father.", "He sings."])
    assert pairs.first == ["He sings.", "She met her father."]
    assert pairs.second == ["She sings.", "He met his mother."]
    assert pairs.orientation.tolist() == [-1, 1]
