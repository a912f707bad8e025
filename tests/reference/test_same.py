"""SAME with bias planted in real vectors: why no task has it as a score.

Its magnitude counts what all targets share, such as an offset towards one group, so that it need
not rise with the bias. Its stereotype rises, but half of the gap between the groups is hardly above
what groups of the same words, divided at random, show.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import has_direction
from harness.plugins.metrics.same import same
from harness.plugins.validity.checks import AMPLITUDES, planted
from harness.registry.registry import Registry

INPUTS = ("targets_1", "targets_2", "attributes_1", "attributes_2")
MODELS = ("glove_50d", "en_core_web_md")


@pytest.fixture
def by_amplitude(request, registry):
    """Return the scores of SAME at each amplitude, for a task and a model."""

    def run(task, model):
        inputs = registry.task(task).scenarios[0].inputs
        arrays = {name: model.encode(list(inputs[name].texts)) for name in INPUTS}
        arrays = {name: rows[has_direction(rows)] for name, rows in arrays.items()}
        contrast = Registry().metric("same").contrast
        options = {"resamples": 0, "rng": np.random.default_rng(0)}
        return [same(**planted(arrays, contrast, a), **options) for a in AMPLITUDES]

    return run


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", ["weat-7", "weat-8"])
def test_the_stereotype_rises_with_the_amplitude(task, model, by_amplitude, request):
    found = [s["stereotype"].value for s in by_amplitude(task, request.getfixturevalue(model))]
    assert (np.diff(found) > 0).all()


def test_the_magnitude_does_not(by_amplitude, en_core_web_md):
    found = [s["magnitude"].value for s in by_amplitude("weat-7", en_core_web_md)]
    assert found == pytest.approx([0.095, 0.090, 0.112, 0.221], abs=1e-3)


def test_a_quarter_of_the_gap_is_below_the_floor(by_amplitude, glove_50d):
    scores = by_amplitude("weat-7", glove_50d)
    above = [s["stereotype"].value - s["stereotype"].null.values.mean() for s in scores]
    assert above[1] < 0 < above[3]
