"""The gap of an association: its value, its variance, and the interval of its ratio."""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.metrics import Gap
from harness.plugins.metrics.statistics.gaps import association_gap, gap_of_sets, means_by_unit
from harness.results.ratios import ratio_of

NAMES = ("targets_1", "targets_2", "attributes_1", "attributes_2")


def sets(rng, sizes, *, shift=1.0, dimensions=20):
    """Return four sets whose first and second ones differ along two directions that are near."""
    signs = (1, -1, 1, -1)
    axis = np.zeros(dimensions)
    axis[0] = shift
    return {
        name: rng.normal(size=(size, dimensions)) + sign * axis
        for name, size, sign in zip(NAMES, sizes, signs, strict=True)
    }


def words(arrays):
    return {name: [f"{name} {i}" for i in range(len(rows))] for name, rows in arrays.items()}


def association(arrays):
    x, y, a, b = (unit_rows(arrays[name]).mean(axis=0) for name in NAMES)
    return float((x - y) @ (a - b))


def test_the_gap_of_four_words_is_known_by_hand():
    arrays = {
        "targets_1": np.array([[1.0, 0.0]]),
        "targets_2": np.array([[0.0, 2.0]]),
        "attributes_1": np.array([[3.0, 0.0]]),
        "attributes_2": np.array([[0.0, 1.0], [1.0, 0.0]]),
    }
    # cos(x, a) − cos(y, a) = 1; the mean of cos(x, b) − cos(y, b) over b is (−1 + 1)/2 = 0.
    assert association_gap(**arrays, units=words(arrays)).gap.value == pytest.approx(1.0)


def test_deviations_are_those_of_leaving_each_word_out():
    arrays = sets(np.random.default_rng(0), (6, 7, 5, 8))
    units = words(arrays)
    gap = association_gap(**arrays, units=units).gap
    for name, rows in arrays.items():
        n = len(rows)
        without = np.array(
            [association(arrays | {name: np.delete(rows, i, axis=0)}) for i in range(n)]
        )
        expected = (without - without.mean()) * np.sqrt((n - 1) / n)
        own = [gap.deviations[unit] for unit in units[name]]
        np.testing.assert_allclose(own, expected, atol=1e-12)


def test_the_texts_of_a_word_are_one_unit():
    rng = np.random.default_rng(1)
    arrays = sets(rng, (5, 5, 5, 5))
    twice = {name: np.repeat(rows, 2, axis=0) for name, rows in arrays.items()}
    units = {
        name: [unit for unit in list_ for _ in (0, 1)] for name, list_ in words(arrays).items()
    }
    one, two = association_gap(**arrays, units=words(arrays)), association_gap(**twice, units=units)
    assert two.gap.value == pytest.approx(one.gap.value)
    assert two.gap.deviations == pytest.approx(one.gap.deviations)
    assert two.gap.variance == pytest.approx(one.gap.variance)


def test_pairs_vary_together():
    rng = np.random.default_rng(2)
    arrays = sets(rng, (9, 9, 6, 6))
    # Both words of a pair share a part, which the difference of the pair does not have.
    shared = rng.normal(size=(9, 20)) * 3
    arrays["targets_1"] += shared
    arrays["targets_2"] += shared
    units = words(arrays)
    apart = association_gap(**arrays, units=units).gap
    units["targets_1"] = units["targets_2"] = [f"pair {i}" for i in range(9)]
    pairs = association_gap(**arrays, units=units).gap
    assert pairs.value == pytest.approx(apart.value)
    assert pairs.variance < apart.variance


@pytest.mark.parametrize("change", ["times 5", "a constant"])
def test_a_ratio_is_the_same_after_changes_that_have_no_bias(change):
    rng = np.random.default_rng(3)
    bias, yardstick = sets(rng, (8, 8, 8, 8), shift=0.5), sets(rng, (8, 8, 8, 8))

    def changed(arrays):
        if change == "times 5":
            return {name: rows * 5 for name, rows in arrays.items()}
        return {name: np.hstack([unit_rows(rows), np.full((len(rows), 1), 2.0)])
                for name, rows in arrays.items()}  # fmt: skip

    ratios = [
        ratio_of(
            association_gap(**one, units=words(one)).gap,
            association_gap(**other, units=words(other)).gap,
            "y",
        )
        for one, other in ((bias, yardstick), (changed(bias), changed(yardstick)))
    ]
    for field in ("value", "low", "high", "t"):
        assert getattr(ratios[1], field) == pytest.approx(getattr(ratios[0], field), rel=1e-9)


@pytest.mark.parametrize("sizes", [(8, 8, 8, 8), (25, 25, 8, 8)], ids=["8", "25 and 8"])
def test_intervals_of_ratios_hold_the_true_ratio_in_95_percent(sizes):
    """Words are drawn from populations whose ratio is known: 600 draws, ± 1.8 points."""
    rng = np.random.default_rng(4)
    many = [unit_rows(rows) for rows in sets(rng, (400,) * 4, shift=1.2).values()]
    few = [unit_rows(rows) for rows in sets(rng, (400,) * 4, shift=0.6).values()]
    true = association(dict(zip(NAMES, few, strict=True))) / association(
        dict(zip(NAMES, many, strict=True))
    )
    held = 0
    for _ in range(600):
        gaps = []
        for population, size in ((few, sizes), (many, (20, 20, 20, 20))):
            arrays = {
                name: rows[rng.choice(len(rows), n, replace=False)]
                for name, rows, n in zip(NAMES, population, size, strict=True)
            }
            gaps.append(association_gap(**arrays, units=words(arrays)).gap)
        ratio = ratio_of(*gaps, "y")
        held += ratio.low <= true <= ratio.high
    assert 0.93 <= held / 600 <= 0.98


def test_noise_leaves_the_ratio_within_its_interval():
    rng = np.random.default_rng(5)
    bias, yardstick = sets(rng, (12,) * 4, shift=1.5), sets(rng, (40,) * 4, shift=2.0)

    def ratio(noise):
        return ratio_of(
            *(
                association_gap(
                    **{
                        name: unit_rows(rows) + noise * unit_rows(rng.normal(size=rows.shape))
                        for name, rows in arrays.items()
                    },
                    units=words(arrays),
                ).gap
                for arrays in (bias, yardstick)
            ),
            "y",
        )

    clean = ratio(0).value
    noisy = [ratio(1.0) for _ in range(40)]
    assert np.mean([r.value for r in noisy]) == pytest.approx(clean, abs=0.12)
    assert sum(r.low <= clean <= r.high for r in noisy) >= 38
    assert np.mean([r.high for r in noisy]) > ratio(0).high, "who is blurred cannot show less"


def test_the_mean_of_gaps_adds_up_units_of_one_name():
    one = Gap(1.0, {"a": 0.3, "b": 0.4}, df=5)
    two = Gap(3.0, {"a": 0.3}, df=10)
    mean = Gap.mean([one, two])
    assert mean.value == 2.0
    assert mean.deviations == pytest.approx({"a": 0.3, "b": 0.2})
    assert mean.variance == pytest.approx(0.3**2 + 0.2**2)


def test_means_by_unit_weigh_units_by_their_texts():
    part = means_by_unit(np.array([1.0, 3.0, 5.0]), ["a", "a", "b"])
    assert part.names == ["a", "b"]
    np.testing.assert_allclose(part.values, [2.0, 5.0])
    np.testing.assert_allclose(part.weights, [2 / 3, 1 / 3])
    gap = gap_of_sets(3.0, [part])
    # k/(k − 1) Σ w² (g − mean)² with the mean 3: 2 · ((2/3)² · 1 + (1/3)² · 4).
    assert gap.variance == pytest.approx(2 * (4 / 9 + 4 / 9))


def test_one_word_has_no_variance():
    arrays = sets(np.random.default_rng(6), (1, 1, 1, 1))
    gap = association_gap(**arrays, units=words(arrays)).gap
    assert gap.variance == 0
    assert gap.deviations == {}
