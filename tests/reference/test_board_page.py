"""The board of docs/: its tables come from kept scores, and these from the commands of the page."""

from __future__ import annotations

import re
from pathlib import Path

import board_page
import pytest

import harness
from harness.registry.registry import Registry
from harness.results.record import Record

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("board.md", "downstream.md", "languages.md")
NUMBER = re.compile(r"−?(?<!\d)\.\d+")
NOT_MEASURED = {
    ".05": "the level of a test",
    ".89": "the smallest correlation of six points with p < .05",
    ".5": "what chance gives an AUC",
}
REPEATED = {
    "all-MiniLM-L6-v2": ["seat-c6", "weathub-en", "winogender-similarity"],
    "bag-of-words:glove-6b-50d": ["sts-bias-winobias", "screening-gender"],
    "glove-6b-50d": ["weat-6", "seegull-en"],
    "spacy:fr-core-news-md": ["weathub-fr", "occupation-forms-fr"],
}
"""Scores that are computed again here: of each kind of model the ones that take seconds."""


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    return board_page.Scores(tmp_path_factory.mktemp("board"))


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_of_a_page_are_those_of_the_kept_scores(name, scores):
    page = (DOCS / name).read_text("utf-8")
    assert "<!-- table: " in page
    assert board_page.filled(page, scores) == page


@pytest.mark.parametrize("name", ["board.md", "downstream.md"])
def test_numbers_of_the_text_stand_in_a_table_of_the_page(name):
    page = (DOCS / name).read_text("utf-8")
    tables = [line for line in page.splitlines() if line.startswith("|")]
    text = [line for line in page.splitlines() if not line.startswith(("|", "$"))]
    known = {float(number.replace("−", "-")) for number in NUMBER.findall(" ".join(tables))}
    for number in NUMBER.findall(" ".join(text)):
        value, digits = float(number.replace("−", "-")), len(number.partition(".")[2])
        is_known = any(abs(value - other) <= 0.5001 * 10**-digits for other in known)
        assert is_known or number in NOT_MEASURED, number


def test_similarity_follows_bias_in_the_vectors_and_screening_and_retrieval_do_not(scores):
    of = {part.task: part for part in scores.correlated("gender") if part.over == "mitigators"}
    assert (len(of.pop(None).points), len(of)) == (30, 7)
    screening, retrieval = of.pop("screening-gender"), of.pop("retrieval-grep-biasir")
    for part in (screening, retrieval):
        assert part.interval.low < 0 < part.interval.high
    assert all(part.interval.low > 0 for part in of.values())
    similarity = sorted(part.spearman for part in of.values())
    stated = " ".join((DOCS.parent / "README.md").read_text("utf-8").split())
    pattern = r"ρ (\S+) to (\S+) for five tasks\); screening \((\S+)\) and retrieval \((\S+)\)"
    numbers = re.search(pattern, stated).groups()
    assert [float(number.replace("−", "-")) for number in numbers] == pytest.approx(
        [similarity[0], similarity[-1], screening.spearman, retrieval.spearman], abs=0.0051
    )


@pytest.mark.parametrize("model", REPEATED)
def test_kept_scores_are_those_of_the_command(model, scores, tmp_path):
    kept = {_cell(record): record for record in scores.records if record.model.name == model}
    records = harness.evaluate(model, REPEATED[model], registry=Registry(), cache=tmp_path)
    compared = [record for record in records if _cell(record) in kept]
    assert {record.task.name for record in compared} == set(REPEATED[model])
    for record in compared:
        other = kept[_cell(record)]
        assert other.task.digest == record.task.digest, "run the commands of docs/board.md again"
        # Encoders differ by rounding between machines.
        assert other.value == pytest.approx(record.value, abs=0.002)
        if record.floor is not None:
            assert other.floor is not None
            assert other.floor.mean == pytest.approx(record.floor.mean, abs=0.002)


def _cell(record: Record) -> tuple[str, str, str, str, str]:
    return (
        record.mitigator.label,
        record.task.name,
        record.scenario,
        record.metric,
        record.score,
    )
