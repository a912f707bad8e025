"""Checks of instruments whose faults are known: each is seen, and a good one passes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.errors import NotApplicable
from harness.metrics import Contrast, Metric, Null, Scale, Score, metric
from harness.plugins.validity import checks
from harness.plugins.validity.checks import Instrument
from harness.run.scoring import MetricInputs

FEW = checks.Draws(noise=80, shuffled=100, power=40, halves=30, words=10)
CONTRAST = Contrast(sides=("x", "y"), towards=("a", "b"))
SCALES = {"difference": Scale(ideal=0, bounds=(-4, 4))}


def association(x, y, a, b, rng, draws=100):
    """Return the difference of mean associations, with its values under shuffled members."""
    s = unit_rows(np.vstack([x, y])) @ (unit_rows(a).mean(axis=0) - unit_rows(b).mean(axis=0))
    if np.ptp(s) < 1e-12:
        return Score(float("nan"), reason="no difference")
    first = np.tile(np.arange(len(s)) < len(x), (draws, 1))
    first = rng.permuted(first, axis=1)
    null = (first * s).sum(1) / len(x) - (~first * s).sum(1) / len(y)
    value = float(s[: len(x)].mean() - s[len(x) :].mean())
    p = (1 + np.count_nonzero(np.abs(null) >= abs(value) - 1e-12)) / (draws + 1)
    return Score(value, p_value=float(p), null=Null(null, "members"))


@metric("good", scores=SCALES, contrast=CONTRAST)
def good(x, y, a, b, *, rng):
    return association(x, y, a, b, rng)


@metric("unmoved", scores=SCALES, contrast=CONTRAST)
def unmoved(x, y, a, b, *, rng):
    return association(unit_rows(x) * 0 + 1, unit_rows(y) * 0 + 2, a, b, rng)


@metric("one-sided", scores=SCALES, contrast=CONTRAST)
def one_sided(x, y, a, b, *, rng):
    score = association(x, y, a, b, rng)
    return Score(max(score.value, 0.0), p_value=score.p_value, null=score.null)


@metric("raw", scores=SCALES, contrast=CONTRAST)
def raw(x, y, a, b, *, rng):
    """Reject everything."""
    score = association(x, y, a, b, rng)
    return Score(score.value, p_value=min(score.p_value or 1.0, 0.04))


@metric("silent", scores=SCALES)
def silent(x, y, a, b, *, rng):
    return association(x, y, a, b, rng)


def instrument(function, *, words: int = 12, templates: int = 1) -> Instrument:
    rng = np.random.default_rng(7)
    arrays, clusters, texts = {}, {}, {}
    for name in "xyab":
        clusters[name] = np.repeat(np.arange(words), templates)
        own = np.repeat(rng.standard_normal((words, 40)), templates, axis=0)
        arrays[name] = own + 0.2 * rng.standard_normal(own.shape)
        texts[name] = tuple(f"{name}{i}" for i in range(len(own)))
    arrays["a"] += 2 * np.eye(40)[0]
    arrays["b"] -= 2 * np.eye(40)[0]
    made: Metric = function.metric
    groups = {name: name for name in arrays}
    return Instrument(made, "difference", {}, MetricInputs(arrays, clusters, texts), groups)


def failures(function, **options):
    figures = checks.check(instrument(function, **options), seed=0, draws=FEW)
    return figures, checks.failures(figures, SCALES["difference"])


def test_a_good_instrument_passes():
    figures, failed = failures(good)
    assert failed == ()
    assert figures["rejected"] <= 0.1
    assert 1 / 64 < figures["detectable"] < 1
    assert figures["reliability"] > 0.7
    assert all(abs(value) < 0.5 for value in figures["noise"].values())
    values = list(figures["planted"].values())
    assert values == sorted(values)
    assert figures["planted"]["0"] == pytest.approx(0, abs=1e-9)


def test_faulty_instruments_are_found():
    _, failed = failures(unmoved)
    assert any("does not move" in line or "has no value" in line for line in failed)
    _, failed = failures(one_sided)
    assert "does not move with planted bias, or to one side only" in failed
    figures, _ = failures(raw)
    assert figures["rejected"] == 1, "a wrong p-value is shown"


def test_a_score_that_shows_bias_where_there_is_none_fails():
    planted = {f"{a:g}": 0.1 + a for a in (-1, -0.5, -0.25, 0, 0.25, 0.5, 1)}
    figures = {"planted": planted, "floor": 0.01, "spread": 0.01, "detectable": 0.5}
    assert checks.failures(figures, SCALES["difference"]) == ("shows 0.100 where there is no bias",)


def test_a_metric_without_a_contrast_says_what_cannot_be_measured():
    figures, failed = failures(silent)
    assert failed == ()
    assert "no contrast" in figures["missing"][0]
    assert figures["value"] is not None
    assert "reliability" not in figures


def test_fewer_words_are_less_reliable_and_find_less():
    few, many = failures(good, words=4)[0], failures(good, words=24)[0]
    assert few["reliability"] < many["reliability"]
    assert few["detectable"] > many["detectable"]


def test_reliability_is_that_of_spearman_and_brown():
    rng = np.random.default_rng(0)
    true = rng.standard_normal(20_000)
    halves = true[:, None] + rng.standard_normal((20_000, 2))  # r is .5
    assert checks.reliability([halves]) == pytest.approx(2 / 3, abs=0.01)
    assert checks.reliability(np.split(halves, 4)) == pytest.approx(2 / 3, abs=0.02)
    assert checks.reliability([halves[:5]]) is None
    assert checks.reliability([halves * 0]) == 0


def test_the_smallest_amplitude_with_enough_power_is_found():
    assert checks.detectable(lambda a: a) == pytest.approx(2**-0)
    assert checks.detectable(lambda a: float(a > 0.3)) == pytest.approx(2**-1.5)
    assert checks.detectable(lambda a: 1.0) == pytest.approx(1 / 64)
    assert checks.detectable(lambda a: 0.5) is None
    assert checks.detectable(lambda a: None) is None


def test_shuffled_sides_exchange_whole_clusters():
    made = instrument(good, words=6, templates=3)
    rng = np.random.default_rng(0)
    result = checks.shuffled_sides(made, made.inputs, CONTRAST, rng)
    texts = {*result.texts["x"], *result.texts["y"]}
    assert texts == {*made.inputs.texts["x"], *made.inputs.texts["y"]}
    assert set(result.texts["x"]) != set(made.inputs.texts["x"])
    for name in "xy":
        assert set(np.unique(result.clusters[name], return_counts=True)[1]) == {3}
        for text, row in zip(result.texts[name], result.arrays[name], strict=True):
            source = made.inputs.texts[text[0]].index(text)
            assert (made.inputs.arrays[text[0]][source] == row).all()


def test_the_part_of_an_item_is_exchanged_with_it():
    made = instrument(good, words=6, templates=1)
    numbers = {"of_x": np.arange(6.0), "of_y": np.arange(6.0) + 10}
    inputs = MetricInputs(
        {**made.inputs.arrays, **numbers},
        {**made.inputs.clusters, "of_x": np.arange(6), "of_y": np.arange(6)},
        {**made.inputs.texts, "of_x": (), "of_y": ()},
    )
    groups = {"x": "x", "y": "y", "a": "a", "b": "b", "of_x": "x", "of_y": "y"}
    parted = Instrument(made.metric, made.score, {}, inputs, groups)
    contrast = dataclasses.replace(CONTRAST, parts=("of_x", "of_y", "of_a", "of_b"))
    result = checks.shuffled_sides(parted, inputs, contrast, np.random.default_rng(0))
    part_of = {f"x{i}": i for i in range(6)} | {f"y{i}": 10 + i for i in range(6)}
    for name in "xy":
        texts = [text.split()[0] for text in result.texts[name]]
        assert [part_of[text] for text in texts] == result.arrays[f"of_{name}"].tolist()
    assert set(result.arrays["of_x"]) != set(range(6))
    with pytest.raises(NotApplicable, match="belong to another input"):
        checks.shuffled_sides(parted, inputs, CONTRAST, np.random.default_rng(0))


def test_labels_are_exchanged_within_classes():
    rng = np.random.default_rng(0)
    classes, labels = np.repeat([3.0, 1.0], 20), np.repeat([0.0, 1.0, 0.0, 1.0], [15, 5, 5, 15])
    arrays = {"x": rng.standard_normal((40, 4)), "labels": labels, "classes": classes}
    codes, texts = dict.fromkeys(arrays, np.arange(40)), {"x": tuple(map(str, range(40)))}
    contrast = Contrast(("x",), ("a", "b"), labels="labels", within="classes")
    inputs = MetricInputs(arrays, codes, texts)
    result = checks.shuffled_sides(instrument(good), inputs, contrast, rng).arrays
    assert (result["labels"] != labels).any()
    assert [result["labels"][classes == k].sum() for k in (3, 1)] == [5, 15]
    assert result["x"] is arrays["x"]


def test_shuffled_pairs_swap_their_sides():
    made = instrument(good)
    paired = Instrument(
        made.metric, made.score, {}, made.inputs, {"x": "p", "y": "p", "a": "a", "b": "b"}
    )
    result = checks.shuffled_sides(paired, paired.inputs, CONTRAST, np.random.default_rng(0))
    for i in range(12):
        assert {result.texts["x"][i], result.texts["y"][i]} == {f"x{i}", f"y{i}"}
    assert any(text[0] == "y" for text in result.texts["x"])


def test_halves_have_each_word_once_and_keep_aligned_rows_together():
    made = instrument(good, words=7, templates=2)
    paired = Instrument(
        made.metric, made.score, {}, made.inputs, {"x": "p", "y": "p", "a": "a", "b": "b"}
    )
    first, second = checks.halves(paired, paired.inputs, np.random.default_rng(0))
    for name in "xyab":
        assert {*first.texts[name]} | {*second.texts[name]} == {*made.inputs.texts[name]}
        assert not {*first.texts[name]} & {*second.texts[name]}
    assert [text[1:] for text in first.texts["x"]] == [text[1:] for text in first.texts["y"]]


def test_noise_gives_the_same_text_the_same_vector():
    made = instrument(good)
    shared = MetricInputs(
        made.inputs.arrays,
        made.inputs.clusters,
        {**made.inputs.texts, "b": made.inputs.texts["a"]},
    )
    result = checks.noise_like(shared, 50, np.random.default_rng(0))
    assert (result.arrays["a"] == result.arrays["b"]).all()
    assert result.arrays["x"].shape == (12, 50)


def test_the_units_of_a_contrast_are_shuffled_halved_and_left_out_together():
    contrast = Contrast(sides=("x",), towards=("a",), labels="groups", units="names")
    rng = np.random.default_rng(0)
    names = np.tile(np.arange(6.0) + 3, 4)
    arrays = {
        "x": rng.standard_normal((24, 5)), "a": rng.standard_normal((24, 5)),
        "groups": names % 2, "names": names,
    }  # fmt: skip
    own = MetricInputs(
        arrays, dict.fromkeys(arrays, np.arange(24)), dict.fromkeys(arrays, ("t",) * 24)
    )
    groups = dict.fromkeys(arrays, "table")
    inputs = checks.with_units(own, contrast, groups)
    made = Instrument(silent.metric, "difference", {}, inputs, groups)
    assert checks.with_units(own, CONTRAST, groups) is own
    shuffled = checks.shuffled_sides(made, inputs, contrast, rng).arrays["groups"].reshape(4, 6)
    assert (shuffled == shuffled[0]).all()
    halves = [set(half.arrays["names"]) for half in checks.halves(made, inputs, rng)]
    assert halves[0].isdisjoint(halves[1])
    without = checks.without_one(made, contrast, 10, rng)
    assert [len(inputs.arrays["x"]) for inputs in without] == [20] * 6
