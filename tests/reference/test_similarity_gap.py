"""STS-bias on all-MiniLM-L6-v2: the sign that the paper has."""

from __future__ import annotations

import numpy as np

from harness.plugins.metrics.similarity_gap import similarity_gap


def test_similarity_follows_labour_statistics_as_in_the_paper(registry, minilm):
    """Two of the contexts, with the eight occupations of most women and those of most men."""
    (scenario,) = registry.task("sts-bias-winogender").scenarios
    inputs = scenario.inputs
    shares = inputs["statistics"].numbers
    by_share = np.argsort(shares[::16], kind="stable")
    chosen = np.concatenate([by_share[:8], by_share[-8:]])
    rows = (chosen[:, None] * 16 + [0, 1]).ravel()
    names = ("sentences", "versions_1", "versions_2")
    arrays = [minilm([inputs[name].texts[row] for row in rows]) for name in names]
    clusters = {"sentences": rows // 16}
    scores = similarity_gap(*arrays, shares[rows], rng=np.random.default_rng(0), clusters=clusters)
    assert scores["pearson"].value > 0.3
