"""Gaps in true positive rates: by hand, against scikit-learn, at chance and with planted bias."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score

from harness.errors import InvalidOption
from harness.plugins.metrics.linear_probe import deal
from harness.plugins.metrics.tpr_gap import gaps, leaning_gap, tpr_gap

CELLS = ((8, 4), (6, 6), (4, 12))
"""Items of group 0 and of group 1 in three classes."""
WRONG = {(0, 1): 2, (1, 0): 2, (2, 1): 3}
"""Items of a class and group that look like the class after it."""


def run(x, y, z, *, seed=0, texts=None, **options):
    texts = texts or [f"text {i}" for i in range(len(y))]
    options = {"null_draws": 0, "resamples": 0} | options
    return tpr_gap(
        x, y, z, rng=np.random.default_rng(seed), texts={"items": texts}, **options
    )  # fmt: skip


def by_hand():
    """Return items on the axis of a class: a classifier answers the class of the axis."""
    rows = [
        (k, group, (k + (i < WRONG.get((k, group), 0))) % 3)
        for k, cell in enumerate(CELLS)
        for group, n in enumerate(cell)
        for i in range(n)
    ]
    y, z, axis = np.array(rows).T
    return np.eye(3)[axis], y.astype(float), z.astype(float)


def biased(amplitude, *, classes=8, n=60, d=30, seed=0):
    """Return items of classes with 10 % to 90 % of group 1, moved along an axis of the groups."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), n)
    shares = np.linspace(0.1, 0.9, classes)
    z = np.concatenate([np.arange(n) < round(n * share) for share in shares]).astype(float)
    centres = rng.standard_normal((classes, d))
    x = centres[y] + 3 * rng.standard_normal((len(y), d))
    x[:, 0] += amplitude * (2 * z - 1)
    return x, y.astype(float), z


def test_gaps_of_three_classes_by_hand():
    scores = run(*by_hand())
    gap = np.array([2 / 4 - 1, 1 - 4 / 6, 9 / 12 - 1])
    share = [4 / 12, 6 / 12, 12 / 16]
    assert scores["gap_rms"].value == pytest.approx(np.sqrt((1 / 4 + 1 / 9 + 1 / 16) / 3))
    assert scores["gap_correlation"].value == pytest.approx(np.corrcoef(gap, share)[0, 1])
    assert scores["accuracy"].value == pytest.approx(33 / 40)
    table = scores["gap_rms"].tables["gaps"]
    assert [row["class"] for row in table] == [1, 2, 0]
    assert [row["gap"] for row in table] == pytest.approx([1 / 3, -1 / 4, -1 / 2])
    assert [row["items_1"] for row in table] == [6, 12, 4]


def test_the_published_formula_with_the_recall_of_scikit_learn():
    x, y, z = biased(1.0)
    folds = deal(np.arange(len(y)), (2 * y + z).astype(int), 5, np.random.default_rng(0))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    predicted = np.empty_like(y)
    for fold in range(5):
        classifier = LogisticRegression(C=10.0, max_iter=1000)
        classifier.fit(unit[folds != fold], y[folds != fold])
        predicted[folds == fold] = classifier.predict(unit[folds == fold])
    recall = [
        recall_score(y[z == g], predicted[z == g], labels=range(8), average=None) for g in (0, 1)
    ]
    gap = recall[1] - recall[0]
    scores = run(x, y, z)
    assert scores["gap_rms"].value == pytest.approx(np.sqrt(np.mean(gap**2)))
    share = [z[y == k].mean() for k in range(8)]
    assert scores["gap_correlation"].value == pytest.approx(np.corrcoef(gap, share)[0, 1])
    (part,) = scores["gap_rms"].samples
    assert (part.columns["predicted"] == predicted).all()


def test_a_class_without_enough_of_a_group_has_no_gap_and_is_still_a_class():
    x, y, z = by_hand()
    x = np.vstack([np.pad(x, ((0, 0), (0, 1))), np.tile([0, 0, 0, 1.0], (5, 1))])
    y, z = np.append(y, [9] * 5), np.append(z, [1, 1, 0, 0, 0])
    scores = run(x, y, z)
    assert scores["gap_rms"].value == pytest.approx(run(*by_hand())["gap_rms"].value)
    assert scores["accuracy"].value == pytest.approx(38 / 45)
    assert scores["gap_rms"].details["left_out"] == 1
    assert run(x, y, z, fewest=2)["gap_rms"].details["classes"] == 4


@given(st.integers(0, 200))
def test_the_names_of_the_groups_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    y, z = np.repeat([0, 1, 2], 8), np.tile([0, 0, 0, 1], 6)
    hits, member = rng.integers(0, 2, 24).astype(float), np.eye(3)[y]
    counts = rng.integers(1, 3, (2, 24)).astype(float)
    gap, share = gaps(hits, z[None], counts, member)
    other, rest = gaps(hits, 1 - z[None], counts, member)
    assert other == pytest.approx(-gap)
    assert rest == pytest.approx(1 - share)
    assert (np.abs(gap) <= 1).all()


def test_random_vectors_stand_at_the_floor():
    _, y, z = biased(0.0)
    above = []
    for seed in range(12):
        x = np.random.default_rng(100 + seed).standard_normal((len(y), 20))
        score = run(x, y, z, seed=seed, null_draws=99)["gap_rms"]
        null = score.null.values
        above.append((score.value - null.mean()) / null.std())
    assert abs(np.mean(above)) < 0.7


def test_planted_bias_widens_the_gaps_that_favour_the_majority():
    values = {}
    for amplitude in (0.0, 2.0, 3.0, 4.0):
        scores = run(*biased(amplitude, n=120), null_draws=199, resamples=100)
        gap, correlation = scores["gap_rms"], scores["gap_correlation"]
        values[amplitude] = gap.value
        assert (gap.p_value < 0.05) == (amplitude > 0), amplitude
        assert (gap.details["above_chance"] > 0.1) == (amplitude > 0)
        if amplitude:
            assert correlation.value > 0.8
            assert correlation.p_value < 0.05
        assert gap.interval.low < gap.value < gap.interval.high
    assert sorted(values.values()) == list(values.values())
    other_side = run(*biased(-4.0, n=120))["gap_rms"].value
    assert other_side > values[2.0], "which side of the axis a group is on does not matter"


def test_the_interval_of_fair_gaps_reaches_0():
    lows = [
        run(*biased(0.0, n=60, seed=seed), resamples=100)["gap_rms"].interval.low
        for seed in range(5)
    ]
    assert lows.count(0) >= 4


def test_copies_of_a_text_are_in_one_fold():
    x, y, z = biased(0.0, classes=4, n=40)
    texts = [f"{int(k)} {int(g)} {i % 2}" for i, (k, g) in enumerate(zip(y, z, strict=True))]
    random = np.random.default_rng(3).standard_normal(x.shape)
    first = [texts.index(text) for text in texts]
    assert run(random[first], y, z)["accuracy"].value > 0.9
    assert run(random[first], y, z, texts=texts)["accuracy"].value < 0.6


def test_what_cannot_be_scored_says_why():
    x, y, z = by_hand()
    assert "fewer than 3 classes" in run(x, y, z, fewest=5)["gap_rms"].reason
    assert "one text" in run(x, np.append(y[:-1], 7), z)["accuracy"].reason
    perfect = run(np.eye(3)[y.astype(int)], y, z, null_draws=9)
    assert perfect["gap_rms"].value == 0
    assert perfect["gap_rms"].p_value == 1
    assert "equal" in perfect["gap_correlation"].reason
    for options in ({"folds": 1}, {"fewest": 0}, {"c": 0.0}):
        with pytest.raises(InvalidOption, match="tpr-gap"):
            run(x, y, z, **options)
    with pytest.raises(InvalidOption, match="3 different numbers"):
        run(x, y, np.arange(len(y)) % 3)


def leaning(x, y, z):
    units = {"items": [f"text {i}" for i in range(len(y))]}
    return leaning_gap(x, y, z, units=units)


def test_logits_lean_to_the_classes_of_a_group_only_where_bias_is_planted():
    values = {a: run(*biased(a), null_draws=60)["leaning"] for a in (0.0, 1.0, 3.0)}
    assert values[0.0].p_value > 0.05
    assert values[0.0].value < values[1.0].value < values[3.0].value
    assert values[3.0].p_value == pytest.approx(1 / 61)
    assert values[3.0].interval is None, "no resamples"


def test_the_leaning_is_the_gap_over_its_yardstick():
    x, y, z = biased(4.0)
    gaps_of = leaning(x, y, z)
    assert gaps_of.gap.value > 5 * gaps_of.gap.variance**0.5
    expected = gaps_of.gap.value / gaps_of.yardstick.value
    # the folds differ: those of the gap have a seed of their own
    assert run(x, y, z)["leaning"].value == pytest.approx(expected, rel=0.05)


def test_the_leaning_of_exchanged_groups_is_0_on_average_and_noise_has_no_yardstick():
    rng = np.random.default_rng(1)
    x, y, z = biased(1.0, n=20)
    found = []
    for _ in range(12):
        exchanged = z.copy()
        for k in np.unique(y):
            exchanged[y == k] = rng.permutation(z[y == k])
        found.append(leaning(x, y, exchanged).gap)
    values = np.array([gap.value for gap in found])
    assert abs(values.mean()) < 3 * values.std() / np.sqrt(len(values))
    yardstick = leaning(rng.standard_normal(x.shape), y, z).yardstick
    assert yardstick.value < 3 * yardstick.variance**0.5
