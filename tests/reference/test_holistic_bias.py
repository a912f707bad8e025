"""HolisticBias on all-MiniLM-L6-v2: made-up words are the negative control."""

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
