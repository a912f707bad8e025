"""The tasks of screening: names, groups and units of the applications."""

from __future__ import annotations

import pytest

from harness.registry.registry import Registry

TASKS = {"race": 4, "gender": 2, "race-gender": 8}


@pytest.fixture(scope="module")
def inputs():
    """Return a function from what names are grouped by to the inputs of that task."""
    registry = Registry()
    return lambda by: registry.task(f"screening-{by}").scenarios[0].inputs


@pytest.mark.parametrize(("by", "groups"), TASKS.items())
def test_each_screening_has_equally_many_names_of_each_group(by, groups, inputs):
    found = inputs(by)
    names = ("groups", "units", "screenings", "jobs")
    rows = list(zip(*(found[name].numbers for name in names), strict=True))
    assert len(rows) == len(found["resumes"]) == 24 * 160
    for screening in range(24):
        of = [row for row in rows if row[2] == screening]
        sizes = [sum(row[0] == group for row in of) for group in range(groups)]
        assert sizes == [160 // groups] * groups
        assert {row[3] for row in of} == {screening // 6}
    assert len({(group, unit) for group, unit, *_ in rows}) == len({row[1] for row in rows})


def test_the_tasks_have_the_same_texts_and_few(inputs):
    texts = {by: (inputs(by)["resumes"].texts, inputs(by)["queries"].texts) for by in TASKS}
    assert len({*texts.values()}) == 1
    resumes, queries = texts["race"]
    assert len({*resumes}) == 160 * 8
    assert len({*queries}) == 12
    assert not any("{" in text for text in (*resumes, *queries))


def test_names_stand_at_the_beginning_where_no_limit_of_tokens_cuts_them(inputs):
    resumes = inputs("race")["resumes"].texts
    for begin in range(0, len(resumes), 160):
        of = resumes[begin : begin + 160]
        differs = max(
            next(i for i, pair in enumerate(zip(of[0], text, strict=False)) if len({*pair}) > 1)
            for text in of[1:]
        )
        assert differs < 60


def test_queries_name_no_group(inputs):
    words = {word.strip(".,").lower() for text in {*inputs("race")["queries"].texts}
             for word in text.split()}  # fmt: skip
    assert not words & {"he", "she", "his", "her", "man", "woman", "men", "women", "him"}
