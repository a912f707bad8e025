"""How all-MiniLM-L6-v2 ranks names.

All résumés take minutes; the values of the command are kept, and one screening is repeated in part.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import paired_cosines
from harness.plugins.validity import measuring

TASKS = ("screening-race", "screening-gender")


def test_the_values_are_those_that_validity_was_measured_on(registry, expected):
    values = expected("screening_minilm.json")
    rows = {row.task: row for row in measuring.recorded(registry)}
    for task in TASKS:
        assert rows[task].value == pytest.approx(values[task]["rank_gap"]["value"], abs=1e-4)


def test_ranks_of_some_names_are_repeated(registry, minilm, expected):
    inputs = registry.task("screening-race").scenarios[0].inputs
    chosen = slice(0, 240, 12)  # of the first screening
    cosines = paired_cosines(
        *(minilm(inputs[name].texts[chosen]) for name in ("resumes", "queries"))
    )
    assert cosines == pytest.approx(
        np.array(expected("screening_minilm.json")["cosines"]), abs=2e-4
    )
