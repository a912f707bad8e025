"""The words and names of counterfactual sentences: one to one, and swapped back."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.bias_score import gendered
from harness.plugins.corpora import fair_corpora
from harness.plugins.corpora.fair_corpora import make_swapper
from harness.registry.registry import Registry

WORDS = [word for pair in fair_corpora.gender_words() for word in pair]
SURE = [
    name
    for pair in fair_corpora.names_of_people().pairs
    for name in pair
    if not fair_corpora.names_of_people().ambiguous.intersection(pair)
]
SWAPPER = make_swapper("rule")


def test_each_word_and_name_is_in_one_pair():
    names = [name for pair in fair_corpora.names_of_people().pairs for name in pair]
    assert len(names) == 2 * fair_corpora.NAMES
    assert max(Counter([*WORDS, *map(str.lower, names)]).values()) == 1
    assert fair_corpora.names_of_people().ambiguous <= set(names)
    assert {"Will", "Rose", "May", "Paris"} <= fair_corpora.names_of_people().ambiguous
    assert len(WORDS) >= 122  # Dolci et al. 2023, section 4.2.2


def test_the_words_are_in_the_list_of_gendered_words():
    known = gendered.of_concept(Registry().concept("gender")).words
    assert set(WORDS) - known <= {word for pair in fair_corpora.FURTHER for word in pair}


@given(st.lists(st.sampled_from([*WORDS, *SURE, "nurse", "the", "runs", "her old", "him to"])))
def test_swapping_twice_gives_the_sentence_back(words):
    """Pronouns here are those that the rule decides alike: `her old` and `his old`."""
    text = " ".join(words)
    assert SWAPPER.swap(SWAPPER.swap(text)) == text


@given(st.lists(st.sampled_from(WORDS), min_size=1), st.sampled_from([str.upper, str.capitalize]))
def test_capitals_are_kept(words, written):
    text = " ".join(written(word) for word in words)
    swapped = SWAPPER.swap(text)
    assert swapped != text
    assert SWAPPER.swap(swapped) == text


def test_names_have_the_same_rank_among_the_files_of_the_social_security_administration():
    folder = os.environ.get("HARNESS_DATA")
    if not folder:
        pytest.skip("HARNESS_DATA is not set")
    counts = Counter()
    for path in Path(folder).glob("names/ssa_yob*.txt"):
        for line in path.read_text().splitlines():
            name, sex, count = line.split(",")
            counts[name, sex] += int(count)
    for sex, names in zip(
        "FM", zip(*fair_corpora.names_of_people().pairs, strict=True), strict=True
    ):
        frequencies = [counts[name, sex] for name in names]
        assert frequencies == sorted(frequencies, reverse=True)
        assert all(counts[name, sex] >= counts[name, "MF"["FM".index(sex)]] for name in names)
        left_out = {name for name, s in counts if s == sex} - set(names)
        more = [name for name in left_out if counts[name, sex] > frequencies[-1]]
        other = "M" if sex == "F" else "F"
        own = [name for name in more if counts[name, sex] > counts[name, other]]
        assert len(own) < 20, sorted(own)  # King, Guy, Unknown, Baby
