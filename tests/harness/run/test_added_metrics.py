"""Metrics that a user passes as functions or names: further scores beside a task's own."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.errors import UsageError
from harness.metrics import Scale, metric


def distance(power=1.0, *, fingerprint=None):
    """Make a metric of a chosen power, whose function may state a fingerprint."""

    def my_distance(targets_1, targets_2):
        return float(np.linalg.norm(targets_1.mean(axis=0) - targets_2.mean(axis=0))) ** power

    if fingerprint is not None:
        my_distance.fingerprint = fingerprint
    return metric("my-distance", scores={"distance": Scale(ideal=0, bounds=(0, None))})(my_distance)


@metric("my-draw", scores={"draw": Scale(ideal=0.5)})
def my_draw(targets_1, *, rng):
    """Return a random number."""
    return rng.random()


@metric("my-rows", scores={"n": Scale(ideal="higher")})
def my_rows(nothing_has_this):
    """Needs an input that no task has."""
    return len(nothing_has_this)


def by_metric(records):
    return {(record.metric, record.score): record for record in records}


@pytest.fixture
def task():
    """A task as a mapping."""
    return {
        "name": "of-mine",
        "version": 1,
        "title": "Mine",
        "category": "places",
        "inputs": {
            "targets_1": {"words": ["village", "farm"]},
            "targets_2": {"words": ["city", "street"]},
        },
        "metrics": {"my-distance": {}},
        "primary": {"metric": "my-distance", "score": "distance"},
    }


def test_a_function_scores_each_task_that_has_its_inputs_beside_the_tasks_own_metrics(evaluate):
    tasks = ["toy-places", "toy-ratings"]
    alone = evaluate(tasks=tasks)
    both = evaluate(tasks=tasks, metrics=[distance()])
    added = [record for record in both if record.metric == "my-distance"]
    assert {record.task.name for record in added} == {"toy-places"}
    assert not any(record.primary for record in added)
    gap = by_metric(both)["toy-gap", "gap"]
    assert added[0].value == pytest.approx(gap.value)
    rest = [record for record in both if record.metric != "my-distance"]
    assert [(r.id, r.value, r.task.digest) for r in rest] == [
        (r.id, r.value, r.task.digest) for r in alone
    ]


def test_the_tasks_own_random_draws_stay_the_same(evaluate):
    plain, added = evaluate(tasks="toy-places"), evaluate(tasks="toy-places", metrics=my_draw)
    assert by_metric(added)["toy-draw", "draw"].value == by_metric(plain)["toy-draw", "draw"].value
    again = evaluate(tasks="toy-places", metrics=my_draw)
    assert by_metric(again)["my-draw", "draw"].value == by_metric(added)["my-draw", "draw"].value


def test_scores_of_a_function_are_its_own_and_used_again_if_it_states_so(evaluate, tmp_path):
    options = {"tasks": "toy-places", "results": tmp_path / "results"}
    function = distance(fingerprint="distance")
    first = evaluate(metrics=function, **options)
    assert evaluate(metrics=function, **options).reused == len(first)
    other = by_metric(evaluate(metrics=distance(2.0), **options))["my-distance", "distance"]
    mine = by_metric(first)["my-distance", "distance"]
    assert other.id != mine.id
    assert other.value == pytest.approx(mine.value**2)
    read = harness.read_results(tmp_path / "results")
    assert {other.id, mine.id} <= {record.id for record in read}
    assert all(record.id == record.identity() for record in read)


def test_a_function_whose_globals_have_changed_is_computed_anew(evaluate, task, tmp_path):
    settings = {"power": 1.0}

    @metric("my-distance", scores={"distance": Scale(ideal=0, bounds=(0, None))})
    def my_distance(targets_1, targets_2):
        distance = np.linalg.norm(targets_1.mean(axis=0) - targets_2.mean(axis=0))
        return float(distance) ** settings["power"]

    options = {"tasks": task, "metrics": my_distance, "results": tmp_path / "results"}
    (first,) = evaluate(**options)
    settings["power"] = 2.0
    (second,) = evaluate(**options)
    assert second.value == pytest.approx(first.value**2)


def test_a_registered_metric_may_be_added_by_name(evaluate):
    plain = evaluate(tasks="toy-places-10", concept=None)
    records = evaluate(tasks="toy-places-10", metrics=["toy-gap", "toy-draw"], concept=None)
    assert set(by_metric(records)) - set(by_metric(plain)) == {("toy-draw", "draw")}
    assert {record.id for record in plain} < {record.id for record in records}
    assert records.notices == ()


def test_a_task_may_be_a_mapping_that_names_the_users_metric(evaluate, task):
    function = distance(fingerprint="distance")
    (first,) = evaluate(tasks=task, metrics=function)
    assert first.primary
    assert first.task.name == "of-mine"
    (again,) = evaluate(tasks=[task], metrics=function)
    (other,) = evaluate(tasks=[task], metrics=distance(2.0))
    assert again.id == first.id != other.id
    assert again.task.digest != other.task.digest


def test_a_task_file_may_name_the_users_metric(evaluate, write, toy_task):
    text = toy_task.replace("toy-gap", "my-distance").replace("score: gap", "score: distance")
    path = write("mine.yaml", text)
    (record,) = evaluate(tasks=path, metrics=[distance()])
    assert record.metric == "my-distance"
    with pytest.raises(UsageError, match="my-distance"):
        evaluate(tasks=path)


def test_a_mistake_in_a_mapping_is_told_by_its_place(evaluate, task):
    del task["inputs"]["targets_2"]
    with pytest.raises(UsageError, match=r"tasks\[1\].*metrics\.my-distance.*targets_2"):
        evaluate(tasks=["toy-places", task], metrics=distance())
    with pytest.raises(UsageError, match=r"tasks\[0\].*name") as caught:
        evaluate(tasks=[{"version": 1}])
    assert "harness validate" not in str(caught.value)  # it reads files
    assert len(caught.value.mistakes) > 1


def test_a_metric_that_scores_nothing_is_told(evaluate):
    records = evaluate(tasks="toy-places", metrics=[my_rows, distance()], concept=None)
    (notice,) = records.notices
    assert "'my-rows'" in notice
    assert "nothing_has_this" in notice


@pytest.mark.parametrize(
    ("metrics", "fact"),
    [
        (len, "'len'"),
        ("toy-gapp", "toy-gap"),
        ([distance(), distance(2.0)], "two functions"),
        (metric("toy-gap", scores={"gap": Scale(ideal=0)})(lambda targets_1: 0.0), "registered"),
        (3, "int"),
    ],
)
def test_what_is_no_metric_is_a_usage_error_before_any_run(evaluate, toy, metrics, fact):
    with pytest.raises(UsageError, match=fact):
        evaluate(tasks="toy-places", metrics=metrics)
    assert toy == []
