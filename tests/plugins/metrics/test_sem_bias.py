"""SemBias: the pair that is most similar to he and she."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.plugins.metrics.sem_bias import sem_bias

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
    return {name: score.value for name, score in scores.items()}


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


@given(st.integers(0, 2**32 - 1))
def test_shares_sum_to_one_and_are_invariant_under_rotation(seed):
    direction, pairs = random_inputs(seed)
    turn = ortho_group.rvs(5, random_state=seed)
    scores = run(direction, pairs)
    assert sum(values(scores).values()) == pytest.approx(1)
    assert values(run(direction @ turn, pairs @ turn)) == values(scores)
    assert values(run(3 * direction, 0.5 * pairs)) == values(scores)


def test_swapping_all_sides_and_the_direction_has_no_effect():
    direction, pairs = random_inputs(1)
    swapped = pairs.reshape(4, 2, *pairs.shape[1:])[:, ::-1].reshape(pairs.shape)
    assert values(run(direction[::-1], swapped)) == values(run(direction, pairs))


def test_lengths_of_words_matter_only_without_unit_length():
    direction, pairs = random_inputs(2)
    pairs[0] *= 50
    published = values(run(direction, pairs, unit_length=False))
    assert published != values(run(direction, pairs))
    assert values(run(direction, pairs)) == values(run(direction, [pairs[0] / 50, *pairs[1:]]))


def test_intervals_resample_stereotyped_pairs():
    direction, pairs = random_inputs(3)
    words = [f"w{i % 8}" for i in range(40)]
    texts = {"stereotype_1": words, "stereotype_2": words}
    for score in run(direction, pairs, texts=texts, resamples=100).values():
        assert "clusters" in score.interval.method
        assert score.interval.low <= score.value <= score.interval.high


@pytest.mark.parametrize("case", ["no questions", "no direction", "sides are equal"])
def test_undefined_shares_have_a_reason(case):
    direction, pairs = random_inputs(4)
    if case == "no questions":
        pairs = pairs[:, :0]
    elif case == "no direction":
        direction = direction[:, :0]
    else:
        direction = direction[[0, 0]]
    for score in run(direction, pairs).values():
        assert np.isnan(score.value)
        assert score.reason
