"""Whether two sides of texts can be told apart, on vectors with a known difference."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.residual_sides import SCORES, residual_sides

GROUPS, TEXTS = 12, 5
CODES = {side: np.repeat(np.arange(GROUPS), TEXTS) for side in ("side_1", "side_2")}


def sides(seed: int = 0, *, apart: float = 0.0, of_group: float = 1.0, d: int = 20):
    """Return two sides: noise, a vector of each group and its side, and one of the side."""
    rng = np.random.default_rng([seed, d])
    g = rng.standard_normal(d)
    g *= apart / np.linalg.norm(g)
    result = []
    for sign in (1, -1):
        person = np.repeat(rng.standard_normal((GROUPS, d)), TEXTS, axis=0)
        noise = rng.standard_normal((GROUPS * TEXTS, d))
        result.append(noise + of_group * person + sign * g)
    return result


def run(first, second, seed=0, **options):
    rng = np.random.default_rng(seed)
    return residual_sides(first, second, rng=rng, **({"clusters": CODES} | options))


@pytest.mark.parametrize("classifier", ["rbf-svm", "logistic"])
def test_sides_that_are_far_apart_are_told_apart(classifier):
    scores = run(*sides(apart=8.0), classifier=classifier)
    assert set(scores) == set(SCORES)
    for name, score in scores.items():
        assert score.value > 0.95, name
        assert score.p_value < 0.05, name
        assert score.n == 2 * GROUPS * TEXTS
        assert score.details["groups"] == GROUPS


@pytest.mark.parametrize("d", [5, 50, 300])
def test_noise_is_at_the_floor_in_any_number_of_dimensions(d):
    """A person's own vector is no gender: the classifier never saw the person."""
    above = {name: [] for name in SCORES}
    p_values = {name: [] for name in SCORES}
    for seed in range(12):
        for name, score in run(*sides(seed, d=d), seed).items():
            floor = np.abs(np.asarray(score.null.values) - 0.5).mean()
            above[name].append(abs(score.value - 0.5) - floor)
            p_values[name].append(score.p_value)
    for name in SCORES:
        assert abs(np.mean(above[name])) < 0.05, name
        assert np.mean(np.array(p_values[name]) < 0.05) <= 0.25, name


def test_scores_rise_with_the_distance_of_the_sides():
    values = [run(*sides(apart=apart)) for apart in (0.0, 1.0, 2.0, 4.0, 8.0)]
    for name in ("recoverability", "neighbours"):
        by_distance = [score[name].value for score in values]
        assert by_distance == sorted(by_distance), name
        assert by_distance[0] < 0.65 < by_distance[3], name


def test_sides_that_are_swapped_group_by_group_are_at_chance():
    first, second = sides(apart=8.0)
    swap = (np.arange(GROUPS) % 2 == 1).repeat(TEXTS)
    first[swap], second[swap] = second[swap], first[swap]
    for name, score in run(first, second).items():
        assert abs(score.value - 0.5) < 0.25, name
        assert score.p_value > 0.01, name


def test_neighbours_of_shuffled_sides_are_those_of_swapped_rows():
    first, second = sides(apart=2.0)
    swapped = []
    for seed in range(60):
        stay = np.random.default_rng(seed).random(GROUPS).repeat(TEXTS)[:, None] < 0.5
        new = np.where(stay, first, second), np.where(stay, second, first)
        swapped.append(run(*new, null_draws=0, k=3)["neighbours"].value)
    null = run(first, second, k=3)["neighbours"].null.values
    assert np.mean(null) == pytest.approx(np.mean(swapped), abs=0.02)
    assert np.std(null) == pytest.approx(np.std(swapped), rel=0.3)
