"""Screening of résumés that differ in the name, on vectors of known cosines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from harness.plugins.metrics.screening import screening
from harness.plugins.metrics.statistics.exposure import UnitMeans, places
from harness.plugins.metrics.statistics.intervals import lowest_over_highest


def run(cosines, groups, *, units=None, screenings=None, jobs=None, kin=None, **options):
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
        None if kin is None else np.asarray(kin, float),
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


def test_the_interval_of_a_ratio_by_hand():
    # rates of 1/4 and 1/2 with 39 effective names of 40, t = 1.9908: Wilson's intervals are
    # [.1395, .4066] and [.3481, .6519]
    hits = np.concatenate([np.repeat([1.0, 0.0], [10, 30]), np.repeat([1.0, 0.0], [20, 20])])
    counts = np.repeat(np.eye(2), 40, axis=0)
    interval = lowest_over_highest(hits[:, None] * counts, counts)
    assert (interval.low, interval.high) == pytest.approx((0.2649, 0.9196), abs=1e-4)
    alone = lowest_over_highest(np.tile([[0, 1.0], [0, 0]], (20, 1)), np.ones((40, 2)))
    assert alone.low == 0, "no name of a group is selected"
    assert 0 < alone.high < 0.5
    assert lowest_over_highest(counts[-4:], counts[-4:]) is None
    assert lowest_over_highest(counts / 2, counts) is None, "all names are alike"


def selections(rng, effects, names, screenings=6, top=0.1, latent=1.0):
    """Return the share of screenings in which each name of each group is in the first places."""
    g = len(effects)
    of_name = latent * rng.standard_normal((g, names)) + np.asarray(effects)[:, None]
    scores = of_name[..., None] + 0.5 * rng.standard_normal((g, names, screenings))
    limits = np.quantile(scores.reshape(-1, screenings), 1 - top, axis=0)
    return (scores > limits).mean(axis=-1)


def coverage(effects, names, draws, seed=0):
    """Return how often the interval holds the ratio of a hundred thousand names."""
    rng = np.random.default_rng(seed)
    rates = selections(rng, effects, 100_000).mean(axis=1)
    g, held = len(effects), []
    counts = np.repeat(np.eye(g), names, axis=0)
    for _ in range(draws):
        hits = selections(rng, effects, names).reshape(-1, 1) * counts
        interval = lowest_over_highest(hits, counts)
        held.append(interval.low <= rates.min() / rates.max() <= interval.high)
    return np.mean(held)


@pytest.mark.parametrize(("effects", "names"), [([0, 0.5], 25), ([0, 0, 0.3, 0.6], 30)])
def test_the_interval_of_a_ratio_covers(effects, names):
    assert coverage(effects, names, 300) >= 0.92


@pytest.mark.long
@pytest.mark.parametrize("names", [20, 30, 60, 120])
@pytest.mark.parametrize(
    "effects", [[0, 0], [0, 0.3], [0, 1], [0, 0, 0, 0], [0, 0, 0.3, 0.6], [0] * 8, [0] * 7 + [0.6]]
)
def test_the_interval_of_a_ratio_covers_at_any_effect_and_number_of_names(effects, names):
    assert coverage(effects, names, 2000) >= 0.935


def surnames(rng, *, groups=4, per_group=8, of_each=1, spread=(0.05, 0.03), effects=None):
    """Return cosines of women and men with surnames of groups, which share what surnames add."""
    race = np.repeat(np.arange(groups), per_group)
    kin = np.repeat(np.arange(len(race)), 2 * of_each)
    gender = np.tile(np.repeat([0, 1], of_each), len(race))
    group = 2 * race[kin] + gender
    c = spread[0] * rng.standard_normal(len(race))[kin] + spread[1] * rng.standard_normal(len(kin))
    c = 0.3 + c + (0 if effects is None else np.asarray(effects)[group])
    return c, race[kin], gender, group, kin


def p_values(by, draws, **more):
    found = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        c, race, gender, group, kin = surnames(rng, **more)
        groups = {"race": race, "gender": gender, "both": group}[by]
        score = run(c, groups, kin=kin, resamples=0, null_draws=99, rng=rng)["rank_gap"]
        found.append(score.p_value)
    return np.array(found)


def test_groups_that_share_surnames_have_a_fair_floor():
    p = p_values("both", 50)
    assert 0.35 < p.mean() < 0.65
    assert np.mean(p <= 0.1) < 0.25


@pytest.mark.long
@pytest.mark.parametrize("by", ["race", "gender", "both"])
@pytest.mark.parametrize("of_each", [1, 2])
def test_p_values_are_uniform_where_names_share_surnames(by, of_each):
    p = p_values(by, 1000, of_each=of_each)
    assert kstest(p, "uniform").pvalue > 0.001
    assert 0.03 < np.mean(p <= 0.05) < 0.07


def test_a_difference_between_groups_is_found_whatever_surnames_add():
    rng = np.random.default_rng(0)
    c, _, gender, group, kin = surnames(rng, effects=[0.0, 0.05] * 4, spread=(0.2, 0.02))
    assert run(c, gender, kin=kin)["rank_gap"].p_value == pytest.approx(1 / 501)
    assert run(c, gender)["rank_gap"].p_value > 0.05, "men and women of a surname are pairs"
    c, race, _, group, kin = surnames(rng, effects=[0, 0, 0, 0, 0.2, 0.2, 0, 0])
    assert run(c, race, kin=kin)["rank_gap"].p_value < 0.01
    assert run(c, group, kin=kin)["rank_gap"].p_value < 0.01


def test_two_groups_are_exchanged_without_the_others():
    means = UnitMeans(np.arange(6), np.array([0, 0, 1, 1, 2, 2]))
    labels = means.exchanged(0, 2, 50, np.random.default_rng(0))
    assert (labels[:, 2:4] == 1).all()
    assert (np.sort(labels, axis=1) == means.label).all()
    assert len(np.unique(labels, axis=0)) == 6


def test_kin_take_the_groups_of_other_kin_and_units_exchange_theirs_within_a_kin():
    # two surnames of two races, each of a man and a woman
    means = UnitMeans(np.arange(4), np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    labels = means.drawn(200, np.random.default_rng(0))
    assert {tuple(row) for row in labels} == {
        *((a, 1 - a, 2 + b, 3 - b) for a in (0, 1) for b in (0, 1)),
        *((2 + a, 3 - a, b, 1 - b) for a in (0, 1) for b in (0, 1)),
    }
    labels = means.exchanged(0, 1, 100, np.random.default_rng(0))
    assert {tuple(row) for row in labels} == {(0, 1, 2, 3), (1, 0, 2, 3)}
    labels = means.exchanged(0, 2, 100, np.random.default_rng(0))
    assert {tuple(row) for row in labels} == {(0, 1, 2, 3), (2, 1, 0, 3)}
