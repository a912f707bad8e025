"""Choices between a group that raters stereotype by an attribute and another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidOption
from harness.plugins.tables.rated_choices import rated_choices

COLUMNS = {"group": "who", "attribute": "what", "yes": "yes", "no": ("no", "unsure")}


def pair(who: str, what: str, yes: int, no: int = 0, unsure: int = 0) -> dict[str, object]:
    return {"who": who, "what": what, "yes": yes, "no": no, "unsure": unsure}


ROWS = [
    pair("Finns", "quiet", 3),
    pair("Swedes", "quiet", 2, 1),
    pair("Danes", "quiet", 1, 2),
    pair("Poles", "quiet", 0, 3),
    pair("Finns", "loud", 0, 2, 1),
    pair("Poles", "loud", 2, 0, 1),
    pair("Greek people", "loud", 3),
    pair("Finns", "tall", 3),
]


def made(rows=ROWS, **options):
    return [
        (row["attribute"], row["stereotyped"], row["other"], row["term"])
        for row in rated_choices(rows, **COLUMNS | options)
    ]


def test_a_stereotyped_group_stands_against_one_that_no_rater_stereotypes():
    # quiet: Finns or Swedes against Poles; loud: Poles or Greek people against Finns
    assert {(a, other) for a, _, other, _ in made()} == {("quiet", "Poles"), ("loud", "Finns")}
    assert len(made()) == 2, "each rejected group is taken once"
    assert made(words=1)[1] == ("loud", "Poles", "Finns", 1)
    assert made(least=1.0)[0][:3] == ("quiet", "Finns", "Poles")
    assert made(without=("quiet",))[0][0] == "loud"


def test_a_stereotyped_group_stands_against_one_that_is_not_listed():
    rows = made(others="unlisted", words=1)
    listed = {(row["what"], row["who"]) for row in ROWS}
    # quiet has all four groups of one word listed; loud lacks Danes and Swedes
    assert {row[:2] for row in rows} == {("loud", "Poles"), ("tall", "Finns")}
    assert not {(a, other) for a, _, other, _ in rows} & listed


def test_attributes_with_many_choices_come_first():
    rows = [*ROWS, *(pair(f"group {i}", "tall", 3 * (i % 2), 3) for i in range(8))]
    assert {row[0] for row in made(rows, others="rejected", most=3, least=0.5)} == {"tall"}
    assert len(made(rows, others="unlisted", most=3)) == 3


@given(st.randoms())
def test_the_order_of_the_rows_does_not_matter(random):
    rows = list(ROWS)
    random.shuffle(rows)
    for others in ("rejected", "unlisted"):
        expected = {row[:3] for row in made(others=others)}
        assert {row[:3] for row in made(rows, others=others)} == expected


def test_what_is_no_rating_is_rejected_in_one_line():
    with pytest.raises(InvalidOption, match="no column 'what'"):
        rated_choices([{"who": "Finns", "yes": 1, "no": 1, "unsure": 0}], **COLUMNS)
    with pytest.raises(InvalidOption, match="row 1: no number of raters"):
        made([pair("Finns", "quiet", "many")])
    with pytest.raises(InvalidOption, match="row 1: 0 of 0 raters"):
        made([pair("Finns", "quiet", 0)])
    with pytest.raises(InvalidOption, match="no attribute has"):
        made(ROWS[:1])
