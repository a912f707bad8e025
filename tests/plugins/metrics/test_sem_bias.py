"""SemBias: the pair that is most similar to he and she."""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.plugins.metrics.sem_bias import KINDS, PAIRS, sem_bias

SIDES = [
    f"{kind}_{side}" for kind in ("definition", "stereotype", "none_a", "none_b") for side in (1, 2)
]


def run(direction, pairs, **options):
    return sem_bias(
        *direction, *pairs, rng=np.random.default_rng(0), **({"resamples": 0} | options)
    )


def random_inputs(seed: int, n: int = 40):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((2, 1, 5)), rng.standard_normal((len(SIDES), n, 5))


def values(scores):
    return {kind: scores[kind].value for kind in KINDS}


def test_three_questions_by_hand():
    he, she, origin = [[1.0, 0]], [[-1.0, 0]], [0.0, 1]
    along, against, across = [1.0, 0], [-1.0, 0], [0.0, -1]
    x = {  # the three questions choose definition, stereotype and none_b
        "definition": [along, across, against],
        "stereotype": [across, along, across],
        "none_a": [against, against, against],
        "none_b": [across, across, along],
    }
    pairs = [np.array(side) for rows in x.values() for side in (rows, [origin] * 3)]
    scores = run((np.array(he), np.array(she)), pairs)
    assert values(scores) == pytest.approx(
        {"definition": 1 / 3, "stereotype": 1 / 3, "none": 1 / 3}
    )
    assert scores["none"].n == 3


def test_pairs_without_any_lead_are_ties_in_single_precision():
    direction, pairs = random_inputs(0)
    g = unit_rows(unit_rows(direction[0]) - unit_rows(direction[1]))
    pairs = unit_rows(pairs.reshape(-1, 5))
    neutral = unit_rows(pairs - pairs @ g.T * g).reshape(len(SIDES), -1, 5).astype(np.float32)
    scores = run(direction, neutral)
    assert scores["preference"].value == 0.5
    assert values(scores) == {"definition": 1, "stereotype": 0, "none": 0}


def test_intervals_resample_stereotyped_pairs():
    direction, pairs = random_inputs(3)
    words = [f"w{i % 8}" for i in range(40)]
    texts = {"stereotype_1": words, "stereotype_2": words}
    for score in run(direction, pairs, texts=texts, resamples=100).values():
        assert "clusters" in score.interval.method
        assert score.interval.low <= score.value <= score.interval.high


def questions(seed, *, bias, n=40, d=30):
    """Return the inputs of questions whose stereotyped pairs differ by `bias` along he − she."""
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(d) / np.sqrt(d)
    arrays = {f"{pair}_{side}": rng.standard_normal((n, d)) for pair in PAIRS for side in (1, 2)}
    arrays["stereotype_1"] = arrays["stereotype_1"] + bias * g
    arrays["stereotype_2"] = arrays["stereotype_2"] - bias * g
    arrays["definition_1"] = arrays["definition_1"] + 9 * g
    return arrays | {"direction_1": g[None], "direction_2": -g[None]}


def preference(seed, bias, **options):
    arrays = questions(seed, bias=bias)
    rng = np.random.default_rng(seed)
    return sem_bias(**arrays, rng=rng, resamples=0, **options)["preference"]


def test_the_preference_rises_with_the_bias_of_the_stereotyped_pairs():
    values = [np.mean([preference(seed, bias).value for seed in range(5)]) for bias in (0, 1, 2, 4)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(0.5, abs=0.07)
    assert values[-1] > 0.8


def test_without_a_stereotype_the_preference_is_at_its_floor():
    above, p_values = [], []
    for seed in range(30):
        score = preference(seed, 0.0)
        above.append(abs(score.value - 0.5) - np.abs(score.null.values - 0.5).mean())
        p_values.append(score.p_value)
    assert abs(np.mean(above)) < 0.02
    assert np.mean(np.array(p_values) < 0.05) <= 0.15


def test_the_stereotyped_pair_beats_the_two_pairs_without_gender_by_hand():
    g = np.array([[1.0, 0.0]])
    pair = {"stereotype": [0.6, 0.8], "definition": [1.0, 0.1]}
    pair |= {"none_a": [0.8, 0.6], "none_b": [0.0, 1.0]}
    arrays = {f"{name}_1": np.array([row]) for name, row in pair.items()}
    arrays |= {f"{name}_2": np.zeros((1, 2)) for name in pair}
    score = sem_bias(
        **arrays, direction_1=g, direction_2=-g, rng=np.random.default_rng(0), resamples=0
    )["preference"]
    assert score.value == 0.5, "it beats one of the two"
