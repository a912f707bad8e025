"""MAC by hand, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.mac import mac

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def run(targets, attributes, **options):
    sets = {f"targets_{i}": np.asarray(rows) for i, rows in enumerate(targets, start=1)}
    sets |= {f"attributes_{i}": np.asarray(rows) for i, rows in enumerate(attributes, start=1)}
    return mac(**sets, **{"resamples": 0, "rng": np.random.default_rng(0)} | options)


def draw(seed, *sizes, d=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def test_targets_have_equal_weights_and_so_have_attribute_sets():
    # distances of the three targets from east: 0, 1, 1; from north: 1, 0, 0; from south: 1, 2, 2
    score = run([[EAST], [NORTH, NORTH]], [[EAST], [NORTH, [0.0, -1.0], NORTH]])
    to_north = np.mean([1, 2 / 3, 2 / 3])
    assert score.value == pytest.approx(np.mean([np.mean([0, 1, 1]), to_north]))
    assert score.n == 3
    assert score.details["attribute_sets"] == 2


def test_target_sets_are_pooled():
    x, y, a = draw(0, 4, 3, 6)
    assert run([x, y], [a]).value == pytest.approx(run([np.vstack([x, y])], [a]).value)
