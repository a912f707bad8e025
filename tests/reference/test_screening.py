"""How all-MiniLM-L6-v2 ranks names, and that docs/tasks.md says so.

All résumés take minutes; the values of the command are kept, and one screening is repeated in part.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.arrays import paired_cosines
from harness.plugins.validity import measuring

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")
SECTION = PAGE.partition("## Screening of résumés")[2].partition("\n## ")[0]
TEXT = " ".join(SECTION.split())
TASKS = ("screening-race", "screening-gender")


def short(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".lstrip("0")


def test_the_page_states_the_values_of_its_command(expected):
    values = expected("screening_minilm.json")
    assert values["command"] in SECTION
    for task in TASKS:
        for score in ("rank_gap", "impact_ratio"):
            row = values[task][score]
            numbers = " | ".join(short(row[name], 3) for name in ("value", "chance", "p"))
            assert re.search(rf"`{task}`, `{score}`, fair at . \| {re.escape(numbers)} \|", SECTION)
    race, gender = (values[task]["percentiles"] for task in TASKS)
    for name in ("Asian", "Hispanic", "White", "Black"):
        assert f"{short(race[name])} for {name}" in TEXT
    assert f"{short(gender['men'])} for men and {short(gender['women'])} for women" in TEXT
    rates = values["screening-gender"]["rates"]
    assert f"in {100 * rates['men']:.1f} % of cases, women in {100 * rates['women']:.1f} %" in TEXT
    white_black = values["screening-race"]["pairs"][0]
    assert white_black["jobs_1"] == white_black["jobs_2"] == 0
    (by_gender,) = values["screening-gender"]["pairs"]
    white, black, men, women = (
        round(24 * pair[f"higher_{side}"]) for pair in (white_black, by_gender) for side in (1, 2)
    )
    assert f"in {white} of the 24 screenings and Black names in {black}," in TEXT
    assert f"in {women} and men in {men}, in two of the four jobs" in TEXT
    assert (by_gender["jobs_1"], by_gender["jobs_2"]) == (2, 0)


def test_the_values_are_those_that_validity_was_measured_on(registry, expected):
    values = expected("screening_minilm.json")
    rows = {row.task: row for row in measuring.recorded(registry)}
    for task in TASKS:
        assert rows[task].value == pytest.approx(values[task]["rank_gap"]["value"], abs=1e-4)


def test_ranks_of_some_names_are_repeated(registry, minilm, expected):
    inputs = registry.task("screening-race").scenarios[0].inputs
    chosen = slice(0, 160, 8)  # of the first screening
    cosines = paired_cosines(
        *(minilm(inputs[name].texts[chosen]) for name in ("resumes", "queries"))
    )
    assert cosines == pytest.approx(
        np.array(expected("screening_minilm.json")["cosines"]), abs=2e-4
    )
