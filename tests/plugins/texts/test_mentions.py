"""Mentions: their edges, and the other places of a name."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.texts.mentions import Mention, as_rows, everywhere, from_rows, longest, tidy


def mention(text: str, name: str, kind="person", nth=0) -> Mention:
    start = -1
    for _ in range(nth + 1):
        start = text.index(name, start + 1)
    return Mention(start, start + len(name), name, kind)


def names_and_kinds(mentions) -> list[tuple[str, str]]:
    return [(mention.text, mention.kind) for mention in mentions]


@pytest.mark.parametrize(
    ("given_as", "name"),
    [
        ("Kashvi", "Kashvi"),
        ("Kashvi's", "Kashvi"),
        ("Kashvi’s", "Kashvi"),
        ("“Kashvi”", "Kashvi"),
        ("the Hague,", "Hague"),
        ("Dr. Kashvi Rao", "Kashvi Rao"),
        ("hunter Martinez", "Martinez"),
        ("van Gogh", "van Gogh"),
        ("manchester united", "manchester united"),
        ("St. Petersburg", "St. Petersburg"),
    ],
)
def test_the_edges_of_a_mention_are_trimmed(given_as, name):
    text = f"so {given_as} went"
    tidied = tidy(text, 3, 3 + len(given_as), "person")
    assert tidied.text == name
    assert text[tidied.start : tidied.end] == name


@pytest.mark.parametrize("nothing", ["Dr.", "the", "  ", "'s", "“”"])
def test_a_title_or_punctuation_alone_is_not_a_mention(nothing):
    assert tidy(nothing, 0, len(nothing), "person") is None


def test_a_name_found_once_is_a_mention_in_all_its_places():
    text = "Udit, so Udit's friend said, was Udit."
    again = everywhere(text, [mention(text, "Udit", nth=1)])
    assert [mention.start for mention in again] == [0, 9, 33]


def test_a_name_inside_a_longer_word_is_not_a_mention():
    text = "Ann saw Anna in Annapolis"
    assert names_and_kinds(everywhere(text, [mention(text, "Ann")])) == [("Ann", "person")]


def test_parts_of_a_full_name_are_mentions_too():
    text = "Dr. Kate Powell slept. Powell woke Kate, the Powells' hope."
    assert names_and_kinds(everywhere(text, [mention(text, "Kate Powell")])) == [
        ("Kate Powell", "person"),
        ("Powell", "person"),
        ("Kate", "person"),
    ]


def test_parts_of_a_place_are_not_mentions():
    text = "New York is New to me"
    assert names_and_kinds(everywhere(text, [mention(text, "New York", "place")])) == [
        ("New York", "place")
    ]


def test_a_name_gets_its_most_frequent_kind():
    text = "Amazon, Amazon and Amazon"
    kinds = ["place", "organisation", "organisation"]
    given_as = [mention(text, "Amazon", kind, nth) for nth, kind in enumerate(kinds)]
    assert names_and_kinds(everywhere(text, given_as)) == [("Amazon", "organisation")] * 3


def test_the_longest_of_overlapping_mentions_is_kept():
    text = "New York City"
    short, long = mention(text, "York", "place"), mention(text, "New York City", "place")
    assert longest([short, long]) == [long]


def test_without_mentions_no_other_places_are_found():
    assert everywhere("Udit", []) == []


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), max_size=6))
def test_mentions_never_overlap_and_equal_the_text_at_their_place(text, spans):
    given_as = [
        Mention(start, start + n, text[start : start + n], "person")
        for start, n in spans
        if start + n <= len(text)
    ]
    again = everywhere(text, given_as)
    assert all(text[m.start : m.end] == m.text for m in again)
    assert all(a.end <= b.start for a, b in itertools.pairwise(again))


def test_mentions_survive_writing_and_reading():
    text = "Mike in Leeds"
    mentions = [mention(text, "Mike"), mention(text, "Leeds", "place")]
    assert from_rows(text, as_rows(mentions)) == mentions


def test_a_name_is_not_found_inside_a_word_with_vowel_signs():
    text = "राम और रामा"
    assert everywhere(text, [mention(text, "राम")]) == [mention(text, "राम")]
