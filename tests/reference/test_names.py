"""The name-bias paper on all-MiniLM-L6-v2: table 6 exactly, table 1 within 2e-3."""

from __future__ import annotations

import pytest

STORIES = (
    "Alejandro gently examined the injured bird. He gave it food.",
    "Jelani tenderly inspected the wounded bird and gave it a meal to eat.",
    "Alejandro tracked the injured bird. He used it as his food.",
)


@pytest.mark.parametrize(
    ("scenario", "row"),
    [
        ("original", "original"),
        ("identical-names", "identical_names"),
        ("anonymised", "anonymised_by_hand"),
    ],
)
def test_table_6_reproduces_as_printed(scenario, row, scores, minilm, expected):
    measured, printed = expected("minilm.json")["names_table6_auc"][row]
    area = scores("name-triplets", minilm)[scenario]["triplet-auc"]["auc"].value
    assert area == pytest.approx(measured)
    assert area == pytest.approx(printed)


def test_similarities_of_stories_are_those_of_table_1(minilm, expected):
    reference = expected("minilm.json")["names_table1"]
    first, second, third = minilm(STORIES)
    assert first @ second == pytest.approx(reference["s12"], abs=2e-3)
    assert first @ third == pytest.approx(reference["s13"], abs=2e-3)
