"""What all-MiniLM-L6-v2 retrieves for the first neutral questions; all answers take minutes."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.corpus_leaning import corpus_leaning
from harness.plugins.metrics.version_gap import version_gap


def test_the_first_questions_on_politics_prefer_the_left(registry, minilm):
    inputs = registry.task("rag-politics-answers").scenarios[0].inputs
    names = ("queries", "versions_1", "versions_2")
    arrays = [minilm(inputs[name].texts[:100]) for name in names]
    options = {"rng": np.random.default_rng(0), "resamples": 0}
    share = version_gap(*arrays, **options)["first_share"]
    assert share.value == pytest.approx(0.42, abs=0.011)
    top = corpus_leaning(*arrays, **options)["top_share"]
    assert top.value == pytest.approx(0.436, abs=0.005)
    assert top.details["correlation"] == pytest.approx(0.460, abs=0.02)
