"""The cut of a smoke run: the first items of each set and table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.task import yaml_files
from harness.task.inputs import first_rows

ROWS = st.lists(st.fixed_dictionaries({"text": st.text(), "label": st.integers(0, 4)}), min_size=1)
TASK = """\
name: mine
version: 1
title: Mine
category: places
measures: usefulness
tables:
  rated:
    columns: [one, other, label]
    rows: [[a, b, 0], [c, d, 0], [e, f, 0], [g, h, 1], [i, j, 1]]
sets: {few: [x, y, z]}
templates: {both: ["{text}!", "{text}?"]}
inputs:
  pairs_1: {table: rated, column: one}
  pairs_2: {table: rated, column: other}
  labels: {table: rated, column: label, number: true}
  twice:
    - {set: few, template: both}
    - {words: [u, v]}
metrics: {toy-fit: {}}
primary: {metric: toy-fit, score: correlation}
"""


@given(ROWS, st.integers(1, 8))
def test_it_keeps_the_order_and_the_number(rows, limit):
    rows = [{**row, "i": i} for i, row in enumerate(rows)]
    for labels in ((), ("label",)):
        kept = [row["i"] for row in first_rows(rows, limit, labels)]
        assert kept == sorted(set(kept))
        assert len(kept) == min(limit, len(rows))


@given(ROWS, st.integers(1, 8))
def test_every_label_stays_if_there_is_room_for_it(rows, limit):
    every = {row["label"] for row in rows}
    kept = first_rows(rows, limit, ["label"])
    if len(every) <= limit:
        assert {row["label"] for row in kept} == every
        counts = [sum(row["label"] == label for row in rows) for label in every]
        if min(counts) >= limit:  # then labels are as equal as can be
            n = [sum(row["label"] == label for row in kept) for label in every]
            assert max(n) - min(n) <= 1
    else:
        assert kept == rows[:limit]


def test_without_labels_it_is_the_first_rows():
    assert first_rows([{"a": 1}, {"a": 1}, {"a": 2}], 2) == [{"a": 1}, {"a": 1}]


def test_inputs_of_one_table_stay_aligned_and_keep_the_classes(registry, write):
    document = yaml_files.load(write("mine.yaml", TASK))
    (scenario,) = registry.resolve(document, limit=2).scenarios
    inputs = scenario.inputs
    assert inputs["pairs_1"].texts == ("a", "g")
    assert inputs["pairs_2"].texts == ("b", "h")
    assert inputs["labels"].numbers.tolist() == [0, 1]
    assert inputs["twice"].texts == ("x!", "x?", "y!", "y?", "u", "v")
    assert inputs["twice"].clusters.tolist() == [0, 0, 1, 1, 2, 3]


def test_the_digest_names_the_limit(registry, write):
    document = yaml_files.load(write("mine.yaml", TASK))
    digests = [registry.resolve(document, limit=limit).digest for limit in (None, 2, 3, 100)]
    assert len(set(digests)) == 4
    assert digests[0] == registry.task_file(document.path).digest
