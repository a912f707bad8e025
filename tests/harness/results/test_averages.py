"""Means over tasks, and how scores agree over models."""

from __future__ import annotations

import pytest
from score_records import record, similarity

from harness.results.comparison import agreements, averages


def test_a_mean_of_signed_values_stands_beside_that_of_absolute_values():
    (row,) = averages([record("c6", value=1.5), record("c7", value=-0.5)])
    assert (row.mean, row.mean_absolute) == (0.5, 1.0)
    assert (row.tasks, row.missing) == (2, ())


@pytest.mark.parametrize("value", ["absent", None])
def test_a_row_without_a_value_on_every_task_has_no_mean(value):
    records = [record("c6", model="a"), record("c7", model="a"), record("c6", model="b")]
    if value is None:
        records.append(record("c7", model="b", value=None, reason="void"))
    whole, part = averages(records)
    assert whole.mean == 1.0
    assert (part.mean, part.mean_absolute, part.missing) == (None, None, ("c7",))


def test_the_newest_record_of_a_score_counts():
    old = record("c6", value=1.0, created="2026-01-01T00:00:00Z")
    new = record("c6", value=0.2, created="2026-02-01T00:00:00Z", seed=1)
    assert averages([new, old])[0].mean == averages([old, new])[0].mean == 0.2


def models(**values):
    """Return records of models: a SEAT and a similarity each, with these values."""
    return [
        made
        for model, (d, r) in values.items()
        for made in (record("c6", value=d, model=model), similarity("sts", "none", r, model=model))
    ]


def test_two_scores_agree_by_their_absolute_values():
    (pair,) = agreements(averages(models(a=(-1.0, 0.1), b=(0.5, 0.05), c=(0.2, 0.02))))
    assert pair.rows == 3
    assert pair.pearson == pytest.approx(1.0)
    assert pair.spearman == pytest.approx(1.0)


def test_a_leak_is_named_and_controls_stand_apart():
    rows = averages(
        [
            record("c6", "x", 1.0),
            record("c7", "x", 0.0, overlap=("she",)),
            record("c1", "x", 1.5, measures="control"),
        ]
    )
    assert [(r.tasks, r.mean, r.leaks) for r in rows] == [(2, 0.5, ("c7",)), (1, 1.5, ())]
