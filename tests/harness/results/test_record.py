"""Records: one score, one JSON line, never a NaN."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.embedder import MockEmbedder
from harness.metrics import Interval, Score
from harness.results.record import Record, finite, stars
from harness.run import plan, recording, scoring

MOCK = MockEmbedder("text", 8)


@pytest.fixture
def measured(registry):
    """Make the records of the first metric of a task, with some of its scores replaced."""

    def make(**scores):
        task, chain = registry.task("toy-places"), registry.mitigator("none")
        (job,) = plan.make_plan(MOCK, [task], {"none": chain}).jobs
        result = scoring.measure(job, MOCK.encode, seed=0)[0]
        result = dataclasses.replace(result, scores={**result.scores, **scores})
        provenance = recording.Provenance(
            run="r1",
            model=recording.model_part(MOCK.info),
            seed=0,
            environment=recording.environment("cpu"),
        )
        return list(recording.make_records(job, result, provenance))

    return make


def first(records):
    return json.loads(records[0].line(), parse_constant=pytest.fail)


def test_a_record_is_one_line_that_reads_back_as_itself(measured):
    for record in measured():
        line = record.line()
        assert line.count("\n") == 1
        assert line.endswith("\n")
        assert Record.model_validate_json(line) == record


def test_a_record_has_the_model_task_score_and_environment(measured):
    record, items = measured()
    said = first([record])
    assert said["schema"] == 1
    assert said["model"]["name"] == "mock-text"
    assert said["model"]["dimensions"] == 8
    assert said["task"]["name"] == "toy-places"
    assert said["mitigator"] == {
        "name": "none", "label": "none", "params": {}, "concept": None,
        "fingerprint": said["mitigator"]["fingerprint"],
        "method": said["mitigator"]["method"],
    }  # fmt: skip
    assert (said["concept"], said["category"]) == ("toy-place", "places")
    assert (said["ideal"], said["bounds"]) == (0, [0, None])
    assert (said["n"], said["clusters"]) == (6, 6)
    assert said["primary"]
    assert not items.primary
    assert said["options"] == {"centre": False, "power": 1.0}
    assert said["environment"]["device"] == "cpu"
    assert "numpy" in said["environment"]["packages"]
    assert said["created"].endswith("+00:00")


@given(st.floats())
def test_a_number_is_finite_or_none(value):
    assert finite(value) == (value if math.isfinite(value) else None)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_null_with_a_reason(measured, value):
    interval = Interval(0, 1, 0.95, "x")
    score = Score(value, p_value=value, interval=interval, reason="too few")
    said = first(measured(gap=score))
    assert (said["value"], said["p_value"], said["interval"]) == (None, None, None)
    assert said["reason"] == "too few"


def test_an_interval_without_an_end_is_left_out(measured):
    interval = Interval(math.nan, 1, 0.95, "x")
    said = first(measured(gap=Score(0.5, interval=interval)))
    assert (said["value"], said["interval"]) == (0.5, None)


def test_numpy_numbers_become_plain_numbers(measured):
    score = Score(
        np.float32(0.5), p_value=np.float64(0.25), n=np.int64(7),
        interval=Interval(np.float32(0), np.float64(1), 0.95, "x"),
        details={"a": np.float64(2), "b": np.arange(2), "c": {"d": (np.int32(1), True, None)}},
    )  # fmt: skip
    said = first(measured(gap=score))
    assert (said["value"], said["p_value"], said["n"]) == (0.5, 0.25, 7)
    assert said["details"] == {"a": 2, "b": [0, 1], "c": {"d": [1, True, None]}}


def test_details_have_no_nan(measured):
    score = Score(0.5, details={"a": math.nan, "b": [math.inf, 1.0], "c": np.array([np.nan])})
    assert first(measured(gap=score))["details"] == {"a": None, "b": [None, 1.0], "c": [None]}


def test_the_id_depends_on_what_was_measured_and_not_on_when_or_where(measured):
    record = measured()[0]
    again = record.model_copy(update={"id": "", "run": "r2", "seconds": 9.0, "value": 5.0})
    assert again.identity() == record.id == record.identity()
    task = record.task.model_copy(update={"digest": "other"})
    changes = [
        {"seed": 1},
        {"scenario": "x"},
        {"score": "items"},
        {"metric": "x"},
        {"task": task},
        {"model": record.model.model_copy(update={"fingerprint": "x"})},
        {"mitigator": record.mitigator.model_copy(update={"fingerprint": "x"})},
    ]
    ids = {record.model_copy(update=change).identity() for change in changes}
    assert len(ids | {record.id}) == 8
    spelled = record.model.model_copy(update={"name": "x"})
    assert record.model_copy(update={"model": spelled}).identity() == record.id


def test_unknown_keys_and_other_schemas_are_errors(measured):
    said = first(measured())
    for change in ({"colour": "red"}, {"schema": 2}, {"value": math.nan}, {"seed": "x"}):
        with pytest.raises(ValidationError):
            Record.model_validate(said | change)


@pytest.mark.parametrize(
    ("p", "marks"),
    [(None, ""), (1.0, ""), (0.05, ""), (0.049, "*"), (0.01, "*"), (0.009, "**"), (0.001, "**"),
     (0.0009, "***"), (0.0, "***")],
)  # fmt: skip
def test_the_stars_of_a_p_value(p, marks):
    assert stars(p) == marks
