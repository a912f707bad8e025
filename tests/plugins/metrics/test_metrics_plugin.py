"""What the plugin of metrics lists."""

from __future__ import annotations

import pytest

from harness.registry.registry import Registry

NAMES = ("weat", "association-test", "concept-direction", "similarity-correlation", "triplet-auc")


@pytest.mark.parametrize("name", NAMES)
def test_each_metric_loads_by_name_and_says_how_its_scores_are_read(name):
    metric = Registry().metric(name)
    assert metric.name == name
    for scale in metric.scores.values():
        assert scale.help
        assert None not in scale.bounds
