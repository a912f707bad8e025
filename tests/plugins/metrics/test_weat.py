"""WEAT by hand, its symmetries, and its p-values."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from harness.plugins.metrics.weat import weat

SCORES = ("association", "effect_size")
EAST, WEST, NORTH = [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]
seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(*[st.integers(2, 6)] * 4)


def draw(seed: int, sizes: tuple[int, ...], d: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def run_both(arrays, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return weat(*[np.asarray(array, dtype=float) for array in arrays], **options)


def run(arrays, score="effect_size", **options):
    return run_both(arrays, **options)[score]


def test_two_axes_by_hand():
    # s is 2 for the east, 0 for the north, -2 for the west; d = (1 - -2) / sd(2, 0, -2, -2)
    arrays = [EAST, NORTH], [WEST, WEST], [EAST], [WEST]
    values = np.array([2.0, 0.0, -2.0, -2.0])
    assert run(arrays).value == pytest.approx(3 / values.std(ddof=1))
    assert run(arrays, ddof=0).value == pytest.approx(3 / values.std(ddof=0))
    score = run(arrays)
    assert score.details["statistic"] == pytest.approx(6.0)
    assert score.n == 4
    # of the six ways to choose two of the four values, (2, 0) and (-2, -2) have sums 2 and -4 that
    # are as far from the mean sum, -1, as that of the first targets
    published = run(arrays, sides="targets")
    assert published.p_value == pytest.approx(2 / 6)
    one_sided = run(arrays, sides="targets", alternative="greater")
    assert one_sided.p_value == pytest.approx(1 / 6)
    # two attributes can only change places
    assert (score.details["p_targets"], score.details["p_attributes"]) == (published.p_value, 1)
    assert score.p_value == 1
    association = run(arrays, "association")
    assert association.value == pytest.approx(3.0)
    assert association.p_value == score.p_value
    # the cosines of the targets: 1 and -1; 0 and 0; -1 and 1, twice
    assert association.unit == pytest.approx(np.sqrt(6 / 8))
    assert (score.details["p_kind"], score.details["partitions"]) == ("exact", 2)
    assert (published.details["p_kind"], published.details["partitions"]) == ("exact", 6)


def test_ties_count_as_at_least_as_extreme():
    arrays = [EAST, NORTH], [NORTH, WEST], [EAST], [WEST]
    # the two norths are interchangeable
    published = {"sides": "targets"}
    assert run(arrays, alternative="greater", **published).p_value == pytest.approx(2 / 6)
    assert run(arrays, **published).p_value == pytest.approx(4 / 6)


@given(seeds, sizes, st.integers(0, 1))
def test_the_effect_size_stays_within_the_reported_largest(seed, sizes, ddof):
    score = run(draw(seed, sizes, d=2), ddof=ddof)
    assert abs(score.value) <= score.details["largest"] + 1e-9
    assert 0 < score.p_value <= 1


@pytest.mark.parametrize(
    "arrays",
    [
        ([EAST, EAST], [EAST, EAST], [EAST], [WEST]),
        ([EAST, NORTH], [WEST, WEST], [EAST, WEST], [WEST, EAST]),
        ([[0.0, 0.0]], [[0.0, 0.0]], [EAST], [WEST]),
        (np.empty((0, 2)), [EAST], [EAST], [WEST]),
        ([EAST], [WEST], [EAST], np.empty((0, 2))),
        ([EAST] * 3, [EAST] * 3, [EAST] * 2, [EAST] * 2),
    ],
    ids=[
        "equal targets",
        "equal attributes",
        "zero vectors",
        "no targets",
        "no attributes",
        "one vector for all texts",
    ],
)
def test_without_spread_there_is_no_score_but_a_reason(arrays):
    for score in run_both(arrays, resamples=10).values():
        assert np.isnan(score.value)
        assert score.reason
        assert score.p_value is None


def test_one_target_per_set_is_enough():
    score = run(([EAST], [WEST], [EAST], [WEST]), resamples=10)
    assert score.value == pytest.approx(2**0.5)
    assert score.p_value == pytest.approx(1)
    assert score.details["without_one"] == {}


TARGETS = "targets_1", "targets_2"


def test_partitions_of_clusters_by_hand():
    # s of X: 2 and 2 of one word, 0 of another; of Y: -2 of one word, 0 and 0 of another
    arrays = [EAST, EAST, NORTH], [WEST, NORTH, NORTH], [EAST], [WEST]
    codes = {"targets_1": np.array([7, 7, 3]), "targets_2": np.array([0, 1, 1])}
    published = {"clusters": codes, "alternative": "greater", "sides": "targets"}
    score = run(arrays, **published)
    # the first word with each of the other three, as sums over items: {2 2 0} has mean 4/3 against
    # -2/3, {2 2 -2} 2/3 against 0, {2 2 0 0} 1 against -1: as extreme as the one observed
    assert score.p_value == pytest.approx(2 / 6)
    assert score.details["partitions"] == 6
    assert (score.details["permute"], score.details["p_kind"]) == ("clusters", "exact")
    items = run(arrays, permute="items", **published)
    assert items.p_value == pytest.approx(3 / 20)  # both twos and one of the three zeros
    assert (items.details["permute"], items.details["partitions"]) == ("items", 20)
    assert items.value == score.value


@given(seeds, st.integers(2, 6), st.sampled_from([10**6, 1]))
def test_more_copies_of_every_sentence_do_not_change_the_p_value(seed, k, exact_limit):
    arrays = draw(seed, (5, 4, 3, 3))
    options = {"exact_limit": exact_limit, "permutations": 99}
    many = [*(np.repeat(array, k, axis=0) for array in arrays[:2]), *arrays[2:]]
    codes = {"targets_1": np.repeat(np.arange(5), k), "targets_2": np.repeat(np.arange(4), k)}
    assert run(many, clusters=codes, **options).p_value == run(arrays, **options).p_value


def test_p_values_of_sentences_that_share_words_are_uniform_only_by_clusters():
    rng = np.random.default_rng(10)
    codes = {name: np.repeat(np.arange(6), 5) for name in TARGETS}
    p_values = {"clusters": [], "items": []}
    for _ in range(300):
        x, y, a, b = (rng.standard_normal((n, 20)) for n in (6, 6, 4, 4))
        sentences = [
            np.repeat(words, 5, axis=0) + 0.1 * rng.standard_normal((30, 20)) for words in (x, y)
        ]
        for permute, sample in p_values.items():
            options = {"permute": permute, "permutations": 199, "sides": "targets"}
            score = run((*sentences, a, b), clusters=codes, **options)
            sample.append(score.p_value)
    assert kstest(p_values["clusters"], "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values["clusters"]) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(np.array(p_values["items"]) <= 0.05) > 0.15


def test_p_values_are_uniform_where_there_is_no_association():
    rng = np.random.default_rng(5)
    p_values = []
    for _ in range(400):
        arrays = [rng.standard_normal((n, 20)) for n in (6, 6, 4, 4)]
        p_values.append(run(arrays, sides="targets").p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_the_p_value_is_the_larger_of_both_sides_and_so_is_the_floor():
    arrays = draw(7, (6, 5, 4, 7))
    both, targets = run_both(arrays), run_both(arrays, sides="targets")
    # with the roles exchanged, the statistic is the same
    attributes = run_both([*arrays[2:], *arrays[:2]], sides="targets")
    for name in SCORES:
        details = both[name].details
        assert details["p_targets"] == pytest.approx(targets[name].p_value)
        assert details["p_attributes"] == pytest.approx(attributes[name].p_value)
        assert both[name].p_value == max(details["p_targets"], details["p_attributes"])
        assert "p_attributes" not in targets[name].details
    floors = [np.abs(s["association"].null.values).mean() for s in (targets, attributes)]
    assert np.abs(both["association"].null.values).mean() == pytest.approx(max(floors), rel=0.1)
    larger = "members of the attribute sets" if floors[1] > floors[0] else "members of the target "
    assert both["association"].null.shuffled.startswith(larger)


def test_the_effect_sizes_of_random_attributes_are_those_of_these_sets():
    arrays = draw(8, (5, 5, 3, 3))
    for i in range(6):  # attributes that are far apart have the larger floor
        arrays[2 + i // 3][i % 3] += 9 * np.eye(5)[i % 5]
    score = run(arrays)
    assert score.null.shuffled == "members of the attribute sets"
    together = np.vstack(arrays[2:])
    possible = []
    for chosen in itertools.combinations(range(6), 3):
        others = [i for i in range(6) if i not in chosen]
        possible.append(run([*arrays[:2], together[[*chosen]], together[others]]).value)
    distances = np.abs(score.null.values[:, None] - np.array(possible)).min(axis=1)
    assert distances.max() < 1e-9


def test_real_targets_with_random_attributes_are_significant_as_often_as_they_may():
    """The targets differ along one direction, and random attributes are not orthogonal to it."""
    rng = np.random.default_rng(11)
    rejected = {"both": 0, "targets": 0}
    for _ in range(200):
        x, y, a, b = (rng.standard_normal((8, 10)) for _ in range(4))
        x, y = x + 2 * np.eye(10)[0], y - 2 * np.eye(10)[0]
        for sides in rejected:
            score = run((x, y, a, b), sides=sides, null_draws=0)
            rejected[sides] += score.p_value <= 0.05
    assert rejected["targets"] > 60
    assert rejected["both"] <= 14
