"""WinoBias and Winogender on all-MiniLM-L6-v2: the figures of docs/tasks.md, and their sign."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.plugins.metrics.similarity_gap import similarity_gap
from harness.plugins.validity import measuring

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")
SECTION = PAGE.partition("## Pronouns: WinoBias")[2].partition("\n## ")[0]


@pytest.mark.parametrize("task", ["winobias-similarity", "winogender-similarity"])
def test_the_page_has_the_recorded_slope(task, registry):
    (recorded,) = (row.value for row in measuring.recorded(registry) if row.task == task)
    printed = re.search(rf"`{task}`, slope \| 0 \| (\.\d+) \|", SECTION)[1]
    assert float(printed) == pytest.approx(recorded, abs=0.0006)


def test_occupations_are_closer_to_the_stereotyped_pronoun_as_in_the_paper(registry, minilm):
    """One sentence of each occupation of women and of men that come first in the data."""
    (scenario,) = registry.task("winobias-similarity").scenarios
    inputs = scenario.inputs
    shares = inputs["statistics"].numbers
    rows = np.concatenate([np.flatnonzero(shares[::16] == side)[:10] * 16 for side in (0, 1)])
    names = ("sentences", "versions_1", "versions_2")
    arrays = [minilm([inputs[name].texts[row] for row in rows]) for name in names]
    scores = similarity_gap(*arrays, shares[rows], rng=np.random.default_rng(0))
    assert scores["slope"].value > 0
