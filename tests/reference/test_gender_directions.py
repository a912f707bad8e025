"""The tasks on the direction of gender behind the bias score, on real models.

Printed for GloVe 840B in 300 dimensions: 58 % of the variance along the first component of ten
pairs, 41 % of fifty, and a cosine of both above .93 (figure 2).
"""

from __future__ import annotations

import pytest

from harness.plugins.bias_score import scorer


@pytest.mark.parametrize(
    ("model", "cosine", "ten", "others"),
    [("glove-6b-50d", 0.975, 0.627, 0.470), ("en-core-web-md", 0.970, 0.541, 0.438)],
)
def test_ten_pairs_and_the_others_define_one_direction_as_in_figure_2(
    model, cosine, ten, others, request, scores
):
    fixture = {"glove-6b-50d": "glove_50d", "en-core-web-md": "en_core_web_md"}[model]
    values = scores("gender-direction-words", request.getfixturevalue(fixture).encode)
    values = values["default"]["direction-agreement"]
    assert values["cosine"].value == pytest.approx(cosine, abs=1e-3)
    assert values["cosine"].value > 0.93
    assert values["explained"].value == pytest.approx(ten, abs=1e-3)
    assert values["explained_other"].value == pytest.approx(others, abs=1e-3)
    assert values["explained_other"].n == 48, "four pairs are phrases that the vectors lack"


def test_the_sentences_of_the_tasks_are_those_of_the_bias_score(registry):
    female, male, _ = scorer.shipped()
    both = registry.task("gender-in-sentences").scenarios[0].inputs
    assert sorted(both["pairs_1"].texts) == sorted(male)
    assert sorted(both["pairs_2"].texts) == sorted(female)
    for scenario in registry.task("gender-direction-sentences").scenarios:
        texts = [scenario.inputs[name].texts for name in ("pairs_1", "other_1")]
        assert sorted([*texts[0], *texts[1]]) == sorted(male), scenario.name


def test_the_swapped_sentences_are_the_837_about_one_gender(registry):
    (scenario,) = registry.task("gender-direction-swapped").scenarios
    assert [len(scenario.inputs[name]) for name in ("pairs_1", "other_1")] == [419, 418]
