"""Slots of names in a text, and other names in them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.tables.slots import COUNTRIES, slots
from harness.plugins.texts.mentions import Mention
from harness.registry.registry import Registry


def mentions(text: str, **names: str) -> list[Mention]:
    """Return the mentions of the names, separated by `|`; longer names take precedence."""
    name_slots, taken = [], set()
    kinds = {name: kind for kind, of_kind in names.items() for name in of_kind.split("|")}
    for name in sorted(kinds, key=len, reverse=True):
        for match in re.finditer(re.escape(name), text):
            positions = set(range(*match.span()))
            if not positions & taken:
                taken |= positions
                name_slots.append(Mention(*match.span(), name, kinds[name]))
    return name_slots


def test_names_are_replaced_at_once_and_none_twice():
    text = "Mike told his brother Donald that Mike was rich."
    name_slots = slots(text, mentions(text, person="Mike|Donald"))
    filled = name_slots.filled(text, ["Donald", "Shawn"], [])
    assert filled == "Donald told his brother Shawn that Donald was rich."


def test_text_after_a_name_is_kept():
    text = "Mike's Belgium, Mike?"
    name_slots = slots(text, mentions(text, person="Mike", place="Belgium"))
    assert name_slots.filled(text, ["Dwayne"], ["Peru"]) == "Dwayne's Peru, Dwayne?"


def test_a_part_of_a_name_is_the_only_person_with_that_part():
    text = "Kate Powell met Ben Powell. Kate smiled at Powell; Kate Anne Powell sang."
    name_slots = slots(
        text, mentions(text, person="Kate Anne Powell|Kate Powell|Ben Powell|Kate|Powell")
    )
    # Powell may be either of two, so it is a separate person
    assert name_slots.filled(text, ["Ada", "Bob", "Cem"], []) == (
        "Ada met Bob. Ada smiled at Cem; Ada sang."
    )


def test_a_country_is_replaced_with_its_article_and_other_places_are_kept():
    text = "From the Gambia to the U.S., Belgium and Paris; Bathe Gambia."
    name_slots = slots(text, mentions(text, place="Gambia|U.S.|Belgium|Paris"))
    assert name_slots.filled(text, [], ["Peru", "Chad", "Fiji"]) == (
        "From Peru to Chad, Fiji and Paris; Bathe Peru."
    )


def test_a_person_with_the_name_of_a_country_is_a_person():
    text = "Jordan left."
    name_slots = slots(text, mentions(text, person="Jordan"))
    assert (len(name_slots.people), len(name_slots.countries)) == (1, 0)


@given(st.lists(st.sampled_from(["Ann", "Bo", "Cy Lee", "Peru", "ran", "to"]), max_size=12))
def test_a_text_filled_with_its_own_names_is_unchanged(words):
    text = " ".join(words)
    name_slots = slots(text, mentions(text, person="Ann|Bo|Cy Lee", place="Peru"))
    people, countries = (
        [text[slice(*spans[0])] for spans in of_kind]
        for of_kind in (name_slots.people, name_slots.countries)
    )
    assert name_slots.filled(text, people, countries) == text
    assert set(people) == {"Ann", "Bo", "Cy Lee"} & set(words)


def test_the_countries_of_the_concept_are_known_countries():
    assert set(Registry().concept("names").names["countries"]) <= COUNTRIES
    assert "" not in COUNTRIES
    assert all(name == name.strip() for name in COUNTRIES)


@pytest.mark.parametrize("name", ["United States", "Spain", "England", "Côte d'Ivoire"])
def test_countries_missing_from_the_published_list_are_known(name):
    assert name in COUNTRIES
