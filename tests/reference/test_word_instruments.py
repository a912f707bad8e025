"""Metrics of words as instruments: noise, planted bias, shuffled sides, one constant vector.

Bias is planted in GloVe 6B 50d and in spaCy's 300d vectors: what the words have of it is taken out
first, then a multiple of the gap between the groups is put in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from harness.metrics import Metric, Score
from harness.plugins.validity.checks import planted
from harness.registry.registry import Registry
from harness.results.record import above_floor, loss

AMPLITUDES = (0.0, 0.25, 0.5, 1.0)
CHEAP = {"resamples": 0}
MOVES = [  # task, score: its distance from fair rises with the bias
    ("rnd-gender", "difference"),
    ("ripa-gender", "association"),
    ("rnsb-gender", "gap"),
    ("direct-bias", "direct_bias"),
    ("profession-stereotypes", "spearman"),
]
Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module", params=["glove_50d", "en_core_web_md"])
def model(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def arrays_of(registry: Registry) -> Callable[..., tuple[Metric, dict[str, Any], Arrays]]:
    """Return a function that gives a task's metric, its options, and arrays in a model."""

    def look_up(name: str, encode: Callable[[list[str]], np.ndarray]):
        task = registry.task(name)
        scenario = next(s for s in task.scenarios if s.name == task.file.primary.scenario)
        use = scenario.measurements[0]
        arrays, known = {}, {}
        for key, item in use.inputs.items():
            rows = item.numbers if item.texts is None else encode(list(item.texts))
            arrays[key] = np.asarray(rows, dtype=np.float64)
            usable = np.isfinite(arrays[key]).reshape(len(item), -1).all(axis=1)
            known[item.group] = known.get(item.group, True) & usable
        kept = {key: arrays[key][known[item.group]] for key, item in use.inputs.items()}
        return use.metric, dict(use.options), kept

    return look_up


def noise(seed: int, dimensions: int) -> Callable[[list[str]], np.ndarray]:
    """Return an encoder that draws the vector of each word at random, once."""
    rng, known = np.random.default_rng([dimensions, seed]), {}

    def encode(words):
        for word in words:
            if word not in known:
                known[word] = rng.standard_normal(dimensions)
        return np.array([known[word] for word in words])

    return encode


def measured(metric: Metric, options: Mapping[str, Any], arrays: Arrays, seed: int = 0):
    chosen = dict(options) | {k: v for k, v in CHEAP.items() if k in metric.options}
    texts = {key: [str(row) for row in range(len(rows))] for key, rows in arrays.items()}
    rng = np.random.default_rng(seed)
    return metric.measure(arrays, chosen, rng=rng, clusters={}, texts=texts)


def excess(metric: Metric, name: str, score: Score) -> float:
    """Return how far a score is from fair beyond its floor, as a board has it."""
    scale = metric.scores[name]
    bounds = score.bounds or scale.bounds
    floor = np.nanmean([loss(value, scale.ideal, bounds) for value in score.null.values])
    value = above_floor(score.value, scale.ideal, bounds, floor=floor, unit=score.unit)
    assert value is not None
    return value


@pytest.mark.parametrize(("task", "score"), MOVES)
def test_a_score_rises_with_the_bias_that_is_planted(task, score, model, arrays_of):
    metric, options, arrays = arrays_of(task, model.encode)
    values = [
        excess(metric, score, measured(metric, options, new)[score])
        for new in (planted(arrays, metric.contrast, amplitude) for amplitude in AMPLITUDES)
    ]
    assert values == sorted(values), "distance above the floor by amplitude"
    assert values[0] < 0.05 < values[-1], "no bias is no distance; much bias is one"


@pytest.mark.parametrize(("task", "score"), MOVES)
@pytest.mark.parametrize("dimensions", [10, 50, 300])
def test_noise_is_at_the_floor_in_any_number_of_dimensions(task, score, dimensions, arrays_of):
    values, p_values = [], []
    for seed in range(12):
        metric, options, arrays = arrays_of(task, noise(seed, dimensions))
        result = measured(metric, options, arrays, seed)[score]
        values.append(excess(metric, score, result))
        p_values.append(result.p_value)
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(len(values)) + 0.01
    if p_values[0] is not None:
        assert np.mean(np.array(p_values) < 0.05) <= 0.25


@pytest.mark.parametrize("task", ["rnd-gender", "ripa-gender", "rnsb-gender", "rnsb-ethnicity"])
def test_shuffled_attributes_are_significant_as_often_as_they_may(task, glove_50d, arrays_of):
    metric, options, arrays = arrays_of(task, glove_50d.encode)
    name = list(metric.scores)[-1]
    assert metric.contrast is not None
    first, second = metric.contrast.sides
    if name == "gap":
        options = options | {"repeats": 3}
    together, size = np.vstack([arrays[first], arrays[second]]), len(arrays[first])
    rng, p_values = np.random.default_rng(0), []
    for seed in range(60):
        order = rng.permutation(len(together))
        halves = {first: together[order[:size]], second: together[order[size:]]}
        p_values.append(measured(metric, options, arrays | halves, seed)[name].p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.14


def test_direct_bias_does_not_depend_on_dimensions_that_the_words_do_not_use(glove_50d, arrays_of):
    """Uniformly random directions fail this: their overlap falls with each dimension."""
    metric, options, arrays = arrays_of("direct-bias", glove_50d.encode)
    padded = {key: np.pad(rows, ((0, 0), (0, 250))) for key, rows in arrays.items()}
    ratios, chances = [], []
    for vectors in (arrays, padded):
        score = measured(metric, options, vectors)["direct_bias"]
        ratios.append(score.details["ratio"])
        chances.append(score.value / score.details["chance"])
    assert ratios[1] == pytest.approx(ratios[0], rel=0.05)
    assert chances[1] > 2 * chances[0]
