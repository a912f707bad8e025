"""Perturbed texts differ in names alone, all names are the list's, and draws stay what they are."""

from __future__ import annotations

import re

import pytest

from harness.errors import InvalidOption, Unavailable
from harness.plugins.tables.name_perturbations import name_perturbations
from harness.registry.registry import Registry

PLOT = (
    "Mike has been living in Belgium for five years. Mike spent most of his money on his brother "
    "Donald."
)
CONCEPT = Registry().concept("names")
NAMES = CONCEPT.names


def perturbed(model, *texts, **options):
    rows = [{"text": text} for text in texts]
    return name_perturbations(rows, model=model, **{"concept": CONCEPT} | options)


def test_each_text_is_perturbed_twenty_times_and_knows_where_it_is_from(known_names):
    rows = perturbed(known_names, "It rained.", PLOT, "Mike slept.")
    assert [(row["row"], row["perturbation"]) for row in rows] == [
        (text, i) for text in (1, 2) for i in range(20)
    ]
    assert len({row["text_id"] for row in rows}) == 2
    assert all(row["text_id"] < 2**53 for row in rows)


def test_names_are_drawn_without_replacement_and_nothing_else_changes(known_names):
    pattern = re.compile(
        r"(.+) has been living in (.+) for five years\. (.+) spent most of his money on his "
        r"brother (.+)\."
    )
    for row in perturbed(known_names, PLOT):
        mike, country, again, donald = pattern.fullmatch(row["text"]).groups()
        assert mike == again != donald
        assert {mike, donald} <= set(NAMES["people"])
        assert country in NAMES["countries"]


@pytest.mark.parametrize(("what", "stays"), [("people", "Belgium"), ("countries", "Mike")])
def test_people_or_countries_alone(known_names, what, stays):
    rows = perturbed(known_names, PLOT, what=what)
    assert all(stays in row["text"] for row in rows)
    assert len({row["text"] for row in rows}) > 15


def test_names_may_be_those_of_one_country(known_names):
    for row in perturbed(known_names, "Mike slept.", people="people_india", k=50):
        assert row["text"].removesuffix(" slept.") in NAMES["people_india"]


def test_no_name_stands_for_two_where_the_list_is_as_long_as_the_text_needs(known_names):
    rows = perturbed(known_names, PLOT, people="people_spain", k=200, what="people")
    for row in rows:
        assert len(set(re.findall(r"^\S+|\S+(?=\.$)", row["text"]))) == 2


def test_draws_are_the_same_always_and_depend_on_the_text_and_seed_alone(known_names):
    alone = perturbed(known_names, PLOT, k=3)
    assert [row["text"].split()[0] for row in alone] == ["Bhavna", "Kenneth", "Andreas"]
    beside = perturbed(known_names, "Kate slept.", PLOT, k=3)[3:]
    assert [row["text"] for row in beside] == [row["text"] for row in alone]
    longer = perturbed(known_names, PLOT, k=5)
    assert longer[:3] == alone
    other = perturbed(known_names, PLOT, k=3, seed=1)
    assert [row["text"] for row in other] != [row["text"] for row in alone]


def test_what_names_nobody_is_left_out(known_names):
    assert perturbed(known_names, "It rained in Paris.", what="both") == []
    assert perturbed(known_names, "Mike slept.", what="countries") == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"k": 0}, "k=0"),
        ({"people": "people_franc"}, "'people_franc'.*'people_france'"),
        ({"column": "txt"}, "'txt'"),
    ],
)
def test_what_cannot_be_drawn_is_told(known_names, options, told):
    with pytest.raises(InvalidOption, match=told):
        perturbed(known_names, PLOT, **options)


def test_a_pipeline_that_is_not_there_is_told():
    with pytest.raises(Unavailable, match="spaCy"):
        perturbed("no_such_pipeline", PLOT)
