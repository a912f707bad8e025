"""Correlation of two groups of tasks over models and over mitigators."""

from __future__ import annotations

import numpy as np
import pytest
from score_records import record, similarity

from harness.results import correlation
from harness.results.correlation import Link, correlate, of_other_metrics

A, B = {"inner-1", "inner-2"}, {"outer"}
MODELS = "abcdef"


def scores(model: str, inner: tuple[float, float], outer: float, mitigator: str = "none"):
    """Return effect sizes of one row: two inner tasks and an outer one, of one method."""
    values = {"inner-1": inner[0], "inner-2": inner[1], "outer": outer}
    return [record(task, mitigator, value, model=model) for task, value in values.items()]


def of(found, over, task=None):
    (part,) = [part for part in found.over if (part.over, part.task) == (over, task)]
    return part


def test_models_are_correlated_by_their_means_of_sizes():
    # Means of |d| / 2: .25, .5 and .75 inside; .1, .3 and .2 outside.
    records = [
        *scores("a", (0.4, -0.6), 0.2),
        *scores("b", (1.0, 1.0), -0.6),
        *scores("c", (1.5, 1.5), 0.4),
    ]
    part = of(correlate(records, A, B), "models")
    assert [(p.model, p.a, p.b) for p in part.points] == [
        ("a", pytest.approx(0.25), pytest.approx(0.1)),
        ("b", pytest.approx(0.5), pytest.approx(0.3)),
        ("c", pytest.approx(0.75), pytest.approx(0.2)),
    ]
    assert part.spearman == pytest.approx(0.5)  # ranks 1 2 3 and 1 3 2
    assert part.pearson == pytest.approx(0.5)
    assert part.tasks == (2, 1)
    assert part.interval is None, "three models are too few"


def test_mitigators_are_correlated_by_their_changes():
    # a has much more bias than b in both groups; its mitigators move the groups apart.
    records = [
        *scores("a", (2.0, 2.0), 2.0),
        *scores("a", (1.8, 1.8), 2.0, "x"),
        *scores("a", (1.6, 1.6), 1.9, "y"),
        *scores("b", (0.4, 0.4), 0.2),
        *scores("b", (0.3, 0.3), 0.4, "x"),
        *scores("b", (0.1, 0.1), 0.1, "y"),
    ]
    part = of(correlate(records, A, B), "mitigators")
    assert [(p.model, p.mitigator) for p in part.points] == [(m, n) for m in "ab" for n in "xy"]
    a, b = ([getattr(p, side) for p in part.points] for side in "ab")
    assert a == pytest.approx([-0.1, -0.2, -0.05, -0.15])
    assert b == pytest.approx([0, -0.05, 0.1, -0.05])


def test_a_task_counts_over_models_only_if_it_counts_for_each():
    records = [line for name in "abc" for line in scores(name, (1.0, 0.5), 0.1)]
    records[1] = record("inner-2", value=None, model="a", reason="void")
    part = of(correlate(records, A, B), "models")
    assert part.tasks == (1, 1)
    assert {p.a for p in part.points} == {0.5}
    assert part.spearman is None, "all values of a side are equal"


def test_only_ranked_bias_without_a_leak_counts():
    records = [line for name in "abc" for line in scores(name, (1.0, 0.5), 0.1)]
    records += [similarity("inner-3", "none", 0.5, model=name) for name in "abc"]
    records += [
        record("inner-1", "x", 0.2, model="a", overlap=("she",)),
        record("inner-2", "x", 0.2, model="a"),
        record("outer", "x", 0.2, model="a"),
    ]
    found = correlate(records, A | {"inner-3"}, B)
    assert of(found, "models").tasks == (2, 1)
    part = of(found, "mitigators")
    assert part.tasks == (1, 1), "inner-1 leaks, and inner-3 is usefulness"
    (point,) = part.points
    assert point.a == pytest.approx(-0.15), "the change of inner-2 alone"


def test_a_model_without_a_group_or_without_none_or_clear_yardsticks_is_left_out():
    records = [line for name in "abc" for line in scores(name, (1.0, 0.5), 0.1)]
    for line, t in zip(scores("noise", (0.1, 0.1), 0.1), (9.0, 1.0, 2.9), strict=True):
        ratio = line.ratio.model_copy(update={"t": t})
        records.append(line.model_copy(update={"ratio": ratio}))
    records += [record("inner-1", model="half"), *scores("bare", (1.0, 1.0), 1.0, "x")]
    found = correlate(records, A, B)
    assert {p.model for p in of(found, "models").points} == {"a", "b", "c"}
    assert dict(found.left_out) == {
        "noise": "1 of 3 yardsticks are clear; half of them are needed",
        "half": "no score of a ranked task of B",
        "bare": "no records without a mitigator ('none')",
    }


def test_a_task_of_both_groups_counts_for_the_first_alone():
    records = [line for name in "abc" for line in scores(name, (1.0, 0.5), 0.1)]
    assert of(correlate(records, A, A | B), "models").tasks == (2, 1)


def test_a_task_counts_over_mitigators_only_if_it_counts_for_each_point():
    records = [line for name in "abc" for line in scores(name, (1.0, 0.5), 0.1)]
    records += [line for name in "abc" for line in scores(name, (0.6, 0.5), 0.1, "x")]
    records += [line for name in "abc" for line in scores(name, (0.4, 0.1), 0.1, "y")]
    leak = next(i for i, line in enumerate(records) if line.mitigator.label == "x")
    records[leak] = record("inner-1", "x", 0.6, model="a", overlap=("she",))
    part = of(correlate(records, A, B), "mitigators")
    assert (part.tasks, len(part.points)) == ((1, 1), 6)
    assert [p.a for p in part.points] == pytest.approx([0, -0.2] * 3), "inner-2 alone"


def test_tasks_of_a_metric_of_the_other_group_are_left_out():
    records = [line for name in "abc" for line in scores(name, (1.0, 0.5), 0.1)]
    assert of_other_metrics(records, A, B) == set(), "all three are scored by WEAT"
    records = [*records[:2], record("outer", value=0.1, metric="screening")]
    assert of_other_metrics(records, A, B) == A
    usefulness = similarity("outer", "none", 0.5, metric="weat")
    assert of_other_metrics([*records[:2], usefulness], A, B) == A, "only bias counts"


def test_the_interval_over_models_is_that_of_bonett_and_wright():
    rng = np.random.default_rng(0)
    records = []
    for name in MODELS:
        bias = rng.uniform(0.2, 1.8)
        records += scores(name, (bias, bias), min(2, bias + rng.normal(0, 0.1)))
    part = of(correlate(records, A, B), "models")
    assert part.interval is not None
    # tanh(atanh ρ ± 1.96 √((1 + ρ²/2) / (n − 3))), with n = 6
    half = 1.959964 * np.sqrt((1 + part.spearman**2 / 2) / 3)
    ends = np.tanh(np.arctanh(part.spearman) + np.array([-half, half]))
    assert (part.interval.low, part.interval.high) == pytest.approx(tuple(ends), abs=1e-6)


def test_the_interval_over_mitigators_covers_rows_that_share_models_and_mitigators():
    # Nominal 95 %; 60 simulations of 6 models with 6 mitigators, without any correlation.
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(60):
        of_model, of_mitigator = rng.normal(0, 0.05, (2, 6)), rng.normal(0, 0.05, (2, 6))
        records = [line for name in MODELS for line in scores(name, (1.0, 1.0), 1.0)]
        for i, name in enumerate(MODELS):
            for j in range(6):
                a, b = 1 + of_model[:, i] + of_mitigator[:, j] + rng.normal(0, 0.05, 2)
                records += scores(name, (a, a), b, f"x{j}")
        interval = of(correlate(records, A, B), "mitigators").interval
        hits += interval.low <= 0 <= interval.high
    assert hits >= 54


def of_two_metrics(rng, *, slope, bases="abcdef", variants=("none", "x", "y", "z")):
    """Return records whose outer task follows the inner ones, which have another metric."""
    records = []
    for base in bases:
        level, own = rng.uniform(0.8, 1.2), rng.uniform(0, 0.4)
        for i, variant in enumerate(variants):
            inner = level - 0.15 * i + rng.uniform(0, 0.02)
            outer = slope * inner + own + rng.uniform(0, 0.02) + 0.2
            records += [
                record("inner-1", variant, inner, model=base),
                record("outer", variant, outer, model=base, metric="toy", family="use"),
            ]
    return records


def link_of(records, a="", b="", **more):
    found = correlate(records, {"inner-1"}, {"outer"}, by_family=True, **more)
    (link,) = [link for link in found.links if (link.a, link.b) == (a, b)]
    return link


def test_a_mixed_model_links_two_families_over_models_and_their_variants():
    link = link_of(of_two_metrics(np.random.default_rng(0), slope=1.0), "weat", "use")
    assert (link.models, link.rows, link.tasks) == (6, 24, (1, 1))
    assert link.slope > 0
    assert link.interval.low > 0
    assert link.finding == "more with more"


def test_a_slope_of_nothing_is_not_known():
    link = link_of(of_two_metrics(np.random.default_rng(1), slope=0.0))
    assert link.interval.low < 0 < link.interval.high
    assert link.finding == "not known"


def test_variants_of_a_model_count_as_that_model():
    records = of_two_metrics(np.random.default_rng(0), slope=1.0)
    link = link_of(records, bases=dict.fromkeys("cdef", "a"))
    assert link.models == 2
    assert link.finding == "not known: 2 models, 5 are needed"


def test_variants_of_a_model_are_no_points_over_models():
    records = of_two_metrics(np.random.default_rng(0), slope=1.0)
    found = correlate(records, {"inner-1"}, {"outer"}, bases=dict.fromkeys("def", "a"))
    assert [point.model for point in of(found, "models").points] == ["a", "b", "c"]


def test_two_families_are_linked_over_the_models_that_have_their_tasks():
    records = of_two_metrics(np.random.default_rng(0), slope=1.0, bases="abcdefg")
    records += [
        record("extra", r.mitigator.label, r.value, model=r.model.name, metric="new", family="new")
        for r in records
        if r.task.name == "outer" and r.model.name in "abcdef"
    ]
    found = correlate(records, {"inner-1"}, {"outer", "extra"}, by_family=True)
    assert {link.b: (link.models, link.rows) for link in found.links} == {
        "": (7, 28),  # on the tasks of all
        "use": (7, 28),
        "new": (6, 24),
    }


def test_a_task_of_few_models_is_in_no_link():
    records = of_two_metrics(np.random.default_rng(0), slope=1.0)
    records += [record("extra", "none", 0.5, model=m, metric="toy-2", family="new") for m in "abc"]
    found = correlate(records, {"inner-1"}, {"outer", "extra"}, by_family=True)
    assert [link.b for link in found.links] == ["", "use"]


def test_a_finding_that_needs_one_model_is_not_known():
    records = of_two_metrics(np.random.default_rng(1), slope=0.0, bases="abcde")
    for variant, inner in (("none", 9.0), ("x", 8.0), ("y", 7.0), ("z", 6.0)):
        records += [
            record("inner-1", variant, inner / 5, model="far"),
            record("outer", variant, inner / 5, model="far", metric="toy", family="use"),
        ]
    assert link_of(records).finding.startswith("not known")


def test_families_of_one_metric_are_not_linked():
    records = [line for name in "abcde" for line in scores(name, (1.0, 0.5), 0.1)]
    (link,) = correlate(records, A, B).links
    assert link.finding == "not known: both are scored by one metric"


def test_planted_bias_is_a_point_like_others_and_said_to_be_a_control():
    records = [line for name in "abc" for line in scores(name, (0.5, 0.6), 0.4)]
    for name, more in zip("abc", (1.2, 1.3, 1.5), strict=True):
        records += scores(name, (0.5 * more, 0.6 * more), 0.4 * more, "plant?strength=2")
        records += scores(name, (0.4, 0.5), 0.3, "x")
    planting = {"name": "plant", "control": True}
    records = [
        r.model_copy(update={"mitigator": r.mitigator.model_copy(update=planting)})
        if r.mitigator.label.startswith("plant")
        else r
        for r in records
    ]
    found = correlate(records, A, B)
    assert found.controls == ("plant?strength=2",)
    points = of(found, "mitigators").points
    assert [p.control for p in points] == [p.a > 0 for p in points] == [True, False] * 3


@pytest.mark.parametrize("method", ["plant", ""])
def test_a_finding_that_needs_one_method_is_not_known_whatever_its_strengths(method):
    """Only planted bias moves both groups; each of its strengths alone would show the slope."""
    rng = np.random.default_rng(0)
    records = []
    strengths = {"none": 0, "x": 0, **{f"plant?strength={s}": s for s in (1, 2, 3)}}
    for base in "abcdefghij":
        for variant, strength in strengths.items():
            inner, outer = strength * rng.uniform(0, 0.6) + rng.uniform(0.2, 0.25, 2)
            rows = [
                record("inner-1", variant, inner, model=base),
                record("outer", variant, outer, model=base, metric="toy", family="use"),
            ]
            name = method if strength and method else variant
            part = {"mitigator": rows[0].mitigator.model_copy(update={"name": name})}
            records += [row.model_copy(update=part) for row in rows]
    known = "not known: not without plant" if method else "more with more"
    assert link_of(records, "weat", "use").finding == known


P_VALUES = (0.001, 0.03, *[0.4] * 8)


def test_a_slope_that_is_one_of_many_asked_is_not_known_and_says_so():
    asked = [Link("weat", f"use-{i}", (1, 1), 5, 20, 0.3, None, p) for i, p in enumerate(P_VALUES)]
    found = correlation._with_findings(asked)
    assert [link.finding for link in found[:2]] == [
        "more with more",
        f"not known: one of {len(asked)} that were asked",
    ]
    assert {link.finding for link in found[2:]} == {"not known"}
