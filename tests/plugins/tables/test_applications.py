"""Résumés with names or lines and queries, from a JSON object."""

from __future__ import annotations

import itertools
import json

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.applications import Name, applications, matched_names

CONTENT = {
    "names": {
        "men": {"W": ["ADAM WEISS", "AIDAN WEISS", "ALEC KRAMER"], "B": ["AKEEM WARE"]},
        "women": {"W": ["ABBY WEISS", "ANNA WEISS"], "B": ["AMARI WARE", "EBONY MACK"]},
    },
    "births": {"men": {"ADAM": 10, "AIDAN": 1000, "AKEEM": 900}, "women": {"ABBY": 900}},
    "bearers": {"WEISS": 1000, "WARE": 900},
    "resumes": {
        "cook": ["{name}\ncooks well", "A cook, {name}", "{name} made soups"],
        "pilot": ["{name} flies"],
    },
}
OPTIONS = {"queries": (("cook", ("a cook", "cook wanted")),), "groups": ("race",)}
SECTIONS = (("club", "Club: {text}.", (("chess", "ladies' chess"), ("golf", "ladies' golf"))),)


def rows_of(content=None, **options):
    lines = [{"line": line} for line in json.dumps(content or CONTENT, indent=1).splitlines()]
    return applications(lines, **OPTIONS | options)


def test_each_name_stands_in_each_resume_with_each_query():
    rows = rows_of(queries=(("pilot", ("a pilot",)), ("cook", ("a cook", "cook wanted"))))
    assert len(rows) == 4 * (1 + 3 * 2)
    assert rows[-1] == {
        "text": "Amari Ware made soups",
        "query": "cook wanted",
        "name": "Amari Ware",
        "occupation": "cook",
        "section": "name",
        "place": "own",
        "group": 1,
        "job": 1,
        "screening": 6,
        "unit": 1,
        "kin": 1,
    }
    for screening in range(7):
        of = [row for row in rows if row["screening"] == screening]
        assert len({row["text"].replace(row["name"], "") for row in of}) == 1
        assert len({row["query"] for row in of}) == 1
        assert len(of) == 4
    assert {row["text"] for row in rows_of(resumes=1)} >= {"Amari Ware cooks well"}, "in one line"


def test_names_share_a_surname_with_the_other_gender_and_a_unit_with_their_race():
    codes = {row["name"]: (row["group"], row["unit"], row["kin"]) for row in rows_of()}
    assert codes.keys() == {"Aidan Weiss", "Abby Weiss", "Akeem Ware", "Amari Ware"}
    assert codes["Aidan Weiss"] == codes["Abby Weiss"] == (0, 0, 0)
    assert codes["Akeem Ware"] == codes["Amari Ware"] == (1, 1, 1)
    for groups in (("gender",), ("race", "gender")):
        codes = {row["name"]: (row["unit"], row["kin"]) for row in rows_of(groups=groups)}
        assert len({unit for unit, _ in codes.values()}) == 4
        assert codes["Aidan Weiss"][1] == codes["Abby Weiss"][1] != codes["Akeem Ware"][1]
    both = {row["name"]: row["group"] for row in rows_of(groups=("race", "gender"))}
    assert sorted(both.values()) == [0, 1, 2, 3]


def test_names_are_chosen_by_length_and_frequency_and_none_comes_twice():
    def of(race, gender, surname, first, births):
        return Name(f"{first} {surname}", race, gender, births, 100)

    letters = ("AB", "CDE", "FGHI", "JKLMN")
    names = [
        of(race, gender, f"{race}{surname}", f"{letter}{race if race != 'A' else ''}", births)
        for race, gender in itertools.product("ABC", ("men", "women"))
        for surname in ("ONE", "TWO")
        for letter, births in zip(letters, (10, 100, 1000, 1e4 if race == "B" else 1), strict=True)
    ]
    with pytest.raises(InvalidOption, match="too few names"):
        matched_names(names, names=4)
    chosen = matched_names(names[: len(names) // 3], names=1)
    firsts = [name.first for name in chosen]
    assert len({*firsts}) == len(firsts) == 4
    assert matched_names(names[len(names) // 3 - 1 :: -1], names=1) != [], "in any order"


def test_lines_of_a_section_stand_before_a_resume_of_nobody_and_are_kin_by_tuple():
    rows = rows_of(groups=("gender",), sections=SECTIONS, words=2, resumes=1)
    of = [row for row in rows if row["section"] == "club" and row["query"] == "a cook"]
    assert [row["text"] for row in of] == [
        "Club: chess. Applicant cooks",
        "Club: ladies' chess. Applicant cooks",
        "Club: golf. Applicant cooks",
        "Club: ladies' golf. Applicant cooks",
    ]
    assert [(row["group"], row["kin"]) for row in of] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert len({row["screening"] for row in of}) == 1
    names = [row for row in rows if row["section"] == "name"]
    assert {row["screening"] for row in names}.isdisjoint(row["screening"] for row in of)
    assert {row["kin"] for row in names}.isdisjoint(row["kin"] for row in of)
    assert names[0]["text"] == f"{names[0]['name']} cooks"
    alone = rows_of(groups=(), sections=SECTIONS)
    assert {row["section"] for row in alone} == {"club"}


def test_a_name_stands_at_any_place_of_a_document():
    rows = rows_of(places=("beginning", "middle", "end", "beyond"), line="By {text}.")
    first = {row["place"]: row["text"] for row in reversed(rows) if row["name"] == "Abby Weiss"}
    assert first == {
        "beginning": "By Abby Weiss. Applicant cooks well",
        "middle": "Applicant By Abby Weiss. cooks well",
        "end": "Applicant cooks well By Abby Weiss.",
        "beyond": "Applicant cooks well A cook, Applicant Applicant made soups By Abby Weiss.",
    }
    assert len({(row["place"], row["screening"]) for row in rows}) == 4 * 3 * 2


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"groups": ("age",)}, "choose of race, gender"),
        ({"names": 0}, "names=0"),
        ({"names": 2}, "too few names"),
        ({"sections": (("club", "{text}", (("a", "b"), ("c",))),)}, "section 'club'"),
        ({"queries": (("cooks", ("a cook",)),)}, "unknown occupation 'cooks'.*cook"),
        ({"content": {"names": {}}}, "JSON object"),
        ({"content": CONTENT | {"resumes": {"cook": ["no name"]}}}, "lacks"),
    ],
)
def test_mistakes_are_told_in_one_line(options, match):
    with pytest.raises(InvalidOption, match=match) as caught:
        rows_of(**options)
    assert "\n" not in str(caught.value)
