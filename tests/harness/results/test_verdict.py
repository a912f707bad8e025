"""The verdict on a model beside its base, on records with known deviations."""

from __future__ import annotations

import numpy as np
import pytest
from score_records import record, similarity

from harness.results.comparison import compare
from harness.results.verdict import OVERALL, moved_items

UNITS = 40


def biased(model, task, gaps, *, yardsticks=None, family="", category="gender", **more):
    """Return a record whose gap and yardstick are means of what each unit contributes."""
    gaps = np.asarray(gaps)
    yardsticks = np.ones_like(gaps) if yardsticks is None else yardsticks

    def deviations(values):
        n = len(values)
        return (values - values.mean()) / np.sqrt(n * (n - 1))

    n, d = deviations(gaps), deviations(yardsticks)
    error = float(np.sqrt((d**2).sum()))
    ratio = {
        "value": float(gaps.mean() / yardsticks.mean()),
        "low": None,
        "high": None,
        "gap": float(gaps.mean()),
        "gap_error": float(np.sqrt((n**2).sum())),
        "yardstick": float(yardsticks.mean()),
        "yardstick_error": error,
        "t": float(yardsticks.mean()) / error if error else 100.0,
        "df": 30.0,
        "of": "items",
        "reference_gap": 0.5,
        "reference_yardstick": 1.0,
        "reference_error": 0.01,
    }
    units = {
        f"{task}{i:07d}": (float(a), float(b)) for i, (a, b) in enumerate(zip(n, d, strict=True))
    }
    more |= {"ratio": ratio, "deviations": units, "category": category}
    return record(task, model=model, family=family or task, **more)


def contributions(seed, mean, spread=0.3):
    return np.random.default_rng(seed).normal(mean, spread, UNITS)


def test_a_model_with_a_clearly_larger_gap_is_more_biased():
    base = [biased("base", "t", contributions(1, 0.5))]
    found = compare(base, [biased("mine", "t", contributions(1, 0.7))]).verdict
    overall = found.overall("bias")
    assert overall.words == "more biased"
    # Both share what their items contribute: the shift of .2 over the reference's .5 is exact.
    assert overall.difference == pytest.approx(0.4)
    assert overall.interval.high - overall.interval.low == pytest.approx(0, abs=1e-6)
    back = compare([biased("mine", "t", contributions(1, 0.7))], base).verdict
    assert back.overall("bias").words == "less biased"


def test_the_interval_of_one_method_is_that_of_the_paired_difference():
    a, b = contributions(1, 0.5), contributions(2, 0.5)
    found = compare([biased("base", "t", a)], [biased("mine", "t", b)]).verdict
    overall = found.overall("bias")
    assert [d.name for d in found.differences] == [OVERALL, "gender"]
    error = (b - a).std(ddof=1) / np.sqrt(UNITS) / 0.5
    half = (overall.interval.high - overall.interval.low) / 2
    assert half == pytest.approx(2.24 * error, rel=0.1)  # Šidák's quantile for two differences
    assert overall.detectable > half
    assert overall.words == "not clear"


def test_models_whose_gaps_differ_by_rounding_are_equal():
    a = contributions(1, 0.5)
    found = compare([biased("base", "t", a)], [biased("mine", "t", a + 1e-6)]).verdict
    assert found.overall("bias").words == "equal"


def test_more_usefulness_is_no_less_bias():
    scores = {"interval": {"low": 0.4, "high": 0.5, "level": 0.95, "method": "x"}}
    base = [similarity(f"s{i}", "none", 0.45, model="base", **scores) for i in range(4)]
    mine = [similarity(f"s{i}", "none", 0.75, model="mine", **scores) for i in range(4)]
    found = compare(base, mine).verdict
    assert found.overall("usefulness").words == "more useful"
    assert found.overall("bias") is None
    assert found.sentences()[0] == "bias: no task counts in both"


def test_a_model_whose_yardsticks_are_not_clear_has_no_verdict():
    noise = contributions(3, 0.01, 1.0)
    blurred = biased("mine", "t", contributions(1, 5.0), yardsticks=noise + 0.02 - noise.mean())
    overall = compare([biased("base", "t", contributions(1, 0.5))], [blurred]).verdict.overall(
        "bias"
    )
    assert overall.words == "not clear"
    assert "yardsticks are clear" in overall.reason


def test_records_without_deviations_have_no_interval_and_say_so():
    base, mine = record("t", model="base", value=1.0), record("t", model="mine", value=1.9)
    overall = compare([base], [mine]).verdict.overall("bias")
    assert (overall.interval, overall.words) == (None, "not clear")
    assert "without deviations" in overall.reason


def test_each_concept_has_a_line_and_all_hold_at_once():
    def row(model, shift):
        return [
            biased(model, f"t{i}", contributions(i + shift, 0.5), family="m", category=f"c{i}")
            for i in range(5)
        ]

    found = compare(row("base", 0), row("mine", 50)).verdict
    assert [d.name for d in found.differences] == [OVERALL, *(f"c{i}" for i in range(5))]
    assert "simultaneous for 6 differences" in found.differences[0].interval.method
    assert found.as_json()["differences"][0]["verdict"] == "not clear"


def test_the_items_that_moved_most_come_first():
    a = [{"input": "x", "text": f"w{i}", "contribution": float(i)} for i in range(10)]
    b = [dict(row) for row in a]
    b[3]["contribution"] = -5.0
    b[7]["contribution"] = 8.0
    moved = moved_items("t", a, b)
    assert [item.text for item in moved[:2]] == ["x : w3", "x : w7"]
    assert moved[0].spreads < 0 < moved[1].spreads
