"""The built-in metrics that the plugin lists."""

from __future__ import annotations

import pytest

from harness.plugins.metrics import harness_metrics
from harness.registry.registry import Registry

BOUNDED = ("weat", "association-test", "concept-direction", "similarity-correlation", "triplet-auc")


@pytest.mark.parametrize("name", [spec.name for spec in harness_metrics()])
def test_each_metric_loads_by_name_and_every_score_has_a_help_text(name):
    metric = Registry().metric(name)
    assert metric.name == name
    for scale in metric.scores.values():
        assert scale.help


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded_scores_declare_both_bounds(name):
    for scale in Registry().metric(name).scores.values():
        assert None not in scale.bounds
