"""What ran on each model, and the reasons for what did not."""

from __future__ import annotations

from score_records import record

from harness.results.records import NotRun, outcomes, reasons


def test_tasks_are_counted_once_whatever_the_number_of_mitigators():
    not_run = [
        *(NotRun("m", u, "words", "made for word embedders", "embedder") for u in ("none", "x")),
        *(NotRun("m", u, "films", "missing data", "data") for u in ("none", "x")),
        NotRun("m", "x", "b", "does not apply", "mitigator"),
    ]
    (found,) = outcomes([record("a"), record("a", "x"), record("b")], not_run)
    assert found.run == ("a", "b")
    assert found.not_run == {"embedder": ("words",), "data": ("films",)}
    assert (found.asked, found.embedder) == (4, "text")


def test_a_task_that_failed_under_one_mitigator_and_was_skipped_under_another_has_failed():
    not_run = [
        NotRun("m", "x", "a", "does not apply", "mitigator"),
        NotRun("m", "y", "a", "broke", "failed"),
    ]
    (found,) = outcomes([], not_run)
    assert found.not_run == {"failed": ("a",)}


def test_a_reason_is_told_once_over_models_mitigators_and_tasks():
    entries = [
        NotRun(model, mitigator, task, "no data", "data")
        for model in ("m", "n")
        for mitigator in ("none", "x")
        for task in ("a", "b")
    ]
    (found,) = reasons(entries)
    assert (found.models, found.mitigators, found.tasks) == (("m", "n"), ("none", "x"), ("a", "b"))


def test_a_reason_never_covers_a_task_that_it_does_not_concern():
    entries = [
        NotRun("m", "none", "a", "r", "data"),
        NotRun("m", "none", "b", "r", "data"),
        NotRun("n", "none", "a", "r", "data"),
    ]
    found = {
        (model, task)
        for reason in reasons(entries)
        for model in reason.models
        for task in reason.tasks
    }
    assert found == {("m", "a"), ("m", "b"), ("n", "a")}
