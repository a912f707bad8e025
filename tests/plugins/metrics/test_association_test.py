"""Binomial association test by hand, and its symmetries."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from harness.arrays import unit_rows
from harness.errors import InvalidOption
from harness.plugins.metrics.association_test import association_test

EAST, WEST = [1.0, 0.0], [-1.0, 0.0]
seeds = st.integers(0, 2**32 - 1)


def scores(*arrays, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arrays = [np.asarray(a, float).reshape(-1, 2) for a in arrays]
        return association_test(*arrays, resamples=0, rng=np.random.default_rng(0), **options)


def run(*arrays, **options):
    """Return the score of the paper."""
    return scores(*arrays, **options)["proportion"]


def along(*signs: int) -> list[list[float]]:
    return [[float(sign), 1.0] for sign in signs]


# A_1: 2 of 3 are closer to T_1; A_2: 3 of 5 are closer to T_2, 1 to T_1, 1 to neither
FIRST, SECOND = along(1, 1, -1), along(-1, -1, -1, 1, 0)


def test_k1_and_k2_are_counted_as_in_equations_5_and_6():
    score = run([EAST], [WEST], FIRST, SECOND)
    assert (score.details["k1"], score.details["k2"], score.n) == (5, 3, 8)
    assert score.value == pytest.approx(5 / 8)
    assert score.p_value == pytest.approx(binom.sf(4, 8, 0.5))
    assert score.interval.low < 5 / 8 < score.interval.high


@pytest.mark.parametrize(
    ("test", "reading", "shown", "p_value"),
    [
        ("neutral", "table-1", 5, binom.sf(4, 8, 0.5)),
        ("neutral", "printed", 5, binom.sf(4, 8, 0.5)),
        ("debiasing", "table-1", 5, 2 * binom.sf(4, 8, 0.5)),
        ("debiasing", "printed", 5, 2 * binom.sf(4, 8, 0.5)),
        ("positive", "table-1", 3, binom.sf(2, 8, 3 / 8)),
        ("positive", "printed", 3, binom.sf(2, 8, 3 / 8)),
        ("negative", "table-1", 3, binom.cdf(3, 8, 3 / 8)),
        ("negative", "printed", 3, binom.cdf(3, 8, 0.5)),
    ],
)
def test_each_scenario_has_its_own_test(test, reading, shown, p_value):
    score = run([EAST], [WEST], FIRST, SECOND, test=test, reading=reading)
    assert score.value == pytest.approx(shown / 8)
    assert score.p_value == pytest.approx(p_value)


def test_an_over_compensated_debiasing_shows_k2_and_its_test():
    all_first = along(1, 1, 1), along(1, 1, 1, 1, 1)
    score = run([EAST], [WEST], *all_first, test="debiasing")
    assert (score.value, score.details["shown"], score.details["k1"]) == (1.0, "k2", 3)
    assert score.p_value == pytest.approx((3 / 8) ** 8)
    assert score.details["p_k2"] == pytest.approx((3 / 8) ** 8)
    assert score.details["p_k1"] == pytest.approx(2 * binom.cdf(3, 8, 0.5))
    printed = run([EAST], [WEST], *all_first, test="debiasing", reading="printed")
    assert printed.p_value == pytest.approx(2 * 0.5**8)


# The counts measured on all-MiniLM-L6-v2 for the paper's table 4, and their p-values: the
# embeddings are made to have these counts, so that the tests alone are compared.
@pytest.mark.parametrize(
    ("a", "b", "first", "second", "test", "p_value"),
    [
        (18, 30, 18, 30, "positive", 3.5768510140247805e-21),
        (18, 30, 18, 30, "debiasing", 7.105427357601002e-15),
        (18, 30, 7, 2, "negative", 7.610913055344782e-06),
        (19, 15, 19, 15, "positive", 2.5546961468098927e-09),
        (19, 15, 0, 0, "negative", 5.820766091346741e-11),
    ],
)
def test_the_printed_reading_gives_the_p_values_of_table_4(a, b, first, second, test, p_value):
    attributes_1 = along(*[1] * first, *[-1] * (a - first))
    attributes_2 = along(*[1] * second, *[-1] * (b - second))
    score = run([EAST], [WEST], attributes_1, attributes_2, test=test, reading="printed")
    assert score.p_value == pytest.approx(p_value, rel=1e-9)


def random(*arrays, permutations=9):
    rng = np.random.default_rng(0)
    return association_test(*arrays, resamples=0, permutations=permutations, rng=rng)


@given(seeds)
def test_swapping_the_targets_mirrors_the_proportion(seed):
    rng = np.random.default_rng(seed)
    t_1, t_2, a_1, a_2 = [rng.standard_normal((n, 4)) for n in (3, 4, 5, 6)]
    score, swapped = random(t_1, t_2, a_1, a_2), random(t_2, t_1, a_1, a_2)
    both = random(t_2, t_1, a_2, a_1)
    for name in ("proportion", "auc"):
        assert score[name].value + swapped[name].value == pytest.approx(1.0)
        assert score[name].value == pytest.approx(both[name].value)
    assert score["association"].value == pytest.approx(-swapped["association"].value)
    assert score["association"].value == pytest.approx(both["association"].value)


@pytest.mark.parametrize("rounding", [0.0, 3e-8])
def test_attributes_without_a_difference_have_no_score_and_count_as_fair(rounding):
    attributes = [[rounding, 1.0], [-rounding, 1.0]]
    by_score = scores([EAST], [WEST], attributes, attributes[:1])
    fair = {"proportion": 0.5, "association": 0.0, "auc": 0.5}
    assert {name: score.without_difference for name, score in by_score.items()} == fair
    assert all(np.isnan(score.value) and score.reason for score in by_score.values())


def test_the_association_and_the_auc_by_hand():
    by_score = scores([EAST], [WEST], FIRST, SECOND)
    # 45 degrees: the cosine with EAST is ±1/√2, so the difference is ±√2
    first, second = np.sqrt(2) * np.array([1, 1, -1]), np.sqrt(2) * np.array([-1, -1, -1, 1, 0])
    assert by_score["association"].value == pytest.approx(first.mean() - second.mean())
    above = (first[:, None] > second).mean() + (first[:, None] == second).mean() / 2
    assert by_score["auc"].value == pytest.approx(above)
    cosines = np.concatenate([first, second, -first, -second]) / 2
    assert by_score["association"].unit == pytest.approx(cosines.std())


def sets(seed, *sizes, d=12):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def test_an_offset_of_all_attributes_changes_the_proportion_and_neither_contrast():
    t_1, t_2, a_1, a_2 = [unit_rows(z) for z in sets(1, 8, 8, 10, 12)]
    g = unit_rows([t_1.mean(axis=0) - t_2.mean(axis=0)])[0]

    def moved(z, by):  # a last coordinate that no target has keeps all attributes at length 3
        z = z + by * g
        return np.hstack([z, np.sqrt(9 - (z**2).sum(axis=1, keepdims=True))])

    targets = [np.hstack([z, np.zeros((len(z), 1))]) for z in (t_1, t_2)]
    before, after = (random(*targets, moved(a_1, by), moved(a_2, by)) for by in (0.0, 1.0))
    assert before["proportion"].details["k2"] < len(a_1) + len(a_2)
    assert after["proportion"].details["k2"] == len(a_1) + len(a_2)
    for name in ("association", "auc"):
        assert after[name].value == pytest.approx(before[name].value, abs=1e-12)
        assert after[name].p_value == before[name].p_value


def test_pairs_need_target_sets_of_equal_size():
    with pytest.raises(InvalidOption, match="3 and 4"):
        association_test(*sets(0, 3, 4, 5, 6), paired_targets=True, rng=np.random.default_rng(0))


def test_few_pairs_are_swapped_in_every_way():
    t_1, t_2, a_1, a_2 = sets(2, 4, 4, 5, 6)
    rng = np.random.default_rng(0)
    by_score = association_test(t_1, t_2, a_1, a_2, paired_targets=True, rng=rng)
    signs = np.array(list(itertools.product([1, -1], repeat=4)))
    between = unit_rows(a_1).mean(axis=0) - unit_rows(a_2).mean(axis=0)
    swapped = signs @ ((unit_rows(t_1) - unit_rows(t_2)) @ between) / 4
    score = by_score["association"]
    at_least = np.abs(swapped) >= abs(score.value) - 1e-12
    assert score.details["p_targets"] == pytest.approx(at_least.mean())


def test_pairs_that_share_a_word_are_swapped_together():
    t_1, t_2, a_1, a_2 = sets(3, 6, 6, 5, 6)
    texts = {"targets_1": list("aabcde"), "targets_2": list("uvvwxy")}
    rng = np.random.default_rng(0)
    score = association_test(t_1, t_2, a_1, a_2, paired_targets=True, texts=texts, rng=rng)
    details = score["association"].details
    assert details["units"] == 4
    assert details["p_targets"] * 2**4 == pytest.approx(round(details["p_targets"] * 2**4))


def test_a_significant_association_of_the_other_targets_is_reversed():
    t_1, t_2, a_1, a_2 = sets(6, 12, 12, 15, 16)
    turned = random(t_1 + 1, t_2 - 1, a_1 - 1, a_2 + 1, permutations=99)["association"]
    right = random(t_1 + 1, t_2 - 1, a_1 + 1, a_2 - 1, permutations=99)["association"]
    assert (turned.details["reversed"], right.details["reversed"]) == (True, False)
