"""The numbers of docs/tasks.md are those of its commands.

Each table is repeated here by the command above it, or by the tests that `ELSEWHERE` names.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.commands.main import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
Cell = tuple[str, str, str]
PERSONS, OCCUPATIONS = "persons", "occupations"
REPEATED: dict[str, dict[str, Cell]] = {
    **{
        first: {
            f"C{test}, ": (f"seat-c{test}", "sentence", score)
            for test in ("6", "6b", "7", "7b", "8", "8b")
        }
        for first, score in (
            ("association, in cosines, fair at 0", "association"),
            ("effect size, fair at 0", "effect_size"),
        )
    },
    "glove-6b-50d": {
        "direct bias": ("direct-bias", "neutral", "direct_bias"),
        "correlation": ("profession-stereotypes", "neutral", "spearman"),
        "a stereotyped pair": ("sem-bias", "all", "preference"),
        "accuracy": ("residual-bias", "default", "recoverability"),
    },
    "forms of occupations, fair at 0": {
        "stereotype, without the direction": ("occupation-forms-fr", "semantic", "stereotype"),
        "stereotype, without the nouns": ("occupation-forms-fr", "means", "stereotype"),
        "stereotype, along": ("occupation-forms-fr", "whole", "stereotype"),
        "gap": ("occupation-forms-fr", "semantic", "gap"),
    },
    "residual-bias-sentences": {
        "accuracy on persons": ("residual-bias-sentences", PERSONS, "recoverability"),
        "neighbours": ("residual-bias-sentences", PERSONS, "neighbours"),
        "accuracy on stereotyped": ("residual-bias-sentences", OCCUPATIONS, "recoverability"),
    },
}
"""By the first cell of a table's header, the score of each row, by how the row begins."""
ELSEWHERE = {
    "280 biographies": "tests/reference/test_bias_in_bios.py",
    "occupations, fair at 0": "tests/reference/test_similarity_gap.py",
    "StereoSet": "tests/reference/test_stereotyped.py",
    "pronouns": "tests/reference/test_wino.py",
    "slope": "tests/reference/test_gest_and_bec_pro.py",
    "résumés": "tests/reference/test_screening.py",
    "AUC, right at 1": "tests/reference/test_names_found.py",
    "cosine, all-MiniLM-L6-v2": "tests/reference/test_names_perturbations.py",
    "": "tests/reference/test_open_texts.py",
}
"""Tests that repeat what a table says, or the part of it that takes less than minutes."""


@dataclass(frozen=True)
class Table:
    """A table of the page and the command above it."""

    command: str
    header: list[str]
    rows: list[list[str]]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")]


def tables() -> list[Table]:
    found, command, lines = [], "", PAGE.splitlines()
    for number, line in enumerate(lines):
        if line.removeprefix("$ ").startswith("harness eval"):
            command = line.removeprefix("$ ")
        if re.match(r"\| --- |\|  \| -", line) or line.startswith("| --- "):
            below = lines[number + 1 :]
            end = next(i for i, row in enumerate([*below, ""]) if not row.startswith("|"))
            found.append(Table(command, cells(lines[number - 1]), [*map(cells, below[:end])]))
    return found


def number(cell: str) -> float:
    return float(cell.replace("−", "-"))


def test_each_table_is_repeated_by_a_test():
    firsts = [table.header[0] for table in tables()]
    assert len(firsts) >= 6
    assert set(firsts) == {*REPEATED, *ELSEWHERE}
    for path in ELSEWHERE.values():
        assert (ROOT / path).is_file()


def test_the_table_of_usefulness_has_the_values_of_its_command():
    """Tests of single tasks repeat some of them; all of them take minutes."""
    path = Path(__file__).parent / "expected" / "usefulness_minilm.tsv"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    header, *kept = [line.split("\t") for line in lines]
    (table,) = [table for table in tables() if table.header[1:] == header[2:]]
    tasks = table.command.split("--tasks ")[1].split(",")
    assert tasks == [row[0] for row in kept]
    for row, (task, _, *values) in zip(table.rows, kept, strict=True):
        shown = [number(cell) for cell in row[1:]]
        assert shown == pytest.approx([float(value) for value in values], abs=0.00051), task


@pytest.mark.parametrize("first", REPEATED)
def test_a_table_is_what_its_command_gives(first, tmp_path, kept_cache, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(kept_cache))
    (table,) = [table for table in tables() if table.header[0] == first]
    _, *arguments = shlex.split(table.command)
    assert run([*arguments, "--results", str(tmp_path / "results")]) == 0
    values = {
        (record.mitigator.label, record.task.name, record.scenario, record.score): record.value
        for record in harness.read_results(tmp_path / "results")
    }
    scores = REPEATED[first]
    seat = [row[1:] for row in table.rows if row[0].startswith("C")]
    for label, *row in table.rows:
        if label.startswith("mean of"):  # of the rows above it
            size = abs if "¦" in label else float
            means = [
                np.mean([size(number(cell)) for cell in cells]) for cells in zip(*seat, strict=True)
            ]
            assert [*map(number, row)] == pytest.approx(means, abs=0.011), label
            continue
        (score,) = [score for start, score in scores.items() if label.startswith(start)]
        for mitigator, cell in zip(table.header[1:], row, strict=True):
            rounding = 0.5 * 10 ** -len(cell.partition(".")[2])
            # a classifier or a mitigator may decide a sentence otherwise on another machine
            room = 0.01 if first == "residual-bias-sentences" else 0.002
            room = 0.0005 if "cosines" in first else room
            value = values[mitigator, *score]
            assert value == pytest.approx(number(cell), abs=rounding + room), (label, mitigator)
