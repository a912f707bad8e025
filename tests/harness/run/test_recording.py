"""Values at the rounding level of float32 vectors: their ideal, or void, and never significant."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.metrics import Score
from harness.plugins.metrics.weat import weat
from harness.run.recording import without_rounding


def word_sets(seed: int, d: int, *, amplitude: float) -> list[np.ndarray]:
    """Return four sets of float32 vectors; the attribute sets differ along one direction only.

    All targets have lost this direction, as by hard debiasing, and the first got `amplitude` back.
    """
    rng = np.random.default_rng(seed)
    direction = unit_rows(rng.normal(size=(1, d)))
    targets = unit_rows(rng.normal(size=(12, d)))
    targets = unit_rows(targets - targets @ direction.T * direction)
    targets[:6] += amplitude * direction
    shared = rng.normal(size=(5, d))
    shared = unit_rows(shared - shared @ direction.T * direction)
    sets = (targets[:6], targets[6:], shared + 0.4 * direction, shared - 0.4 * direction)
    return [part.astype(np.float32) for part in sets]


@pytest.mark.parametrize("d", [50, 300, 1024])
@pytest.mark.parametrize("seed", range(5))
def test_an_effect_size_of_rounding_is_void(seed, d):
    scores = weat(*word_sets(seed, d, amplitude=0.0), rng=np.random.default_rng(0))
    for score in scores.values():
        assert math.isnan(score.value), score.value
        assert "rounding" in score.reason
        assert score.without_difference == 0.0


@pytest.mark.parametrize("amplitude", [1e-5, 1e-3])
def test_a_small_difference_beyond_rounding_is_measured(amplitude):
    scores = weat(*word_sets(0, 300, amplitude=amplitude), rng=np.random.default_rng(0))
    assert scores["effect_size"].value > 1.5
    assert scores["association"].value == pytest.approx(0.743 * amplitude, rel=0.01)


def test_a_vector_whose_length_hides_in_a_constant_is_measured():
    sets = word_sets(0, 300, amplitude=0.1)
    far = [np.hstack([part, np.full((len(part), 1), 30.0, np.float32)]) for part in sets]
    near, hidden = (weat(*of, rng=np.random.default_rng(0))["effect_size"] for of in (sets, far))
    assert hidden.value == pytest.approx(near.value, abs=1e-3)


def test_a_value_that_is_rounding_is_the_ideal_without_significance_and_side():
    score = Score(6.5e-9, p_value=0.02, unit=0.14, details={"reversed": True, "k": 1})
    result = without_rounding(score, 0)
    assert (result.value, result.p_value) == (0.0, 1.0)
    assert result.details == {"reversed": False, "k": 1, "rounding": 6.5e-9}
    assert without_rounding(Score(0.5 + 1e-9, unit=0.1), 0.5).value == 0.5
