"""Résumés with names and queries, from a JSON object."""

from __future__ import annotations

import json

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.applications import applications

CONTENT = {
    "names": {
        "men": {"W": ["ADAM WEISS", "AIDAN WEISS", "ALEC KRAMER"], "B": ["AKEEM WARE"]},
        "women": {"W": ["ABBY WEISS"], "B": ["AMARI WARE", "EBONY MACK"]},
    },
    "resumes": {"cook": ["{name}\ncooks", "A cook, {name}"], "pilot": ["{name} flies"]},
}
OPTIONS = {"queries": (("cook", ("a cook", "cook wanted")),), "groups": ("race",)}


def rows_of(content=None, **options):
    lines = [{"line": line} for line in json.dumps(content or CONTENT, indent=1).splitlines()]
    return applications(lines, **OPTIONS | options)


def test_each_name_stands_in_each_resume_with_each_query():
    rows = rows_of(queries=(("pilot", ("a pilot",)), ("cook", ("a cook", "cook wanted"))))
    assert len(rows) == 7 * (1 + 2 * 2)
    assert rows[-1] == {
        "text": "A cook, Ebony Mack" if rows[-1]["name"] == "Ebony Mack" else "A cook, Amari Ware",
        "query": "cook wanted",
        "name": rows[-1]["name"],
        "occupation": "cook",
        "race": "B",
        "gender": "women",
        "group": 1,
        "job": 1,
        "screening": 4,
        "unit": rows[-1]["unit"],
    }
    for screening in range(5):
        of = [row for row in rows if row["screening"] == screening]
        assert len({row["text"].replace(row["name"], "") for row in of}) == 1
        assert len({row["query"] for row in of}) == 1
        assert len(of) == 7


def test_names_of_a_group_with_one_surname_are_one_unit():
    units = {row["name"]: row["unit"] for row in rows_of()}
    assert len(set(units.values())) == 4
    assert units["Adam Weiss"] == units["Aidan Weiss"] == units["Abby Weiss"]
    units = {row["name"]: row["unit"] for row in rows_of(groups=("gender",))}
    assert units["Adam Weiss"] == units["Aidan Weiss"] != units["Abby Weiss"]
    both = rows_of(groups=("race", "gender"))
    groups = {(row["race"], row["gender"]): row["group"] for row in both}
    assert sorted(groups.values()) == [0, 1, 2, 3]


def test_of_few_names_each_surname_comes_once_first():
    men = {row["name"] for row in rows_of(names=2) if row["race"] == "W" and row["gender"] == "men"}
    assert len({name.split()[1] for name in men}) == len(men) == 2
    turned = json.loads(json.dumps(CONTENT))
    turned["names"]["men"]["W"].reverse()
    assert rows_of(turned, names=2) == rows_of(names=2), "the order of the file is not the rule"
    assert len(rows_of(resumes=1)) == 7 * 2
    assert {row["text"] for row in rows_of(resumes=1)} >= {"Ebony Mack cooks"}, "in one line"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"groups": ("age",)}, "choose of race, gender"),
        ({"groups": ()}, "choose of race, gender"),
        ({"names": 0}, "names=0"),
        ({"resumes": 0}, "resumes=0"),
        ({"queries": (("cooks", ("a cook",)),)}, "unknown occupation 'cooks'.*cook"),
        ({"content": {"names": {}}}, "JSON object"),
        ({"content": {"names": {}, "resumes": {"cook": ["no name"]}}}, "lacks"),
    ],
)
def test_mistakes_are_told_in_one_line(options, match):
    with pytest.raises(InvalidOption, match=match) as caught:
        rows_of(**options)
    assert "\n" not in str(caught.value)
