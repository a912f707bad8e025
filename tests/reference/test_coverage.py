"""How often 95 % intervals contain the truth: the simulations of `perf/coverage.py`."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[2] / "perf" / "coverage.py"
simulated = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
VAGUE = simulated.STATISTICS[1]
VALID = [kind for kind in simulated.STATISTICS if kind is not VAGUE]
SAMPLES = 250  # the standard error of a coverage of .95 is .014


@pytest.mark.parametrize("kind", VALID, ids=lambda kind: kind.name)
def test_intervals_of_25_words_a_set_cover_the_truth_as_often_as_they_say(kind):
    for nominal in kind.nominal:
        share, none = simulated.coverage(kind, 25, nominal, SAMPLES)
        if kind.name == "share" and nominal > 0.9:
            assert none > 0.1  # a share of 1 has no interval
            assert share >= 0.9
        else:
            assert 0.92 <= share <= 0.995, nominal


@pytest.mark.parametrize("n", [5, 8])
@pytest.mark.parametrize("kind", VALID, ids=lambda kind: kind.name)
def test_intervals_of_few_words_are_wide_rather_than_wrong(kind, n):
    for nominal in kind.nominal:
        assert simulated.coverage(kind, n, nominal, SAMPLES)[0] >= 0.9, nominal


def test_large_effect_sizes_of_few_vague_attributes_are_covered_less_often():
    """The limit that docs/using.md states."""
    assert 0.78 <= simulated.coverage(VAGUE, 8, 1.83, SAMPLES)[0] < 0.9
    for nominal in VAGUE.nominal:
        assert simulated.coverage(VAGUE, 25, nominal, SAMPLES)[0] >= 0.9
