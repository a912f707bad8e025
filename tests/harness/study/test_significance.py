"""The corrected t-test, Holm's correction and verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from harness.study.significance import corrected_t_test, detectable, holm, verdict

NINTH = 1 / 9
VALUES = st.floats(-1, 1).map(lambda x: round(x, 6))
SAMPLES = st.integers(2, 30).flatmap(lambda n: arrays(np.float64, n, elements=VALUES))
P_VALUES = st.lists(st.floats(0, 1), max_size=20)


def spread(d: np.ndarray) -> np.ndarray:
    assume(np.ptp(d) > 1e-5)
    return d


# --- the corrected t-test -------------------------------------------------------------------


def test_three_differences_by_hand():
    # mean 2, s² 1, standard error sqrt(1/3 + 1/6) = sqrt(1/2); t = 2 sqrt 2 with 2 degrees of
    # freedom, for which p = 1 − t / sqrt(t² + 2)
    found = corrected_t_test([1.0, 2.0, 3.0], test_to_train=1 / 6)
    t = 2 * math.sqrt(2)
    assert (found.mean, found.sd, found.df, found.n) == (2.0, 1.0, 2, 3)
    assert found.t == pytest.approx(t)
    assert found.p_value == pytest.approx(1 - t / math.sqrt(t * t + 2))
    assert found.reason == ""
    # the 97.5 % point of t with 2 degrees of freedom is 4.302653
    assert found.low == pytest.approx(2 - 4.302652730 * math.sqrt(0.5))
    assert found.high == pytest.approx(2 + 4.302652730 * math.sqrt(0.5))


def test_the_published_variance_by_hand():
    # s² (1/3) (1 + 1/3) = 4/9
    found = corrected_t_test([1.0, 2.0, 3.0], test_to_train=1 / 2, published_folds=3)
    assert found.t == pytest.approx(3.0)
    assert "published" in found.method
    assert "published" not in corrected_t_test([1.0, 2.0], test_to_train=NINTH).method


def test_with_ten_folds_the_published_t_is_larger_by_1_39():
    d = np.random.default_rng(3).normal(size=10)
    ours = corrected_t_test(d, test_to_train=NINTH)
    theirs = corrected_t_test(d, test_to_train=NINTH, published_folds=10)
    assert theirs.t / ours.t == pytest.approx(math.sqrt((0.1 + NINTH) / 0.11))
    assert theirs.t / ours.t == pytest.approx(1.385, abs=5e-4)


def test_repeating_the_same_folds_does_not_make_a_difference_significant():
    # Without the second term the standard error would go to 0.
    d = np.random.default_rng(4).normal(0.3, 1.0, size=10)
    p = [corrected_t_test(np.tile(d, k), test_to_train=NINTH).p_value for k in (1, 10, 1000)]
    bound = d.mean() / (d.std() * math.sqrt(NINTH))
    assert p[0] > p[1] > p[2] > math.erfc(abs(bound) / math.sqrt(2)) > 0.1


@given(SAMPLES, st.floats(0.01, 1), st.floats(0.5, 0.99))
def test_the_interval_excludes_0_exactly_if_p_is_below_its_level(d, ratio, confidence):
    found = corrected_t_test(spread(d), test_to_train=ratio, confidence=confidence)
    assume(abs(found.p_value - (1 - confidence)) > 1e-9)
    assert (found.low > 0 or found.high < 0) == (found.p_value < 1 - confidence)
    assert found.low < found.mean < found.high


@given(SAMPLES)
def test_without_correlation_it_is_the_paired_t_test(d):
    from scipy.stats import ttest_1samp

    found = corrected_t_test(spread(d), test_to_train=1e-300)
    expected = ttest_1samp(d, 0)
    assert found.t == pytest.approx(expected.statistic, rel=1e-6, abs=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)


@given(SAMPLES, st.floats(1e-100, 1e100), st.randoms())
def test_the_sign_flips_the_scale_multiplies_and_the_order_changes_nothing(d, factor, random):
    found = corrected_t_test(spread(d), test_to_train=NINTH)
    flipped = corrected_t_test(-d, test_to_train=NINTH)
    assert (flipped.t, flipped.p_value) == (-found.t, found.p_value)
    assert (flipped.low, flipped.high) == (-found.high, -found.low)
    order = list(range(len(d)))
    random.shuffle(order)
    other = corrected_t_test(factor * d[order], test_to_train=NINTH)
    assert other.t == pytest.approx(found.t, rel=1e-6, abs=1e-6)
    assert other.sd == pytest.approx(factor * found.sd, rel=1e-6)
    assert other.high == pytest.approx(factor * found.high, rel=1e-6, abs=factor * 1e-6)


def test_differences_that_are_not_finite_are_ignored():
    found = corrected_t_test([1.0, np.nan, 2.0, np.inf, 3.0], test_to_train=NINTH)
    assert found == corrected_t_test([1.0, 2.0, 3.0], test_to_train=NINTH)
    assert found.n == 3


@pytest.mark.parametrize("d", [[], [0.5], [np.nan, 0.5], [np.nan, np.nan]])
def test_fewer_than_two_differences_have_no_test(d):
    found = corrected_t_test(d, test_to_train=NINTH)
    assert np.isnan([found.sd, found.t, found.p_value, found.low, found.high]).all()
    assert f"{found.n} of {len(d)} differences" in found.reason
    assert found.df == 0


def test_differences_that_are_all_0_have_a_p_value_of_1():
    found = corrected_t_test(np.zeros(10), test_to_train=NINTH)
    assert (found.t, found.p_value, found.low, found.high) == (0.0, 1.0, 0.0, 0.0)
    assert found.reason == ""


@pytest.mark.parametrize("value", [0.1, -0.1, 1e-9, 1e6])
def test_equal_differences_have_no_p_value(value):
    # Rounding leaves a deviation of 1e-17, with which t would be 1e16.
    d = np.full(10, value) * (1 + np.resize([0, 1e-15, -1e-15], 10))
    found = corrected_t_test(d, test_to_train=NINTH)
    assert found.t == math.copysign(math.inf, value)
    assert np.isnan([found.p_value, found.low, found.high]).all()
    assert (found.mean, found.sd) == (pytest.approx(value), 0.0)
    assert "10 differences" in found.reason


def test_differences_below_the_resolution_count_as_0():
    # Two solvers that agree to 3e-7, with one sign in all folds.
    d = 3e-7 + 1e-8 * np.arange(10)
    assert corrected_t_test(d, test_to_train=NINTH).p_value < 1e-6
    found = corrected_t_test(d, test_to_train=NINTH, resolution=1e-6)
    assert (found.p_value, found.mean) == (1.0, 0.0)
    assert verdict(found) == "equal"


def test_small_differences_do_not_count_as_0_without_a_resolution():
    d = np.random.default_rng(5).normal(size=10)
    small = corrected_t_test(1e-200 * d, test_to_train=NINTH)
    assert small.t == pytest.approx(corrected_t_test(d, test_to_train=NINTH).t)


# --- Holm -------------------------------------------------------------------------------------


def test_holm_by_hand():
    # sorted .01 .02 .03 .04, times 4 3 2 1: .04 .06 .06 .04, and none below the one before
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    # times 3 2 1: .03 .8 .5, so that the last follows
    assert holm([0.01, 0.4, 0.5]) == pytest.approx([0.03, 0.8, 0.8])
    assert holm([0.9, 0.6]) == pytest.approx([1.0, 1.0])
    assert holm([0.02, 0.02]) == pytest.approx([0.04, 0.04])


def test_holm_rejects_more_than_bonferroni_and_stops_at_the_first_that_fails():
    # At 5 %: .012 ≤ .05/4, .016 ≤ .05/3, .026 > .05/2, so that .04 fails too.
    adjusted = holm([0.012, 0.016, 0.026, 0.04])
    assert list(adjusted <= 0.05) == [True, True, False, False]
    assert adjusted == pytest.approx([0.048, 0.048, 0.052, 0.052])


def test_holm_ignores_nan_and_keeps_the_shape():
    table = np.array([[0.01, np.nan], [0.04, np.nan]])
    np.testing.assert_allclose(holm(table), [[0.02, np.nan], [0.04, np.nan]])
    assert holm([]).shape == (0,)
    assert np.isnan(holm([np.nan])).all()


@given(P_VALUES, st.randoms())
def test_holm_is_monotone_and_bounded_and_does_not_depend_on_order(p, random):
    p = np.array(p)
    adjusted = holm(p)
    assert ((adjusted >= p) & (adjusted <= 1)).all()
    assert (adjusted <= np.minimum(1, len(p) * p) + 1e-15).all()  # Bonferroni's
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()
    order = list(range(len(p)))
    random.shuffle(order)
    order = np.array(order, dtype=int)
    np.testing.assert_array_equal(holm(p[order]), adjusted[order])


@given(P_VALUES.filter(len), st.floats(0.001, 0.5))
def test_holm_rejects_what_its_steps_reject(p, alpha):
    m = len(p)
    smallest_first = sorted(range(m), key=lambda i: p[i])
    rejected = set()
    for i, which in enumerate(smallest_first):
        if p[which] * (m - i) > alpha:
            break
        rejected.add(which)
    assert set(np.flatnonzero(holm(p) <= alpha)) == rejected


# --- verdicts ---------------------------------------------------------------------------------


def test_verdicts_follow_the_sign_the_level_and_the_direction():
    lower = corrected_t_test([-1.0, -1.1, -0.9, -1.0], test_to_train=NINTH)
    assert verdict(lower) == "better"
    higher = corrected_t_test([1.0, 1.1, 0.9, 1.0], test_to_train=NINTH)
    assert verdict(higher) == "worse"
    assert verdict(lower, alpha=lower.p_value) == "better"
    assert verdict(lower, alpha=lower.p_value / 2) == "equal"
    assert verdict(lower, p_value=0.2) == "equal"  # after Holm
    unclear = corrected_t_test([-1.0, 1.1, 0.9, -1.0], test_to_train=NINTH)
    assert verdict(unclear) == "equal"


def test_without_a_p_value_there_is_no_verdict():
    assert verdict(corrected_t_test([0.1], test_to_train=NINTH)) == "undefined"
    assert verdict(corrected_t_test(np.full(10, 0.1), test_to_train=NINTH)) == "undefined"
    assert verdict(corrected_t_test(np.zeros(10), test_to_train=NINTH)) == "equal"


# --- power ----------------------------------------------------------------------------------


def test_a_detectable_difference_is_found_with_the_stated_power():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4_000, 10))
    found = corrected_t_test(stats.zscore(draws[0], ddof=1), test_to_train=1e-9)
    size = detectable(found, level=0.01, power=0.8)
    p_values = stats.ttest_1samp(draws + size, 0, axis=1).pvalue
    assert np.mean(p_values <= 0.01) == pytest.approx(0.8, abs=0.03)


def test_with_many_folds_it_is_a_sum_of_two_normal_quantiles():
    noise = stats.zscore(np.random.default_rng(0).normal(size=5_000), ddof=1)
    found = corrected_t_test(noise, test_to_train=NINTH)
    expected = (stats.norm.isf(0.025) + stats.norm.isf(0.2)) * found.error
    assert detectable(found, level=0.05, power=0.8) == pytest.approx(expected, rel=1e-3)


def test_a_stricter_level_detects_only_larger_differences():
    found = corrected_t_test([1.0, 2.0, 3.0], test_to_train=NINTH)
    sizes = [detectable(found, level=0.05 / n, power=0.8) for n in (1, 10, 100)]
    assert 0 < sizes[0] < sizes[1] < sizes[2]


def test_equal_differences_detect_every_difference_and_one_detects_none():
    assert detectable(corrected_t_test([0.0, 0.0], test_to_train=1), level=0.05, power=0.8) == 0
    one = corrected_t_test([1.0], test_to_train=1)
    assert math.isnan(detectable(one, level=0.05, power=0.8))
