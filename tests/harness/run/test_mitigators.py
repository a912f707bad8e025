"""Mitigators of a run: names, objects, and chains of both."""

from __future__ import annotations

import functools
import importlib

import numpy as np
import pytest

import harness
from harness.errors import UsageError


class Less(harness.Mitigator):
    """Subtracts a number."""

    def __init__(self, amount: float = 1.0, function=None):
        self.amount = amount
        self.function = function

    def transform(self, vectors, texts):
        amount = self.function(self.amount) if self.function else self.amount
        return np.asarray(vectors - amount, dtype=np.float32)


class Twice(Less):
    """Subtracts twice the number."""

    def transform(self, vectors, texts):
        return super().transform(super().transform(vectors, texts), texts)


class Careless(harness.Mitigator):
    """Does not store its argument."""

    def __init__(self, amount=1):
        pass


class Needy(harness.Mitigator):
    """Needs what no concept has."""

    needs = ("definitional_pears",)


@pytest.fixture
def toy_mitigators(registry):
    registry.mitigator("toy-shift")  # imports it
    return importlib.import_module(registry.mitigators["toy-shift"].target.split(":")[0])


def labels(records):
    return list(dict.fromkeys(record.mitigator.label for record in records))


def test_an_object_of_a_registered_class_is_the_mitigator_of_that_name(
    evaluate, toy_mitigators, tmp_path
):
    options = {"tasks": "toy-places", "results": tmp_path / "results"}
    by_name = evaluate(mitigators="toy-shift?k=2", **options)
    by_object = evaluate(mitigators=toy_mitigators.Shift(k=2), **options)
    assert list(by_object) == list(by_name)
    assert by_object.reused == len(by_name)
    assert labels(by_object) == ["toy-shift?k=2"]


def test_rows_are_names_objects_and_chains(evaluate, toy_mitigators):
    rows = ["none", Less(), (Less(2), "toy-shift"), ["toy-polite", toy_mitigators.Shift()]]
    records = evaluate(tasks="toy-places", mitigators=rows)
    assert labels(records) == [
        "none",
        "Less",
        "Less?amount=2+toy-shift",
        "toy-polite+toy-shift",
    ]
    assert len({record.id for record in records}) == len(records)
    named = evaluate(tasks="toy-places", mitigators="toy-polite+toy-shift")
    assert [record.id for record in records][-len(named) :] == [record.id for record in named]


def test_an_object_of_a_class_of_ones_own_mitigates(evaluate):
    records = evaluate(tasks="toy-ratings", mitigators=["none", Less(), (Less(), Less(2))])
    values = {record.mitigator.label: record.value for record in records if record.primary}
    assert set(values) == {"none", "Less", "Less+Less?amount=2"}


def test_objects_that_differ_in_code_arguments_or_functions_are_never_mixed_up(evaluate, tmp_path):
    class Less(harness.Mitigator):  # another class of the same name
        def __init__(self, amount: float = 1.0, function=None):
            self.amount = amount
            self.function = function

    objects = [
        globals()["Less"](),
        Less(),
        Twice(),
        globals()["Less"](2.0),
        globals()["Less"](function=lambda x: x),
        globals()["Less"](function=lambda x: -x),
        globals()["Less"](function=functools.partial(max, 3)),
    ]
    ids = [
        frozenset(r.id for r in evaluate(tasks="toy-places", mitigators=mitigator))
        for mitigator in objects
    ]
    assert len(set(ids)) == len(objects)


def test_a_row_that_is_given_twice_is_run_once(evaluate, toy_mitigators):
    rows = ["toy-shift", toy_mitigators.Shift(), "toy-shift?k=1", Less(), Less(1.0)]
    assert labels(evaluate(tasks="toy-places", mitigators=rows)) == ["toy-shift", "Less"]


def test_the_users_object_is_not_fitted(evaluate, toy_mitigators):
    shift = toy_mitigators.Shift()
    evaluate(tasks="toy-places", mitigators=shift)
    assert not hasattr(shift, "mean_")


@pytest.mark.parametrize(
    ("mitigators", "fact"),
    [
        (Less, "the class Less"),
        ([3], "int"),
        (3, "int"),
        ([[Less(), 3]], "int"),
        ([], "no mitigator"),
        (Careless(), "Careless"),
        (Needy(), "definitional_pears"),
        ("toy-shft", "toy-shift"),
        ([(Less(), "toy-shft")], "toy-shift"),
        ([Less(function=lambda x: x), Less(function=lambda x: -x)], "two different rows"),
    ],
)
def test_what_is_no_mitigator_is_a_usage_error_before_anything_runs(
    evaluate, toy, mitigators, fact
):
    with pytest.raises(UsageError, match=fact):
        evaluate(tasks="toy-places", mitigators=mitigators)
    assert toy == []


def test_records_come_in_the_order_of_the_rows_also_when_some_are_recorded(evaluate, tmp_path):
    options = {"tasks": ["toy-places", "toy-ratings"], "results": tmp_path / "results"}
    evaluate(mitigators="toy-shift", **options)
    records = evaluate(mitigators=["none", "toy-shift", "toy-polite"], **options)
    order = [(record.task.name, record.mitigator.label) for record in records if record.primary]
    assert order == [
        (task, label)
        for task in ("toy-places", "toy-ratings")
        for label in ("none", "toy-shift", "toy-polite")
    ]


def test_a_vocabulary_is_debiased_by_an_object(tmp_path):
    words, vectors = ["a", "b"], np.array([[1.0, 2.0], [3.0, 4.0]])
    out = tmp_path / "out.txt"
    debiased = harness.debias((words, vectors), (Less(), Less(2.0)), out)
    assert debiased.mitigator == "Less+Less?amount=2"
    assert [line.split()[1:] for line in out.read_text().splitlines()[1:]] == [
        ["-2.0", "-1.0"],
        ["0.0", "1.0"],
    ]
