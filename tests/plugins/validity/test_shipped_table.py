"""The shipped rows of validity: tasks that fail do not rank, and some rows are measured again."""

from __future__ import annotations

import pytest

from harness import folders
from harness.plugins.embedders.vectors import glove
from harness.plugins.validity import checks, measuring
from harness.registry.registry import Registry
from harness.run.tasks import list_tasks

WITHOUT_ROW = {"sentiment-ethnicity"}
"""Unranked tasks whose reason was read off single readings: a row takes long."""
RANKED_WITHOUT_ROW = {
    *("name-triplets", "name-triplets-world", "name-perturbations-books"),
    *("name-perturbations-books-corpus", "name-perturbations-movies", "name-perturbations-plots"),
    "name-sentences",
}
"""They contrast no two groups, so no bias can be planted; tests of their metrics mix vectors from a
meaning and a name instead."""
COUNTS_MEANING = {
    f"holistic-bias-{axis}" for axis in ("ability", "political-ideologies", "socioeconomic-class")
}
"""Valid tasks that find what descriptors mean, which is no bias."""
SHOWS_NO_GAP = {"descriptors-forms", "descriptors-politics"}
"""Tasks without a stereotyped side, of which the reference encoder shows nothing."""
REPEATED = {"weat-6-matched", "weathub-en"}
"""Valid tasks that are not ranked because they repeat another one."""
OTHER_GAP = ("clusters-", "duplicates-", "long-documents-", "screening-", "stereoset-")
"""Beginnings of valid tasks whose gap does not follow the score that is shown."""
OTHER_LISTS = "sentiment-classifier-"
"""Beginning of valid tasks on the descriptors of others."""
CHEAP = ("weat-7", pytest.param("rnd-gender", marks=pytest.mark.long))
"""Tasks that are measured again here: seconds each."""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry()


@pytest.fixture(scope="module")
def rows(registry):
    return {row.task: row for row in measuring.recorded(registry)}


@pytest.fixture(scope="module")
def tasks(registry):
    """Return the files of the tasks of bias by name, without those that nobody has reviewed."""
    return {
        entry.file.name: entry.file
        for entry in list_tasks(registry)
        if entry.file.measures == "bias" and not entry.file.large and entry.file.is_reviewed
    }


def test_each_task_whose_metric_states_a_contrast_has_a_row(registry, tasks, rows):
    missing = [
        name
        for name, file in tasks.items()
        if name not in rows
        and name not in WITHOUT_ROW
        and file.is_reviewed
        and registry.metric(file.primary.metric).contrast is not None
    ]
    assert missing == []


def test_only_tasks_of_names_rank_without_a_row(registry, rows):
    ranked = {
        entry.file.name
        for entry in list_tasks(registry)
        if entry.file.measures == "bias" and not entry.file.not_ranked
    }
    assert ranked - rows.keys() == RANKED_WITHOUT_ROW


def test_rows_are_of_the_primary_score_of_the_installed_version(tasks, rows):
    for name, row in rows.items():
        file = tasks[name]
        assert (row.version, row.metric, row.score) == (
            file.version, file.primary.metric, file.primary.score,
        ), f"{name}: `python perf/recorded.py validity {row.metric}` measures it again"  # fmt: skip


def test_a_task_that_fails_is_unranked(tasks, rows):
    failing = {name: row.failures for name, row in rows.items() if row.failures}
    assert {name: why for name, why in failing.items() if not tasks[name].unranked} == {}


def test_an_unranked_task_fails_or_cannot_be_measured(tasks, rows):
    valid = {name for name, row in rows.items() if not row.failures and not row.missing}
    unranked = {name for name, file in tasks.items() if file.unranked}
    unranked = {name for name in unranked if not name.startswith((*OTHER_GAP, OTHER_LISTS))}
    assert unranked & valid == REPEATED | SHOWS_NO_GAP | COUNTS_MEANING


def test_the_failures_are_those_of_the_recorded_figures(registry, rows):
    for row in rows.values():
        scale = registry.metric(row.metric).scores[row.score]
        kinds = [[why.split(" ")[0] for why in reasons] for reasons in
                 (row.failures, checks.failures(row.model_dump(), scale))]  # fmt: skip
        assert kinds[0] == kinds[1] or row.missing, row.task


def test_a_ranked_score_finds_less_than_the_gap_between_the_groups(tasks, rows):
    for name, row in rows.items():
        if not tasks[name].unranked and not row.missing:
            assert row.detectable <= 1, name
            assert row.reliability is None or row.reliability >= checks.RELIABILITY, name


@pytest.mark.parametrize("task", CHEAP)
def test_a_cheap_row_is_measured_again(registry, rows, task, tmp_path):
    if folders.of_package(glove.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    ((again,), _) = measuring.measure(registry, tasks=[task], cache=tmp_path)
    row = rows[task]
    assert again.fingerprint == row.fingerprint
    assert again.failures == row.failures
    for name in ("value", "own"):
        assert getattr(again, name) == pytest.approx(getattr(row, name), rel=1e-3), name
    for name in ("floor", "spread", "reliability"):  # of random draws
        assert getattr(again, name) == pytest.approx(getattr(row, name), rel=0.1), name
    assert again.planted == pytest.approx(row.planted, rel=1e-3, abs=1e-6)
    assert again.rejected == pytest.approx(row.rejected, abs=0.05) if row.rejected else True
