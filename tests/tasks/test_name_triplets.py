"""Facts on the marked texts of the name triplets: which names there are, and that nothing is left.

The ten of the paper are as printed; the 105 of name-triplets-world are our own.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from harness import tasks
from harness.plugins.texts import marks
from harness.registry.registry import Registry

COLUMNS = ("query", "positive", "negative")


def rows(file: str) -> list[dict[str, str]]:
    text = (Path(tasks.__file__).parent / "names" / file).read_text("utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


WORLD = rows("name_triplets_world.tsv")
BOTH = [*rows("name_triplets.tsv"), *WORLD]


def test_there_are_more_than_a_hundred_triplets_on_as_many_subjects():
    assert len(WORLD) == 105
    assert len({row["query"] for row in WORLD}) == len(WORLD)
    assert len({row["topic"] for row in WORLD}) >= 95


def test_people_are_of_87_countries_and_no_country_has_more_than_a_few():
    of = Counter(row[c] for row in WORLD for c in ("query_people", "positive_people"))
    del of["-"]
    assert len(of) == 87
    assert max(of.values()) <= 4


def test_people_places_and_organisations_have_a_share_each():
    about = Counter()
    for row in WORLD:
        about.update({mention.kind for mention in marks.read(row["query"]).mentions})
    assert set(about) == {"person", "place", "organisation"}
    assert min(about.values()) >= 30


def test_the_ten_have_89_names_in_all():
    texts = [row[column] for row in rows("name_triplets.tsv") for column in COLUMNS]
    assert sum(len(marks.read(text).mentions) for text in texts) == 89


@pytest.mark.parametrize("row", WORLD, ids=lambda row: row["topic"].replace(" ", "-"))
def test_a_triplet_has_other_names_in_the_positive_and_the_query_s_in_the_negative(row):
    query, positive, negative = (marks.read(row[column]) for column in COLUMNS)
    assert set(query.names) == set(positive.names)
    assert negative.names.items() <= query.names.items()
    assert negative.names
    assert not set(query.names.values()) & set(positive.names.values())
    for text in (query, positive, negative):
        assert len(set(text.names.values())) == len(text.names)
        assert all(
            text.names[role] == m.text for role, m in zip(text.roles, text.mentions, strict=True)
        )


@pytest.mark.parametrize("row", BOTH, ids=lambda row: row["query"][:20])
def test_every_place_of_a_name_is_marked(row):
    for column in COLUMNS:
        bare = re.sub(r"\[[^\]]+\]", "", row[column])
        for name in marks.read(row[column]).names.values():
            assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", bare), row[column]


@pytest.mark.parametrize("task", ["name-triplets", "name-triplets-world"])
def test_no_scenario_has_marks_in_its_texts(task):
    for scenario in Registry().task(task).scenarios:
        for item in scenario.inputs.values():
            assert not any(re.search(r"[\[\]|]", text) for text in item.texts)
