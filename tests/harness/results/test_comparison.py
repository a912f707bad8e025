"""Paired comparisons of two rows."""

from __future__ import annotations

import numpy as np
import pytest
from score_records import record, similarity

from harness.errors import UnknownName, UsageError
from harness.results import resampling
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
    assert [(pair.a.task.name, pair.value_a) for pair in found.pairs] == [("t0", 2.0)]


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


def samples(contributions, **columns):
    """Return rows of samples: items of one input."""
    return [
        {"input": "words", "text": f"w{i}", "contribution": c}
        | {name: values[i] for name, values in columns.items()}
        for i, c in enumerate(contributions)
    ]


def with_samples(mitigator, contributions, **columns):
    value = float(np.mean(contributions))
    return record("t", mitigator, value).keeping({}, samples(contributions, **columns))


def test_samples_give_a_difference_an_interval_over_items():
    rng = np.random.default_rng(0)
    a = rng.normal(1.0, 0.5, 60)
    b = a - 0.3 + rng.normal(0.0, 0.1, 60)
    (pair,) = compare([with_samples("none", a)], [with_samples("x", b)]).pairs
    spread = 1.96 * (b - a).std(ddof=1) / np.sqrt(60)  # paired: smaller than that of a or b
    assert pair.interval.low == pytest.approx(pair.difference - spread, abs=0.01)
    assert pair.interval.high == pytest.approx(pair.difference + spread, abs=0.01)


def test_items_of_one_word_are_drawn_together():
    differences = np.repeat([0.0, 1.0] * 6, 10)
    clusters = np.repeat(range(12), 10).tolist()
    alone = resampling.over_items(samples(differences * 0), samples(differences))
    together = resampling.over_items(
        samples(differences * 0, cluster=clusters), samples(differences, cluster=clusters)
    )
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_each_input_keeps_its_number_of_items():
    rows = [
        [
            {"input": name, "text": f"w{i}", "contribution": value * sign}
            for name, sign in (("targets_1", 1.0), ("targets_2", -1.0))
            for i in range(5)
        ]
        for value in (0.0, 1.0)
    ]
    interval = resampling.over_items(*rows)
    assert (interval.low, interval.high) == (0.0, 0.0)


def test_scores_of_other_items_or_without_contributions_have_no_interval():
    a = samples(np.ones(9))
    assert resampling.over_items(a, samples(np.ones(8))) is None
    renamed = [row | {"text": "other"} for row in a]
    assert resampling.over_items(a, renamed) is None
    assert resampling.over_items(a, [row | {"contribution": None} for row in a]) is None
    assert resampling.over_items(a[:5], a[:5]) is None, "too few"


def test_targets_and_attributes_both_vary_if_each_alone_makes_the_score():
    rng = np.random.default_rng(0)
    effects = rng.normal(size=40)
    effects -= effects.mean()

    def rows(*roles):
        return [
            {"input": f"{role}_{i % 2 + 1}", "text": f"{role} {i}", "contribution": effect}
            for role in roles
            for i, effect in enumerate(effects)
        ]

    def width(*roles):
        a = [row | {"contribution": 0.0} for row in rows(*roles)]
        interval = resampling.over_items(a, rows(*roles))
        return interval.high - interval.low

    both, one = width("targets", "attributes"), width("targets")
    assert both == pytest.approx(np.sqrt(2) * one, rel=0.1), "variances add"


def test_answers_that_differ_do_not_prevent_an_interval_over_the_questions():
    def rows(answers, contributions):
        questions = [(f"a{i}", f"b{i % 3}") for i in range(len(answers))]
        return [
            {"first": first, "second": second, "answer": answer, "contribution": contribution}
            for (first, second), answer, contribution in zip(
                questions, answers, contributions, strict=True
            )
        ]

    a = rows(["x"] * 9, [0.0] * 9)
    b = rows(["x", "y", "z"] * 3, [0.0, 1.0, 1.0] * 3)
    interval = resampling.over_items(a, b)
    assert interval is not None
    assert interval.low < 2 / 3 < interval.high
    assert resampling.over_items(a, b[::-1]) is None, "other questions"


def test_a_leak_counts_in_no_mean():
    leak = record("t0", "x", 0.0, metric="metric 0", overlap=("she",))
    found = compare(row("none", [1.0, 1.0]), [leak, *row("x", [0.0, 0.5])[1:]])
    assert [pair.is_leak for pair in found.pairs] == [True, False]
    bias = found.verdict.overall("bias")
    assert (bias.tasks, bias.base, bias.model) == (1, pytest.approx(0.5), pytest.approx(0.25))
    assert found.verdict.left_out["bias"] == {"leak (†)": ("t0",)}
    assert [r["leak_b"] for r in found.rows()] == [True, False]
    assert [r["left_out"] for r in found.rows()] == ["leak (†)", None]


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
