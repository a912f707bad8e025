"""Scores of context injection as instruments, on the vectors of all-MiniLM-L6-v2.

The published count is moved by an offset, and its test takes attributes for independent. The
association and the AUC are not; of these two, only the association has a floor that leaves the
order of the amounts of bias as it is.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import harness
from harness.arrays import unit_rows
from harness.plugins.metrics.association_test import association_test
from harness.results.record import above_floor

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


def test_with_shuffled_sides_the_count_varies_twice_as_much_as_the_binomial_says(swapped):
    counts = np.array([by_score["proportion"].value for by_score in swapped])
    assert binom.std(48, 0.5) / 48 == pytest.approx(0.072, abs=5e-4)
    assert counts.std() == pytest.approx(0.135, abs=0.01)


def test_with_shuffled_sides_the_binomial_test_rejects_twice_as_often_as_it_says(swapped):
    p_values = np.array([by_score["proportion"].p_value for by_score in swapped])
    assert 0.08 <= np.mean(p_values <= 0.05) <= 0.15


def test_with_shuffled_sides_the_permutation_rejects_as_often_as_it_says(swapped):
    p_values = np.array([by_score["association"].p_value for by_score in swapped])
    assert 0.03 <= np.mean(p_values <= 0.05) <= 0.07
    assert np.mean(p_values <= 0.5) == pytest.approx(0.5, abs=0.07)


def test_with_shuffled_attributes_random_targets_alone_would_reject_half(occupations):
    """The direction of gender is real, so two random sets of occupations differ along it."""
    rng = np.random.default_rng(21)
    both = np.vstack([occupations[name] for name in ATTRIBUTES])
    first = len(occupations["attributes_1"])
    p_values, of_targets = [], []
    for seed in range(200):
        shuffled = np.split(rng.permutation(both), [first])
        vectors = occupations | dict(zip(ATTRIBUTES, shuffled, strict=True))
        result = score(vectors, seed, permutations=199)["association"]
        p_values.append(result.p_value)
        of_targets.append(result.details["p_targets"])
    assert np.mean(np.array(of_targets) <= 0.05) > 0.4
    assert np.mean(np.array(p_values) <= 0.05) <= 0.09


def test_with_shuffled_sides_the_association_is_at_its_floor_on_average(occupations, swapped):
    floor = np.abs(score(occupations)["association"].null.values).mean()
    shown = np.abs([by_score["association"].value for by_score in swapped])
    assert shown.mean() == pytest.approx(floor, rel=0.15)


def above_floors(name, task, paired, registry, minilm):
    """Return a score above its floor where 0, ¼, ½, 1, 2, 4 and 8 times the gap is planted."""
    inputs = registry.task(task).scenarios[0].inputs
    arrays = {key: minilm(inputs[key].texts).astype(float) for key in (*TARGETS, *ATTRIBUTES)}
    ideal, bounds = {"association": (0.0, (-4, 4)), "auc": (0.5, (0, 1))}[name]
    values = []
    for amplitude in (0, 0.25, 0.5, 1, 2, 4, 8):
        vectors = planted(arrays, gap=amplitude * abs(natural_gap(arrays)))
        result = score(vectors, paired_targets=paired)[name]
        floor = np.abs(result.null.values - ideal).mean()
        values.append(above_floor(result.value, ideal, bounds, floor=floor, unit=result.unit))
    return values


@pytest.mark.parametrize(
    ("task", "paired"),
    [("gender-occupations", True), ("age-traits", False), ("wealth-ethnicities", True)],
)
def test_the_association_above_its_floor_rises_with_the_bias(task, paired, registry, minilm):
    above = above_floors("association", task, paired, registry, minilm)
    assert np.all(np.diff(above) > 0), above
    assert above[0] < 0 < above[-1]


@pytest.mark.parametrize(("task", "paired"), [("gender-occupations", True), ("age-traits", False)])
def test_the_auc_above_its_floor_rises_until_the_sets_are_apart(task, paired, registry, minilm):
    # not from 0: sets of equal means may have an AUC on either side of .5
    above = above_floors("auc", task, paired, registry, minilm)[1:]
    assert np.all(np.diff(above) >= 0), above
    assert above[0] < 0.1
    assert above[-1] > 0.8


@pytest.mark.parametrize(
    ("mitigator", "expected"),
    [
        ("none", {"proportion": 0.479, "auc": 0.883, "association": 0.0283}),
        ("context-injection", {"proportion": 0.375, "auc": 0.872, "association": 0.0201}),
        ("hard-debias", {"proportion": 0.625, "auc": 0.572, "association": 0.0012}),
    ],
)
def test_the_count_calls_worse_what_removes_the_association(mitigator, expected, registry):
    records = harness.evaluate(
        "all-MiniLM-L6-v2", ["gender-occupations"], [mitigator], registry=registry
    ).select(scenario="neutral", metric="association-test")
    by_score = {record.score: record for record in records}
    for name, value in expected.items():
        assert by_score[name].value == pytest.approx(value, abs=1e-3), name
    floor, p_value = by_score["association"].floor.mean, by_score["association"].p_value
    assert by_score["association"].primary
    assert by_score["auc"].floor.mean == pytest.approx(0.070, abs=0.01)
    if mitigator == "hard-debias":
        assert floor == pytest.approx(0.0012, abs=1e-4)
        assert p_value > 0.2
    else:
        assert by_score["association"].value > 4 * floor
        assert p_value < 0.001


def test_differences_that_are_rounding_count_as_no_difference(registry):
    records = harness.evaluate(
        "all-MiniLM-L6-v2", ["religion-words"], ["hard-debias"], registry=registry
    ).select(scenario="neutral", metric="association-test")
    assert {record.score: record.value for record in records} == {
        "proportion": 0.5, "association": 0.0, "auc": 0.5,
    }  # fmt: skip
    assert all("undone" in record.details for record in records)
