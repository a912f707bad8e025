"""Binomial association test by hand, and its symmetries."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, ortho_group

from harness.plugins.metrics.association_test import association_test

EAST, WEST = [1.0, 0.0], [-1.0, 0.0]
seeds = st.integers(0, 2**32 - 1)


def run(*arrays, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return association_test(*[np.asarray(a, float).reshape(-1, 2) for a in arrays], **options)


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


@given(seeds)
def test_counts_do_not_change_under_rotation(seed):
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((n, 4)) for n in (3, 4, 5, 6)]
    turned = [array @ ortho_group.rvs(4, random_state=seed) for array in arrays]
    assert association_test(*arrays).value == association_test(*turned).value


@given(seeds)
def test_swapping_the_targets_mirrors_the_proportion(seed):
    rng = np.random.default_rng(seed)
    t_1, t_2, a_1, a_2 = [rng.standard_normal((n, 4)) for n in (3, 4, 5, 6)]
    score, swapped = association_test(t_1, t_2, a_1, a_2), association_test(t_2, t_1, a_1, a_2)
    assert score.value + swapped.value == pytest.approx(1.0)
    both = association_test(t_2, t_1, a_2, a_1)
    assert score.value == pytest.approx(both.value)


def test_zero_attributes_are_closer_to_neither_target_set():
    assert run([EAST], [WEST], [[0, 0]], [[0, 0]]).value == 0.0


@pytest.mark.parametrize("empty", [0, 1])
def test_an_empty_target_set_has_no_score(empty):
    targets = [[EAST], [WEST]]
    targets[empty] = []
    score = run(*targets, FIRST, SECOND)
    assert np.isnan(score.value)
    assert score.reason
