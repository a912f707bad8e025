"""Scores of context injection as instruments, on the vectors of all-MiniLM-L6-v2.

The published count is moved by an offset, and its test takes attributes for independent. The
association and the AUC are not.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.plugins.metrics.association_test import association_test

TARGETS, ATTRIBUTES = ("targets_1", "targets_2"), ("attributes_1", "attributes_2")


@pytest.fixture(scope="module")
def occupations(registry, minilm):
    """Return vectors of the inputs of gender-occupations in neutral sentences."""
    inputs = registry.task("gender-occupations").scenarios[0].inputs
    return {name: minilm(inputs[name].texts).astype(float) for name in (*TARGETS, *ATTRIBUTES)}


def score(arrays, seed=0, **options):
    options = {"paired_targets": True, "resamples": 0, "permutations": 999} | options
    sets = [arrays[name] for name in (*TARGETS, *ATTRIBUTES)]
    return association_test(*sets, rng=np.random.default_rng(seed), **options)


def gender(arrays):
    """Return the unit direction from the second targets to the first."""
    first, second = (unit_rows(arrays[name]).mean(axis=0) for name in TARGETS)
    return unit_rows([first - second])[0]


def planted(arrays, *, gap, offset=0.0):
    """Return the attributes with a mean gap and a mean offset along gender, all else kept."""
    g = gender(arrays)
    return arrays | {
        name: unit_rows(
            arrays[name] + np.outer(np.full(len(arrays[name]), offset + side * gap / 2), g)
            - (arrays[name] @ g).mean() * g
        )
        for name, side in zip(ATTRIBUTES, (1, -1), strict=True)
    }  # fmt: skip


def natural_gap(arrays):
    g = gender(arrays)
    return float((arrays[ATTRIBUTES[0]] @ g).mean() - (arrays[ATTRIBUTES[1]] @ g).mean())


def test_an_offset_of_all_attributes_hides_a_stereotype_from_the_count_alone(occupations):
    gap = natural_gap(occupations)
    shown = {
        offset: score(planted(occupations, gap=gap, offset=offset)) for offset in (-0.2, 0.0, 0.2)
    }
    proportions = {offset: round(s["proportion"].value, 3) for offset, s in shown.items()}
    assert proportions == {-0.2: 0.625, 0.0: 0.854, 0.2: 0.375}, proportions
    for by_score in shown.values():
        assert by_score["auc"].value == pytest.approx(0.883, abs=0.02)
        assert by_score["association"].value == pytest.approx(0.028, abs=0.002)


@pytest.fixture(scope="module")
def swapped(occupations):
    """Return the scores of 500 random swaps of the sides of the 20 pairs of targets."""
    rng = np.random.default_rng(20)
    first, second = (occupations[name] for name in TARGETS)
    results = []
    for seed in range(500):
        swap = rng.random((len(first), 1)) < 0.5
        sides = {
            "targets_1": np.where(swap, second, first),
            "targets_2": np.where(swap, first, second),
        }
        results.append(score(occupations | sides, seed, permutations=199))
    return results


def test_with_shuffled_sides_the_binomial_test_rejects_twice_as_often_as_it_says(swapped):
    p_values = np.array([by_score["proportion"].p_value for by_score in swapped])
    assert 0.08 <= np.mean(p_values <= 0.05) <= 0.15


def test_with_shuffled_sides_the_permutation_rejects_as_often_as_it_says(swapped):
    p_values = np.array([by_score["association"].p_value for by_score in swapped])
    assert 0.03 <= np.mean(p_values <= 0.05) <= 0.07
    assert np.mean(p_values <= 0.5) == pytest.approx(0.5, abs=0.07)
