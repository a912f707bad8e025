"""Facts about the marked texts of the name triplets: their names, and that every name is marked.

The ten of the paper are as printed; the 105 of name-triplets-world are our own.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

from harness import tasks
from harness.plugins.texts import marks

COLUMNS = ("query", "positive", "negative")


def rows(file: str) -> list[dict[str, str]]:
    text = (Path(tasks.__file__).parent / "names" / file).read_text("utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


WORLD = rows("name_triplets_world.tsv")
BOTH = [*rows("name_triplets.tsv"), *WORLD]


def test_people_come_from_87_countries_with_at_most_four_texts_each():
    countries = Counter(row[c] for row in WORLD for c in ("query_people", "positive_people"))
    del countries["-"]
    assert len(countries) == 87
    assert max(countries.values()) <= 4


def test_people_places_and_organisations_each_occur_in_30_queries():
    kinds = Counter()
    for row in WORLD:
        kinds.update({mention.kind for mention in marks.read(row["query"]).mentions})
    assert set(kinds) == {"person", "place", "organisation"}
    assert min(kinds.values()) >= 30


def test_the_positive_has_other_names_than_the_query_and_the_negative_the_same():
    for row in WORLD:
        query, positive, negative = (marks.read(row[column]) for column in COLUMNS)
        assert set(query.names) == set(positive.names), row
        assert negative.names, row
        assert negative.names.items() <= query.names.items(), row
        assert not set(query.names.values()) & set(positive.names.values()), row
        for text in (query, positive, negative):
            assert len(set(text.names.values())) == len(text.names), row
            mentions = zip(text.roles, text.mentions, strict=True)
            assert all(text.names[role] == mention.text for role, mention in mentions), row


def test_every_occurrence_of_a_name_is_marked():
    for row in BOTH:
        for column in COLUMNS:
            bare = re.sub(r"\[[^\]]+\]", "", row[column])
            for name in marks.read(row[column]).names.values():
                assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", bare), row[column]
