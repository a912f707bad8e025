"""STS-bias and neutral pairs on all-MiniLM-L6-v2: the figures of docs/tasks.md, and their sign."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.plugins.metrics.similarity_gap import similarity_gap
from harness.plugins.validity import measuring

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")
SECTION = PAGE.partition("## Sentences about occupations")[2].partition("\n## ")[0]
TASKS = ("sts-bias-winogender", "sts-bias-winobias", "nli-bias-occupations")


@pytest.mark.parametrize("task", TASKS)
def test_the_page_has_the_recorded_slope(task, registry):
    (recorded,) = (row.value for row in measuring.recorded(registry) if row.task == task)
    printed = re.search(rf"`{task}`[^|]*\| (\.\d+) \|", SECTION)[1]
    assert float(printed) == pytest.approx(recorded, abs=0.0006)


def test_similarity_follows_labour_statistics_as_in_the_paper(registry, minilm):
    """Two of the contexts, with the eight occupations of most women and those of most men."""
    (scenario,) = registry.task("sts-bias-winogender").scenarios
    inputs = scenario.inputs
    shares = inputs["statistics"].numbers
    by_share = np.argsort(shares[::16], kind="stable")
    chosen = np.concatenate([by_share[:8], by_share[-8:]])
    rows = (chosen[:, None] * 16 + [0, 1]).ravel()
    names = ("sentences", "versions_1", "versions_2")
    arrays = [minilm([inputs[name].texts[row] for row in rows]) for name in names]
    clusters = {"sentences": rows // 16}
    scores = similarity_gap(*arrays, shares[rows], rng=np.random.default_rng(0), clusters=clusters)
    assert scores["pearson"].value > 0.3
