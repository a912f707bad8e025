"""Tables 4 and 9 of the context-injection paper as printed: a slip, and how both methods agree."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

TABLES = Path(__file__).parent / "expected" / "uriot_tables.tsv"
TRAITS = 29
"""Attributes of age: a printed proportion is a number of 29."""
CONCEPTS = ("gender", "age", "wealth")


@pytest.fixture(scope="module")
def rows():
    """Return the 19 rows of both tables, cells as printed."""
    lines = [line for line in TABLES.read_text("utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def proportion(cell):
    return float(cell.rstrip("*"))


def traits(cell):
    """Return the number of traits that a printed proportion stands for."""
    return round(proportion(cell) * TRAITS)


def test_age_under_debiasing_repeats_the_neutral_column_of_the_row_above_in_15_of_15_rows(rows):
    repeats = {
        above + 2
        for above, (row, debiased) in enumerate(pairwise(rows))
        if traits(row["p_age_neutral"]) == traits(debiased["p_age_debiasing"])
    }
    assert repeats == set(range(3, 18))
    for row in sorted(repeats):
        above, cell = rows[row - 2]["p_age_neutral"], rows[row - 1]["p_age_debiasing"]
        assert proportion(cell) == pytest.approx(proportion(above), abs=0.0101)
        assert cell.count("*") == above.count("*"), row


@pytest.mark.parametrize("concept", ["gender", "wealth"])
def test_no_other_concept_repeats_the_row_above(concept, rows):
    same = [
        row[f"p_{concept}_neutral"] == debiased[f"p_{concept}_debiasing"]
        for row, debiased in pairwise(rows)
    ]
    assert sum(same) <= 3


def test_the_two_methods_correlate_as_the_paper_says_but_for_rounding(rows):
    def means(name):
        return np.mean(
            [[proportion(row[name.format(c)]) for c in CONCEPTS] for row in rows], axis=1
        )

    p, rho = means("p_{}_neutral"), means("rho_{}_neutral")
    assert len(p) == 19
    correlation = np.corrcoef(p, rho)[0, 1]
    assert correlation == pytest.approx(0.809, abs=5e-4)  # printed: .82
    rng = np.random.default_rng(0)
    rounded = [
        np.corrcoef(p + rng.uniform(-0.005, 0.01, (3, 19)).mean(axis=0),
                    rho + rng.uniform(-0.005, 0.01, (3, 19)).mean(axis=0))[0, 1]
        for _ in range(2_000)
    ]  # fmt: skip
    assert max(rounded) == pytest.approx(0.82, abs=0.005)
