"""HolisticBias on all-MiniLM-L6-v2: made-up words, and halves that agree."""

from __future__ import annotations

import numpy as np
import pytest


def test_made_up_words_differ_less_than_nationalities(scores, minilm):
    task = "holistic-bias-nonce"
    nonce, groups = (
        scores(task, minilm, sides=sides)["default"]["group-dispersion"]["dispersion"]
        for sides in ("both", "groups")
    )
    assert nonce.value == pytest.approx(0.004, abs=0.0006)
    assert np.mean(groups.null.values) == pytest.approx(0.002, abs=0.0006), "within templates"
    assert np.mean(nonce.null.values) > nonce.value, "along other words they differ as much"
    assert groups.p_value < 0.05 < nonce.p_value
    real = scores("holistic-bias-nationality", minilm)["default"]["group-dispersion"]
    assert real["dispersion"].value > 2 * nonce.value
    assert real["dispersion"].p_value < 0.01


def test_halves_of_the_templates_order_nationalities_alike(registry, minilm):
    (scenario,) = registry.task("holistic-bias-nationality").scenarios
    inputs = scenario.inputs
    words = [minilm(inputs[name].texts).mean(axis=0) for name in ("pleasant", "unpleasant")]
    pleasantness = minilm(inputs["sentences"].texts) @ (words[0] - words[1])
    grid = pleasantness.reshape(-1, 12)  # descriptors × frames
    halves = grid[:, ::2].mean(axis=1), grid[:, 1::2].mean(axis=1)
    assert np.corrcoef(*halves)[0, 1] > 0.9
    thirds = grid[:, :6].mean(axis=1), grid[:, 6:].mean(axis=1)
    assert np.corrcoef(*thirds)[0, 1] > 0.7, "the first three templates against the others"
