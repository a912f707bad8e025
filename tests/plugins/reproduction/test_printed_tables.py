"""Claims of the context-injection paper that follow from its own printed tables 3, 4 and 9."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.plugins.reproduction import rows
from harness.registry.registry import Registry

MTEB = {  # table 3
    "stella-en-1.5B-v5": 71.19, "gte-large-en-v1.5": 65.39, "mxbai-embed-large-v1": 64.68,
    "UAE-Large-V1": 64.64, "multilingual-e5-large-instruct": 64.41,
    "GIST-large-Embedding-v0": 64.34, "bge-large-en-v1.5": 64.23, "ember-v1": 63.34,
    "nomic-embed-text-v1": 62.39, "sentence-t5-xl": 57.87, "all-mpnet-base-v2": 57.77,
    "all-MiniLM-L12-v2": 56.46, "all-MiniLM-L6-v2": 56.09,
}  # fmt: skip


@pytest.fixture(scope="module")
def columns():
    """Return the printed columns of tables 4 and 9 by the row's id: value by model."""
    paper = rows.read(Registry())["uriot-2024"].paper
    return {
        row.id.removeprefix("uriot-"): {row.model: row.printed, **row.elsewhere}
        for row in paper.rows
        if row.elsewhere and row.item in ("Table 4", "Table 9")
    }


def test_tables_4_and_9_have_nine_columns_of_19_models(columns):
    assert len(columns) == 18
    assert {len(column) for column in columns.values()} == {19}
    assert set(MTEB) < set(columns["table-4-gender-neutral"])


@pytest.mark.parametrize(("table", "rho"), [("table-9", 0.786), ("table-4", 0.835)])
def test_higher_models_have_more_bias(columns, table, rho):
    neutral = [columns[f"{table}-{concept}-neutral"] for concept in ("gender", "age", "wealth")]
    means = [np.mean([column[model] for column in neutral]) for model in MTEB]
    assert spearmanr(means, list(MTEB.values()))[0] == pytest.approx(rho, abs=5e-4)


def test_four_models_take_the_negative_context_for_the_positive(columns):
    negative = [columns[f"table-4-{concept}-negative"] for concept in ("gender", "age", "wealth")]
    wrong = {m for m in negative[0] if all(column[m] >= 0.97 for column in negative)}
    assert wrong == {"xlm-roberta-base", "mistral", "phi3", "qwen2"}
