"""Direct bias as an instrument, on GloVe 6B 50d: what it depends on besides the bias."""

from __future__ import annotations

import numpy as np
import pytest

from harness.run.scoring import MetricInputs, usable_rows


def test_direct_bias_does_not_depend_on_dimensions_that_the_words_do_not_use(glove_50d, registry):
    """Uniformly random directions fail this: their overlap falls with each dimension."""
    task = registry.task("direct-bias")
    scenario = next(s for s in task.scenarios if s.name == task.file.primary.scenario)
    use = scenario.measurements[0]
    texts = {i.name: i.texts for i in use.inputs.values()}
    vectors = {name: glove_50d.encode(list(words)) for name, words in texts.items()}
    inputs = MetricInputs.of(use.inputs, vectors, usable_rows(use.inputs, vectors))
    padded = {key: np.pad(rows, ((0, 0), (0, 250))) for key, rows in inputs.arrays.items()}
    ratios, chances = [], []
    for arrays in (inputs.arrays, padded):
        score = use.metric.measure(
            arrays,
            dict(use.options) | {"resamples": 0},
            rng=np.random.default_rng(0),
            clusters=inputs.clusters,
            texts=inputs.texts,
        )["direct_bias"]
        ratios.append(score.details["ratio"])
        chances.append(score.value / score.details["chance"])
    assert ratios[1] == pytest.approx(ratios[0], rel=0.05)
    assert chances[1] > 2 * chances[0]
