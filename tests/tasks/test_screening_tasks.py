"""The tasks of screening: names, groups, units and what they share; lines and places of names."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import harness.tasks
from harness.plugins.tables.applications import Name, matched_names
from harness.registry.registry import Registry

TASKS = {"race": 4, "gender": 2, "race-gender": 8}
NAMES = 240


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def inputs(registry):
    """Return a function from what names are grouped by to the inputs of that task."""
    return lambda by: registry.task(f"screening-{by}").scenarios[0].inputs


@pytest.mark.parametrize(("by", "groups"), TASKS.items())
def test_each_screening_has_equally_many_names_of_each_group(by, groups, inputs):
    found = inputs(by)
    names = ("groups", "units", "screenings", "jobs", "kin")
    rows = list(zip(*(found[name].numbers for name in names), strict=True))
    assert len(rows) == len(found["resumes"]) == 12 * NAMES
    for screening in range(12):
        of = [row for row in rows if row[2] == screening]
        sizes = [sum(row[0] == group for row in of) for group in range(groups)]
        assert sizes == [NAMES // groups] * groups
        assert {row[3] for row in of} == {screening // 3}
    units = {(group, unit, kin) for group, unit, _, _, kin in rows}
    assert len(units) == len({row[1] for row in rows}) == (60 if by == "race" else NAMES)
    of_kin = defaultdict(list)
    for group, _, kin in units:
        of_kin[kin].append(group)
    shared = {tuple(sorted(of)) for of in of_kin.values()}
    assert (
        shared
        == {
            "race": {(0,), (1,), (2,), (3,)},
            "gender": {(0, 0, 1, 1)},
            "race-gender": {(g, g, g + 1, g + 1) for g in (0, 2, 4, 6)},
        }[by]
    )


def test_names_stand_at_the_beginning_where_no_limit_of_tokens_cuts_them(inputs):
    resumes = inputs("race")["resumes"].texts
    for begin in range(0, len(resumes), NAMES):
        of = resumes[begin : begin + NAMES]
        differs = max(
            next(i for i, pair in enumerate(zip(of[0], text, strict=False)) if len({*pair}) > 1)
            for text in of[1:]
        )
        assert differs < 60


def test_names_of_all_groups_are_alike_in_what_the_lists_allow():
    file = Path(harness.tasks.__file__).parent / "screening" / "data" / "hiring.json.gz"
    content = json.loads(gzip.decompress(file.read_bytes()))
    listed = [
        Name(
            full, race, gender,
            content["births"][gender][full.rsplit(maxsplit=1)[0]],
            content["bearers"][full.rsplit(maxsplit=1)[1]],
        )
        for gender, races in content["names"].items() for race, names in races.items()
        for full in names
    ]  # fmt: skip
    cells = defaultdict(list)
    for name in matched_names(listed, surnames=15, names=2):
        cells[name.race, name.gender].append(name)
    assert {len(of) for of in cells.values()} == {30}

    def means(value):
        return {cell: np.mean([value(name) for name in of]) for cell, of in cells.items()}

    bearers = means(lambda name: np.log10(name.bearers))
    assert np.ptp(list(bearers.values())) < 0.15
    births, letters = means(lambda name: np.log10(name.births + 1)), means(lambda n: len(n.full))
    for race in "WBAH":
        assert abs(births[race, "men"] - births[race, "women"]) < 0.25
        assert abs(letters[race, "men"] - letters[race, "women"]) < 0.3
    # what the lists do not allow: the README says so
    assert births["W", "men"] - births["B", "men"] > 0.4
    assert letters["W", "men"] - letters["A", "men"] > 1.5


@pytest.mark.parametrize("by", ["gender", "race"])
def test_sections_differ_in_one_line_and_in_pairs(by, registry):
    task = registry.task(f"screening-sections-{by}")
    assert not task.file.reviewed
    for scenario in task.scenarios:
        inputs = scenario.inputs
        groups, kin = (np.array(inputs[name].numbers) for name in ("groups", "kin"))
        screenings = np.array(inputs["screenings"].numbers)
        assert len(np.unique(screenings)) == 12
        if scenario.name != "name":
            for number in np.unique(kin):
                of = (kin == number) & (screenings == screenings[0])
                assert sorted(groups[of]) == list(range(of.sum())), "a text of each group"
            texts = np.array(inputs["resumes"].texts)[screenings == screenings[0]]
            assert len({text.split("Applicant")[1] for text in texts}) == 1


def test_a_name_moves_through_a_document_that_is_equal_but_for_it(registry):
    task = registry.task("long-documents-race")
    first = {s.name: s.inputs["resumes"].texts[0] for s in task.scenarios}
    place = {name: text.index("Contact:") / len(text) for name, text in first.items()}
    assert place["beginning"] == 0
    assert 0.4 < place["middle"] < 0.6
    assert min(place["end"], place["beyond"]) > 0.95
    assert {len(first[name].split()) for name in ("beginning", "middle", "end")} == {
        len(first["end"].split())
    }
    assert len(first["beyond"].split()) > 450
