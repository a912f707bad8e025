"""The board of docs/: its tables come from kept scores, and these from the commands of the page."""

from __future__ import annotations

import itertools
from pathlib import Path

import board_page
import numpy as np
import pytest
from scipy.stats import spearmanr

import harness
from harness.registry.registry import Registry
from harness.results.record import Record
from harness.study.significance import holm

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("board.md", "downstream.md", "languages.md")
OTHERS = {"retrieval-grep-biasir", "screening-gender"}
SIMILARITY = {
    *("nli-bias-occupations", "sts-bias-winobias", "sts-bias-winogender"),
    *("winobias-similarity", "winogender-similarity"),
}
REPEATED = {
    "all-MiniLM-L6-v2": (["none"], ["seat-c6", "weathub-en", "winogender-similarity"]),
    "bag-of-words:glove-6b-50d": (["none", "leace"], ["bec-pro-en", "sts-bias-winobias"]),
    "glove-6b-50d": (["none"], ["weat-6", "seegull-en"]),
    "spacy:fr-core-news-md": (["none"], ["weathub-fr", "occupation-forms-fr"]),
}
"""Mitigators and tasks whose scores are computed again here: those that take seconds. Language
models, servers and exported models take longer, and are not."""


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    return board_page.Scores(tmp_path_factory.mktemp("board"))


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_of_a_page_are_those_of_the_kept_scores(name, scores):
    page = (DOCS / name).read_text("utf-8")
    assert "<!-- table: " in page
    assert board_page.filled(page, scores) == page


def over_mitigators(correlations):
    return {part.task: part for part in correlations.over if part.over == "mitigators"}


def test_bias_downstream_follows_only_the_same_metric_over_mitigators(scores):
    every = over_mitigators(scores.correlated("gender"))
    other = over_mitigators(scores.correlated("gender", other_metrics=True))
    assert set(every) == set(other) == {None, *SIMILARITY, *OTHERS}
    assert all(every[task].interval.low > 0 for task in SIMILARITY)
    for part in [every[None], *(every[task] for task in OTHERS), *other.values()]:
        assert part.interval.low < 0 < part.interval.high, part.task


def test_six_models_have_no_correlation_after_bonferroni_s_correction(scores):
    """The exact p-value counts the orders of six ranks with a correlation as large in size."""
    found = scores.correlated("gender", other_metrics=True).by_task
    largest = max(abs(parts["models"].spearman) for parts in found.values())
    orders = [spearmanr(range(6), order).statistic for order in itertools.permutations(range(6))]
    p = [np.mean(np.abs(orders) >= size - 1e-3) for size in (0.886, largest, 0.829)]
    assert p[0] < 0.05 < p[2]
    assert p[1] == pytest.approx(0.017, abs=0.0005)
    assert p[1] * len(found) > 0.05


def test_the_mitigators_of_gender_lower_similarity_in_all_models_and_leace_raises_retrieval(scores):
    def lower(mitigator, tasks):
        parts = [scores.correlated("gender").by_task[task]["mitigators"] for task in tasks]
        points = [point for part in parts for point in part.points if point.mitigator == mitigator]
        models = {point.model for point in points}
        means = [np.mean([point.b for point in points if point.model == model]) for model in models]
        return sum(mean < 0 for mean in means)

    for mitigator in ("hard-debias", "leace", "inlp", "sent-debias"):
        assert lower(mitigator, SIMILARITY) == 6
    assert lower("whitening", SIMILARITY) == 0
    assert [lower(name, ["retrieval-grep-biasir"]) for name in ("leace", "sent-debias")] == [1, 2]


def test_few_scores_of_retrieval_and_screening_are_above_chance(scores):
    def significant(task):
        return {
            record.model.name
            for record in scores.records
            if (record.task.name, record.mitigator.label) == (task, "none")
            and record.p_value is not None
            and record.p_value < 0.05
            and not record.model.name.startswith("random")
        }

    assert significant("retrieval-grep-biasir") == {"bag-of-words:glove-6b-50d"}
    assert len(significant("screening-gender")) == 3
    assert "multilingual-e5-small-q4" not in significant("screening-race"), "it is at its floor"


def test_few_associations_in_other_languages_hold_a_correction(scores):
    gender = {
        record.language: record.p_value
        for record in scores.records
        if record.task.name.startswith("weathub-")
        and (record.model.name, record.scenario) == ("multilingual-e5-small-q4", "gender")
        and "india" not in record.task.name
    }
    assert len(gender) == 25
    corrected = dict(zip(gender, holm([*gender.values()]), strict=True))
    assert {code for code, p_value in corrected.items() if p_value < 0.05} == {"ja", "zh"}


@pytest.mark.parametrize("model", REPEATED)
def test_kept_scores_are_those_of_the_command(model, scores, kept_cache):
    mitigators, tasks = REPEATED[model]
    kept = {_cell(record): record for record in scores.records if record.model.name == model}
    records = harness.evaluate(model, tasks, mitigators, registry=Registry(), cache=kept_cache)
    compared = [record for record in records if _cell(record) in kept]
    assert {record.task.name for record in compared} == set(tasks)
    assert {record.mitigator.label for record in compared} == set(mitigators)
    # Encoders differ by rounding between machines.
    tolerance = {"abs": 0.002} if model == "all-MiniLM-L6-v2" else {"rel": 1e-3, "abs": 1e-5}
    for record in compared:
        other = kept[_cell(record)]
        assert other.task.digest == record.task.digest, "run the commands of docs/board.md again"
        if record.value is None:
            assert other.value is None
            continue
        assert other.value == pytest.approx(record.value, **tolerance)
        if record.p_value is not None:
            assert other.p_value == pytest.approx(record.p_value, abs=0.01)
        if record.floor is not None:
            assert other.floor.mean == pytest.approx(record.floor.mean, **tolerance)


def _cell(record: Record) -> tuple[str, str, str, str, str]:
    return (
        record.mitigator.label,
        record.task.name,
        record.scenario,
        record.metric,
        record.score,
    )
