"""Screening of résumés that differ in the name, on vectors of known cosines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidOption, NotApplicable
from harness.plugins.metrics.screening import screening
from harness.plugins.metrics.statistics.exposure import UnitMeans, places


def run(cosines, groups, *, units=None, screenings=None, jobs=None, **options):
    c = np.asarray(cosines, dtype=float)
    resumes = np.stack([c, np.sqrt(1 - c**2)], axis=1)
    zeros = np.zeros(len(c))
    screenings = zeros if screenings is None else np.asarray(screenings, float)
    options = {"rng": np.random.default_rng(0)} | options
    return screening(
        resumes,
        np.tile([2.0, 0.0], (len(c), 1)),
        np.asarray(groups, float),
        np.arange(len(c), dtype=float) if units is None else np.asarray(units, float),
        screenings,
        screenings if jobs is None else np.asarray(jobs, float),
        **options,
    )


def grid(effects, names=10, screenings=6, spread=0.05, seed=0):
    """Return cosines, groups, units and screenings of groups with an effect on the cosine.

    A name has a cosine of its own in all screenings.
    """
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(effects)), names)
    of_name = np.asarray(effects)[group] + spread * rng.standard_normal(len(group))
    c = 0.5 + of_name[None] + 0.01 * rng.standard_normal((screenings, len(group)))
    n = np.arange(len(group))
    codes = np.broadcast_arrays(group, n, np.arange(screenings)[:, None])
    return c.ravel(), *(code.ravel() for code in codes)


def of_grid(*arguments, options=None, **more):
    c, groups, units, of = grid(*arguments, **more)
    return run(c, groups, units=units, screenings=of, jobs=of % 2, **options or {})


def test_two_screenings_by_hand():
    # ranks 1 2 3 4 and, in the second, 4 1 2 3: percentiles 7/8 5/8 3/8 1/8
    c = [0.4, 0.3, 0.2, 0.1, 0.1, 0.9, 0.8, 0.7]
    groups, of = [0, 0, 1, 1] * 2, [0] * 4 + [1] * 4
    scores = run(c, groups, units=[0, 1, 2, 3] * 2, screenings=of, top=0.5, group_names=("a", "b"))
    gap, ratio = scores["rank_gap"], scores["impact_ratio"]
    assert gap.details["percentiles"] == {"a": 5 / 8, "b": 3 / 8}
    assert gap.value == pytest.approx(1 / 4)
    # of the first two places a has both, then one
    assert gap.details["rates"] == {"a": 3 / 4, "b": 1 / 4}
    assert ratio.value == pytest.approx(1 / 3)
    assert ratio.details["adverse"] == ["b"]
    assert gap.details["firsts"] == {"a": 1, "b": 0}
    assert gap.details["gap_of_jobs"] == [0, 0.5]
    assert [row["percentile"] for row in gap.tables["jobs"]] == [0.75, 0.25, 0.5, 0.5]
    (row,) = ratio.tables["pairs"]
    assert (row["higher_1"], row["higher_2"]) == (0.5, 0)


def test_equal_cosines_share_their_places_and_are_fair():
    scores = run(0.5 + np.array([0, 2e-7] * 4), [0, 0, 1, 1] * 2)
    assert scores["rank_gap"].value == 0
    assert scores["impact_ratio"].value == 1
    placed = places(np.array([3.0, 3.0, 3.0, 1.0]), np.zeros(4, int), 0.5)
    assert placed.selected.tolist() == pytest.approx([2 / 3] * 3 + [0])
    assert placed.first.tolist() == pytest.approx([1 / 3] * 3 + [0])
    assert placed.percentile.tolist() == pytest.approx([5 / 8] * 3 + [1 / 8])


@given(st.integers(0, 100))
def test_places_sum_up_and_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    rankings = rng.integers(0, 3, 40)
    values = rng.integers(0, 9, 40) / 10
    placed = places(values, rankings, 0.1)
    for ranking in np.unique(rankings):
        of = rankings == ranking
        assert placed.percentile[of].mean() == pytest.approx(0.5)
        assert placed.selected[of].sum() == pytest.approx(max(1, round(0.1 * of.sum())))
        assert placed.first[of].sum() == pytest.approx(1)
    order = rng.permutation(40)
    other = places(values[order], rankings[order], 0.1)
    assert other.percentile == pytest.approx(placed.percentile[order])


@given(st.integers(0, 50))
def test_numbers_of_groups_units_and_screenings_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    c, groups, units, of = grid([0, 0.02, 0.05], seed=seed)
    fast = {"null_draws": 0, "resamples": 0}
    expected = run(c, groups, units=units, screenings=of, **fast)
    order = rng.permutation(len(c))
    renamed = np.array([7, 3, 5])[groups]
    found = run(c[order], renamed[order], units=3 * units[order], screenings=9 - of[order], **fast)
    for name, score in expected.items():
        assert 0 <= score.value <= 1
        assert found[name].value == pytest.approx(score.value)
        assert score.p_value is None
        assert score.null is None


def test_groups_that_differ_are_found_and_the_gap_grows_with_the_difference():
    gaps = [of_grid(a * np.array([0, 1, 2]))["rank_gap"] for a in (0.0, 0.02, 0.05, 0.15)]
    values = [gap.value for gap in gaps]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(2 / 3, abs=0.02), "three groups one after the other"
    assert gaps[2].p_value == pytest.approx(1 / 501)
    assert gaps[0].p_value > 0.05
    assert gaps[2].interval.low > 0
    ratio = of_grid([0, 0, 0.2])["impact_ratio"]
    assert (ratio.value, ratio.details["adverse"]) == (0, ["0", "1"])
    assert np.isclose(ratio.null.values, 0).mean() > 0.05, "so few places are a weak test"


def test_without_a_difference_the_scores_are_at_their_floors():
    above = {"rank_gap": [], "impact_ratio": []}
    rejected = []
    for seed in range(40):
        for name, score in of_grid(np.zeros(4), seed=seed, options={"resamples": 0}).items():
            away = [abs(v - (name == "impact_ratio")) for v in (score.value, *score.null.values)]
            above[name].append((away[0] - np.mean(away[1:])) / np.std(away[1:]))
        rejected.append(score.p_value <= 0.05)
    for values in above.values():
        assert abs(np.mean(values)) < 0.5
    assert np.mean(rejected) <= 0.15


def test_rows_that_are_exchanged_one_by_one_have_too_low_a_floor():
    c, groups, units, of = grid(np.zeros(4))
    by_name = run(c, groups, units=units, screenings=of)["rank_gap"]
    by_row = run(c, groups, screenings=of)["rank_gap"]
    assert by_name.value == pytest.approx(by_row.value)
    assert np.mean(by_row.null.values) < 0.6 * np.mean(by_name.null.values)


def test_means_of_units_with_other_groups_and_counts():
    means = UnitMeans(np.array([0, 0, 1, 2]), np.array([0, 1, 1]))
    values = np.array([1.0, 3.0, 5.0, 9.0])
    assert means.of(values).tolist() == [[2, 7]]
    assert means.of(values, labels=np.array([[1, 1, 0]])).tolist() == [[9, 3]]
    assert means.of(values, counts=np.array([[1, 0, 1]])).tolist() == [[2, 9]]
    assert means.of(values, rows=np.array([0.0, 1, 1, 0])).tolist() == [[3, 5]]


def test_only_the_gap_has_an_interval():
    scores = of_grid([0.0, 0.1])
    assert scores["rank_gap"].interval.low > 0
    assert scores["impact_ratio"].interval is None


def test_two_groups_are_exchanged_without_the_others():
    means = UnitMeans(np.arange(6), np.array([0, 0, 1, 1, 2, 2]))
    labels = means.exchanged(0, 2, 50, np.random.default_rng(0))
    assert (labels[:, 2:4] == 1).all()
    assert (np.sort(labels, axis=1) == means.label).all()
    assert len(np.unique(labels, axis=0)) == 6


def test_a_pair_of_groups_is_tested_alike_whatever_the_other_groups_are():
    # two groups that are hardly ever selected among others would have a null of these
    few = of_grid([0.0, 0.2], options={"top": 0.3})["impact_ratio"].tables["pairs"][0]
    other = of_grid([0.0, 0.2, -0.5, -0.5], options={"top": 0.15})["impact_ratio"].tables["pairs"][
        0
    ]
    assert (few["jobs_1"], few["jobs_2"]) == (other["jobs_1"], other["jobs_2"]) == (0, 2)


def test_what_cannot_be_scored():
    score = run([0.1, 0.2, 0.3], [0, 0, 1])["rank_gap"]
    assert np.isnan(score.value)
    assert score.reason == "fewer than two groups of 2 names"
    assert np.isnan(run([0.1, 0.2], [0, 0])["impact_ratio"].value)
    with pytest.raises(NotApplicable, match="equal length"):
        run([0.1, 0.2], [0, 0], units=[1])
    with pytest.raises(InvalidOption, match="top=1"):
        run([0.1, 0.2], [0, 1], top=1)
    with pytest.raises(InvalidOption, match="group_names"):
        run([0.1] * 4, [0, 0, 2, 2], group_names=("a", "b"))
