"""Names of a text are told apart, and filled anew all at once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.tables.slots import COUNTRIES, slots
from harness.plugins.texts.mentions import Mention
from harness.registry.registry import Registry


def mentions(text: str, **names: str) -> list[Mention]:
    """Mentions of these names, `|` between them, wherever they stand, longest first."""
    found, taken = [], set()
    kinds = {name: kind for kind, of_kind in names.items() for name in of_kind.split("|")}
    for name in sorted(kinds, key=len, reverse=True):
        for match in re.finditer(re.escape(name), text):
            places = set(range(*match.span()))
            if not places & taken:
                taken |= places
                found.append(Mention(*match.span(), name, kinds[name]))
    return found


def test_names_are_put_in_at_once_so_that_none_is_replaced_twice():
    text = "Mike told his brother Donald that Mike was rich."
    found = slots(text, mentions(text, person="Mike|Donald"))
    filled = found.filled(text, ["Donald", "Shawn"], [])
    assert filled == "Donald told his brother Shawn that Donald was rich."


def test_what_follows_a_name_stays():
    text = "Mike's Belgium, Mike?"
    found = slots(text, mentions(text, person="Mike", place="Belgium"))
    assert found.filled(text, ["Dwayne"], ["Peru"]) == "Dwayne's Peru, Dwayne?"


def test_a_part_of_a_name_is_the_person_who_alone_has_it():
    text = "Kate Powell met Ben Powell. Kate smiled at Powell; Kate Anne Powell sang."
    found = slots(
        text, mentions(text, person="Kate Anne Powell|Kate Powell|Ben Powell|Kate|Powell")
    )
    # Powell may be either of two, and is nobody's
    assert found.filled(text, ["Ada", "Bob", "Cem"], []) == (
        "Ada met Bob. Ada smiled at Cem; Ada sang."
    )


def test_a_country_is_replaced_with_its_article_and_other_places_stay():
    text = "From the Gambia to the U.S., Belgium and Paris; Bathe Gambia."
    found = slots(text, mentions(text, place="Gambia|U.S.|Belgium|Paris"))
    assert found.filled(text, [], ["Peru", "Chad", "Fiji"]) == (
        "From Peru to Chad, Fiji and Paris; Bathe Peru."
    )


def test_a_person_called_as_a_country_is_a_person():
    text = "Jordan left."
    found = slots(text, mentions(text, person="Jordan"))
    assert (len(found.people), len(found.countries)) == (1, 0)


@given(st.lists(st.sampled_from(["Ann", "Bo", "Cy Lee", "Peru", "ran", "to"]), max_size=12))
def test_a_text_filled_with_its_own_names_is_as_it_was(words):
    text = " ".join(words)
    found = slots(text, mentions(text, person="Ann|Bo|Cy Lee", place="Peru"))
    people, countries = (
        [text[slice(*spans[0])] for spans in of_kind] for of_kind in (found.people, found.countries)
    )
    assert found.filled(text, people, countries) == text
    assert set(people) == {"Ann", "Bo", "Cy Lee"} & set(words)


def test_without_names_nothing_changes():
    found = slots("It rained.", [])
    assert found.filled("It rained.", [], []) == "It rained."


def test_the_countries_that_are_put_in_are_known_as_such():
    assert set(Registry().concept("names").names["countries"]) <= COUNTRIES
    assert "" not in COUNTRIES
    assert all(name == name.strip() for name in COUNTRIES)


@pytest.mark.parametrize("name", ["United States", "Spain", "England", "Côte d'Ivoire"])
def test_countries_that_the_printed_list_lacks_are_known(name):
    assert name in COUNTRIES
