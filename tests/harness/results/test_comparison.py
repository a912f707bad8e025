"""Paired comparisons of two rows."""

from __future__ import annotations

import numpy as np
import pytest
from score_records import record, similarity, void

from harness.errors import UnknownName, UsageError
from harness.results.comparison import between, between_runs, compare
from harness.results.record import NO_YARDSTICK, OUTSIDE


def row(mitigator, values, **more):
    """Return a record of each value; each task is a method of its own."""
    return [
        record(f"t{i}", mitigator, value, **{"metric": f"metric {i}", **more})
        for i, value in enumerate(values)
    ]


def test_scores_are_paired_by_task_whatever_their_order():
    found = compare(row("none", [1.0, 0.5]), row("x", [0.25, -0.75])[::-1])
    assert [pair.a.task.name for pair in found.pairs] == ["t0", "t1"]
    assert [pair.difference for pair in found.pairs] == [-0.75, -1.25]


def test_weights_that_had_one_name_are_never_mixed_in_a_side():
    older, newer = row("none", [1.0, 0.5]), row("none", [2.0])
    older = [r.model_copy(update={"created": "2020-01-01T00:00:00+00:00"}) for r in older]
    model = newer[0].model.model_copy(update={"fingerprint": "retrained"})
    newer = [r.model_copy(update={"model": model}) for r in newer]
    found = compare([*newer, *older], row("x", [0.0, 0.0]))
    assert [(pair.a.task.name, pair.a.value) for pair in found.pairs] == [("t0", 2.0)]


def overall(a, b):
    """Return the difference of bias of b from a."""
    return compare(a, b).verdict.overall("bias")


def test_the_mean_is_the_root_of_the_mean_square_over_methods():
    rng = np.random.default_rng(1)
    a, b = (row(m, rng.uniform(0, 2, 20)) for m in ("none", "x"))
    of_a, of_b = (np.sqrt(np.mean([(r.value / 2) ** 2 for r in side])) for side in (a, b))
    found = overall(a, b)
    assert (found.measures, found.tasks, found.methods) == ("bias", 20, 20)
    assert (found.base, found.model) == pytest.approx((of_a, of_b))
    assert found.difference == found.model - found.base
    assert len(repr(compare(a, b))) < 1000


def test_a_method_has_one_vote_however_many_tasks_it_has():
    def side(mitigator, one, many):
        of_many = [record(f"u{i}", mitigator, many, metric="many") for i in range(20)]
        return [*row(mitigator, [one] * 8), *of_many]

    found = overall(side("none", 1.0, 1.0), side("x", 0.5, 1.0))
    assert (found.tasks, found.methods, found.agree) == (28, 9, 8)
    assert found.model == pytest.approx(np.sqrt((8 * 0.25**2 + 0.5**2) / 9))


def test_bias_and_usefulness_have_a_mean_each_and_controls_none():
    sides = [
        [record("a", m), similarity("s", m, 0.5), record("c", m, measures="control")]
        for m in ("none", "x")
    ]
    found = compare(*sides)
    names = [(d.measures, d.name) for d in found.verdict.differences]
    assert names == [(m, n) for m in ("bias", "usefulness") for n in ("overall", "gender")]
    assert len(found.pairs) == 3


def test_a_value_outside_its_bounds_and_one_without_a_yardstick_do_not_count():
    a = [record("a", ratio=None), record("b", value=5.0), record("c")]
    b = [record(name, "x", 0.5) for name in "abc"]
    found = compare(a, b)
    bias = found.verdict.overall("bias")
    assert (bias.tasks, bias.difference) == (1, pytest.approx(-0.25))
    assert found.verdict.left_out["bias"] == {NO_YARDSTICK: ("a",), OUTSIDE: ("b",)}
    assert len(found.pairs) == 3
    undone = record("c", "x", 0.0, details={"undone": "no difference is left"})
    assert overall(a, [undone]).model == 0.0


def test_noise_that_lowers_gap_and_yardstick_alike_is_no_change():
    """The gap and its yardstick fall to a fifth: the ratio over the own yardstick is the same."""
    a, b = (record("t", mitigator, value) for mitigator, value in (("none", 1.0), ("noise", 0.2)))
    noise = b.ratio.model_copy(update={"yardstick": 0.2})
    found = overall([a], [b.model_copy(update={"ratio": noise})])
    assert found.difference == pytest.approx(0, abs=1e-9)  # (.1 / .2) - (.5 / 1)


def test_what_cannot_be_paired_is_left_out_with_the_reason():
    a = [record("same"), record("void"), record("edited"), record("only")]
    b = [
        record("same", "x"),
        record("void", "x", None, reason="r"),
        record("edited", "x", digest="another"),
    ]
    found = compare(a, b)
    assert [pair.a.task.name for pair in found.pairs] == ["same"]
    reasons = dict(found.left_out)
    assert set(reasons) == {"void", "edited", "only"}
    assert "version" in reasons["edited"]


def test_a_side_is_one_model_under_one_mitigator():
    with pytest.raises(UsageError, match="select"):
        compare([record(), record("t", "x")], [record()])


def test_two_mitigators_are_compared_on_each_model():
    records = [record(model=model, mitigator=m) for model in "ab" for m in ("none", "x")]
    assert list(between(records, "none", "x")) == ["a", "b"]


def test_two_runs_are_compared_on_what_both_have():
    found = between_runs([record(), record(model="b")], [record(value=0.5)])
    ((context, comparison),) = found.items()
    assert "m" in context
    assert "none" in context
    assert [pair.difference for pair in comparison.pairs] == [-0.5]


def test_an_unknown_name_and_unlike_names_are_errors():
    records = [record(), record("t", "hard-debias")]
    with pytest.raises(UnknownName, match="hard-debias"):
        between(records, "none", "hard-debia")
    with pytest.raises(UsageError, match="model"):
        between(records, "none", "m")


def test_what_is_not_judged_counts_in_no_mean():
    unjudged = record("t0", "x", 0.0, metric="metric 0", unseen=void())
    found = compare(row("none", [1.0, 1.0]), [unjudged, *row("x", [0.0, 0.5])[1:]])
    assert [pair.a.task.name for pair in found.pairs] == ["t1"]
    bias = found.verdict.overall("bias")
    assert (bias.tasks, bias.base, bias.model) == (1, pytest.approx(0.5), pytest.approx(0.25))
    assert found.verdict.left_out["bias"] == {"void": ("t0",)}
    assert [r["task"] for r in found.rows()] == ["t1"]
    assert found.left_out == (("t0", "a value is void"),)


def test_older_versions_count_in_no_mean():
    def of_version(version, *arguments):
        made = record(*arguments, digest=f"{arguments[0]} {version}")
        return made.model_copy(update={"task": made.task.model_copy(update={"version": version})})

    a = [of_version(1, "t", "none", 2.0), of_version(2, "u", "none", 1.0)]
    b = [of_version(2, "t", "x", 0.5), of_version(2, "u", "x", 0.5)]
    verdict = compare(a, b).verdict
    assert verdict.overall("bias").tasks == 1
    assert verdict.left_out["bias"] == {"of another version of the task": ("t",)}


def test_a_comparison_counts_scores_with_several_seeds():
    a = [record(value=1.0), record(value=0.9, seed=1), record("u")]
    assert compare(a, [record("t", "x"), record("u", "x")]).several_seeds == 1
