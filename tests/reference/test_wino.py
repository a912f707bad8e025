"""WinoBias on all-MiniLM-L6-v2: the sign that the paper has."""

from __future__ import annotations

import numpy as np

from harness.plugins.metrics.similarity_gap import similarity_gap


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
