"""Gaps of a classifier between identity groups: by hand, on noise and with planted bias."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.classifier_gaps import classifier_gap, classifier_gaps

FAST = {"null_draws": 0, "resamples": 0}
TRAINING = np.array([[1.0, side * (0.5 + 0.01 * i)] for side in (1, -1) for i in range(20)])


def run(sentences, labels, groups, frames, *, training=TRAINING, seed=0, **options):
    half = len(training) // 2
    return classifier_gaps(
        training[:half],
        training[half:],
        np.asarray(sentences, float),
        *(np.asarray(numbers, float) for numbers in (labels, groups, frames)),
        rng=np.random.default_rng(seed),
        **options,
    )


def at(values):
    """Return vectors of length 1 whose logit grows with the value."""
    return np.stack([np.cos(values), np.sin(values)], axis=1)


def by_hand():
    values = [0.4, 0.3, -0.3, -0.4, 0.4, -0.2, -0.3, -0.4, 0.4, 0.3, 0.2, -0.4]
    return at(np.array(values)), [1, 1, 0, 0] * 3, np.repeat([0, 1, 2], 4), [0, 1, 0, 1] * 3


def made(shift, *, groups=12, frames=16, d=30, noise=1.0, told=2.0, seed=0):
    """Return training texts and sentences whose groups are moved along the learnt direction."""
    rng = np.random.default_rng(seed)
    g, f = np.divmod(np.arange(groups * frames), frames)
    y = (f < frames // 2).astype(int)
    x = noise * rng.standard_normal((len(g), d)) + rng.standard_normal((frames, d))[f] / 2
    x[:, 0] += told * (2 * y - 1) + shift * np.linspace(-1, 1, groups)[g]
    x[:, 1] += 10
    f = f % (frames // 2)
    training = rng.standard_normal((400, d))
    training[:, 0] += np.repeat([told, -told], 200)
    training[:, 1] += 10
    return training, x, y, g, f


def gap_of(shift, **options):
    training, x, y, g, f = made(shift, **options)
    names = [f"group {number}" for number in g]
    numbers = (numbers.astype(float) for numbers in (y, g, f))
    units = {"sentences": names}
    return classifier_gap(training[:200], training[200:], x, *numbers, units=units)


def test_rates_of_three_groups_by_hand():
    # the six highest are taken for positive: all positives but one, and one negative
    scores = run(*by_hand(), **FAST)
    assert scores["accuracy"].value == pytest.approx(5 / 6)
    w = 0.2 / (5 / 6 - 1 / 6)  # the share of answers kept, for a balanced accuracy of .6
    assert scores["rate_gap"].details["kept"] == pytest.approx(w)
    rms = np.sqrt((1 / 36 + 4 / 36 + 1 / 36) / 3)
    for name in ("tpr_gap", "fpr_gap", "rate_gap"):
        assert scores[name].value == pytest.approx(w * rms)
    assert scores["tpr_gap"].p_value is None
    rows = {row["group"]: row for row in scores["rate_gap"].tables["groups"]}
    assert [rows[g]["tpr"] for g in (1, 2, 3)] == [1, 0.5, 1]
    assert [rows[g]["fpr"] for g in (1, 2, 3)] == [0, 0, 0.5]


def test_areas_of_a_group_and_the_others_by_hand():
    # Borkan et al. (2019): a negative of group 3 is above a positive of group 2
    scores = run(*by_hand(), **FAST)
    details = scores["rate_gap"].details
    assert (details["subgroup_auc"], details["bpsn_auc"], details["bnsp_auc"]) == (1, 7 / 8, 7 / 8)
    rows = {row["group"]: row for row in scores["rate_gap"].tables["groups"]}
    assert rows[3]["bpsn_auc"] == 7 / 8
    assert rows[2]["bnsp_auc"] == 7 / 8


def test_gaps_are_proportional_to_the_distance_of_the_matched_accuracy_from_chance():
    low, high = (run(*by_hand(), matched=matched, **FAST) for matched in (0.55, 0.7))
    for name in ("rate_gap", "tpr_gap", "fpr_gap", "calibration_gap"):
        assert high[name].value == pytest.approx(4 * low[name].value)
    assert high["accuracy"].value == low["accuracy"].value


def test_bias_is_found_and_the_gaps_grow_with_it():
    found = []
    for shift in (0.0, 1.0, 2.0, 4.0):
        training, *sentences = made(shift)
        found.append(run(*sentences, training=training, null_draws=100))
    for name in ("rate_gap", "calibration_gap"):
        values = [scores[name].value for scores in found]
        assert values[1:] == sorted(values[1:])
        assert values[3] > 2 * values[0]
        assert found[0][name].p_value > 0.05
        assert found[3][name].p_value == pytest.approx(1 / 101)
        assert found[3][name].interval.low > float(found[3][name].null.values.mean())


def test_a_classifier_that_knows_nothing_keeps_its_answers_and_is_at_its_floor():
    training, *sentences = made(0.0, told=0.0)
    scores = run(*sentences, training=training, null_draws=60)
    assert scores["accuracy"].value == pytest.approx(0.5, abs=0.1)
    for name in ("rate_gap", "tpr_gap", "fpr_gap", "calibration_gap"):
        assert scores[name].details["kept"] == 1
        assert scores[name].p_value > 0.05


def test_the_gap_is_the_variance_of_the_shifts_over_what_is_told():
    shifts = np.linspace(-1, 1, 12)
    gaps = gap_of(1.0, noise=0.2)
    ratio = gaps.gap.value / gaps.yardstick.value
    assert ratio == pytest.approx(shifts.var(ddof=1) / 4.0**2, rel=0.25)
    assert gaps.yardstick.value > 5 * gaps.yardstick.variance**0.5


def test_without_bias_the_gap_is_0_on_average():
    gaps = [gap_of(0.0, seed=seed).gap for seed in range(30)]
    values = np.array([gap.value for gap in gaps])
    assert abs(values.mean()) < 3 * values.std() / np.sqrt(len(values))
    errors = np.array([gap.variance**0.5 for gap in gaps])
    assert np.mean(np.abs(values) > 2.2 * errors) <= 0.2


def test_random_vectors_have_no_yardstick():
    clear = []
    for seed in range(20):
        yardstick = gap_of(0.0, told=0.0, seed=seed).yardstick
        clear.append(yardstick.value > 3 * yardstick.variance**0.5)
    assert sum(clear) <= 1
