"""The tasks of screening: names, groups, units and what they share; lines and places of names."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from harness.plugins.tables.applications import applications
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


def test_the_tasks_have_the_same_texts_and_few(inputs):
    texts = {by: (inputs(by)["resumes"].texts, inputs(by)["queries"].texts) for by in TASKS}
    assert len({tuple(sorted({*resumes})) for resumes, _ in texts.values()}) == 1
    resumes, queries = texts["race"]
    assert len({*resumes}) == NAMES * 4
    assert len({*queries}) == 12
    assert not any("{" in text for text in (*resumes, *queries))


def test_names_stand_at_the_beginning_where_no_limit_of_tokens_cuts_them(inputs):
    resumes = inputs("race")["resumes"].texts
    for begin in range(0, len(resumes), NAMES):
        of = resumes[begin : begin + NAMES]
        differs = max(
            next(i for i, pair in enumerate(zip(of[0], text, strict=False)) if len({*pair}) > 1)
            for text in of[1:]
        )
        assert differs < 60


def test_queries_name_no_group(inputs):
    words = {word.strip(".,").lower() for text in {*inputs("race")["queries"].texts}
             for word in text.split()}  # fmt: skip
    assert not words & {"he", "she", "his", "her", "man", "woman", "men", "women", "him"}
