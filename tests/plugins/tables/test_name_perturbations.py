"""Perturbed texts: new names from the list, the same text, reproducible draws."""

from __future__ import annotations

import re

import pytest

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


def test_each_text_has_twenty_perturbations_with_its_row_and_number(known_names):
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
def test_only_people_or_only_countries_are_replaced(known_names, what, stays):
    rows = perturbed(known_names, PLOT, what=what)
    assert all(stays in row["text"] for row in rows)
    assert len({row["text"] for row in rows}) > 15


def test_names_are_drawn_from_the_chosen_group(known_names):
    for row in perturbed(known_names, "Mike slept.", people="people_india", k=50):
        assert row["text"].removesuffix(" slept.") in NAMES["people_india"]


def test_two_people_never_get_the_same_name(known_names):
    rows = perturbed(known_names, PLOT, people="people_spain", k=200, what="people")
    for row in rows:
        assert len(set(re.findall(r"^\S+|\S+(?=\.$)", row["text"]))) == 2


def test_draws_depend_only_on_the_text_and_the_seed(known_names):
    alone = perturbed(known_names, PLOT, k=3)
    assert [row["text"].split()[0] for row in alone] == ["Bhavna", "Kenneth", "Andreas"]
    beside = perturbed(known_names, "Kate slept.", PLOT, k=3)[3:]
    assert [row["text"] for row in beside] == [row["text"] for row in alone]
    longer = perturbed(known_names, PLOT, k=5)
    assert longer[:3] == alone
    other_seed = perturbed(known_names, PLOT, k=3, seed=1)
    assert [row["text"] for row in other_seed] != [row["text"] for row in alone]


def test_texts_without_names_to_replace_are_left_out(known_names):
    assert perturbed(known_names, "It rained in Paris.", what="both") == []
    assert perturbed(known_names, "Mike slept.", what="countries") == []
