"""StereoSet on all-MiniLM-L6-v2: the first contexts, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.related_choice import related_choice
from harness.plugins.metrics.stereotype_choice import stereotype_choice

FIRST = 12
"""Contexts that are encoded again here."""


def test_the_first_contexts_of_a_domain(registry, minilm):
    inputs = registry.task("stereoset-gender").scenarios[1].inputs
    names = ("contexts", "stereotyped", "anti_stereotyped", "unrelated")
    arrays = [minilm(inputs[name].texts[:FIRST]) for name in names]
    options = {"rng": np.random.default_rng(0), "resamples": 0}
    cosines = [np.sum(arrays[0] * part, axis=1) for part in arrays[1:]]
    share = stereotype_choice(*arrays[:3], **options)
    assert share.value == np.mean(cosines[0] > cosines[1])
    scores = related_choice(*arrays, **options)
    expected = np.mean([cosines[0] > cosines[2], cosines[1] > cosines[2]])
    assert scores["related_score"].value == pytest.approx(expected)
    assert scores["related_score"].value >= 0.8, "the model understands the contexts"
