"""The list of gendered words, and pairs of gender-swapped sentences."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import InvalidFile
from harness.plugins.bias_score import gendered, scorer
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
    pairs = scorer.shipped()
    assert len(pairs.first) == len(set(pairs.first)) == 125
    assert scorer.swapped(pairs.first[:100]).second == pairs.second[:100]


def test_swapped_sentences_have_the_side_of_the_first():
    pairs = scorer.swapped(["He sings.", "Rain falls.", "She met her father.", "He sings."])
    assert pairs.first == ["He sings.", "She met her father."]
    assert pairs.second == ["She sings.", "He met his mother."]
    assert pairs.orientation.tolist() == [-1, 1]


def test_the_long_list_has_409_words_and_5765_names():
    longer = gendered.long_list()
    assert (len(longer.words), len(longer.names)) == (409, gendered.NAMES)
    assert {"abbess", "waiters", "sororal"} <= longer.words
    assert {"mary", "aiden", "kenji"} <= longer.names
    assert not {"unknown", "baby"} & longer.names


def test_with_the_words_of_the_concept_it_is_as_long_as_the_papers_6562_but_for_capitals(listed):
    longer = gendered.long_list()
    both = listed.joined(words=longer.words, names=longer.names)
    assert len(longer.words - listed.words) == 112
    assert (len(both.words), len(both.names)) == (480, gendered.NAMES)
    assert 480 + gendered.NAMES < 6_562 < 2 * 480 + gendered.NAMES  # the paper counts capitals
    assert mask(both, "Kenji met the seamstress") == [True, False, False, True]
    assert mask(listed, "Kenji met the seamstress") == [False] * 4


def test_the_long_list_is_that_of_its_sources():
    folder = Path(os.environ.get("HARNESS_DATA", ""))
    if not (folder / "gender_words" / "male_word_file.txt").is_file():
        pytest.skip("HARNESS_DATA is not set")
    lists = [folder / "gender_words" / f"{sex}_word_file.txt" for sex in ("male", "female")]
    written = {word.strip().lower() for path in lists for word in path.read_text().splitlines()}
    assert gendered.long_list().words == written - {""}
    counts = Counter()
    for path in (folder / "names").glob("ssa_yob*.txt"):
        for name, _, count in csv.reader(path.read_text().splitlines()):
            counts[name] += int(count)
    for entry in ("Unknown", "Unnamed", "Baby", "Infant"):
        counts.pop(entry, None)
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[: gendered.NAMES]
    assert gendered.long_list().names == {name.lower() for name in frequent}
