"""Statistics over the seeds of training: exact values, and their level under noise."""

import numpy as np
import pytest
from scipy import stats

from harness.plugins.train.recipes.results import of_one_seed, of_other_seeds, paired

SEEDS, ROWS, DRAWS = 3, 8, 1_000
RNG = np.random.default_rng(5)


def test_the_paired_interval_is_that_of_students_t():
    differences = [-0.1, -0.3, -0.2, 0.05]
    test = paired(differences)
    expected = stats.ttest_1samp(differences, 0)
    low, high = expected.confidence_interval(0.95)
    assert (test.low, test.high) == pytest.approx((low, high))
    assert test.p_value == pytest.approx(expected.pvalue)
    assert test.n == 4


def test_one_seed_has_a_difference_but_no_interval():
    test = paired([0.2])
    assert (test.n, test.mean) == (1, 0.2)
    assert (test.sd, test.low, test.high, test.p_value) == (None, None, None, None)


def test_no_common_seed_gives_nothing():
    assert paired([]) is None


def test_equal_models_differ_by_nothing_for_sure():
    test = paired([1e-8, -1e-8])  # the rounding of another batch
    assert (test.mean, test.low, test.high, test.p_value) == (0, 0, 0, 1)


def test_equal_differences_have_no_interval_as_it_would_have_no_width():
    test = paired([0.25, 0.25])
    assert (test.mean, test.sd, test.low, test.p_value) == (0.25, 0, None, None)


def test_noise_pools_the_variances_of_the_rows():
    rows = [[1.0, 2.0, 4.0], [0.0, 0.5], [7.0]]
    assert of_one_seed(rows).df == 3
    expected = np.sqrt((2 * np.var(rows[0], ddof=1) + np.var(rows[1], ddof=1)) / 3)
    assert of_one_seed(rows).sd == pytest.approx(expected)
    assert of_other_seeds(rows).sd == pytest.approx(expected * np.sqrt(2))
    assert of_other_seeds([[1.0], [2.0]]) is None


def test_the_chance_of_a_change_is_that_of_two_runs_on_one_corpus():
    """Two runs of one corpus: how often they differ by 1, against the simulated share."""
    truth, said = 0.5, []
    for _ in range(DRAWS):
        said.append(of_other_seeds(RNG.normal(0, truth, (ROWS, SEEDS))).chance_of(1.0))
    hits = np.mean(np.abs(np.diff(RNG.normal(0, truth, (100_000, 2)))) >= 1)
    assert np.mean(said) == pytest.approx(hits, abs=0.02)


def test_the_smallest_change_is_half_the_width_of_an_interval():
    """The half-width of a simulated interval over independent runs, in the quadratic mean."""
    n, sd = 4, 0.3
    widths = []
    for _ in range(DRAWS):
        test = paired(list(RNG.normal(0, sd, n) - RNG.normal(0, sd, n)))
        widths.append(((test.high - test.low) / 2) ** 2)
    known = of_other_seeds(RNG.normal(0, sd, (2_000, 2)))
    assert known.smallest_change(n) == pytest.approx(np.sqrt(np.mean(widths)), rel=0.05)
    assert known.smallest_change(1) is None


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_on_noise_an_interval_excludes_zero_as_often_as_its_level_says(seeds):
    """The same corpus under two names: 5 % of the intervals may exclude 0, and not more."""
    excluded = [
        not test.low <= 0 <= test.high
        for test in (paired(list(row)) for row in RNG.normal(0, 0.1, (4_000, seeds)))
    ]
    assert 0.04 < np.mean(excluded) < 0.06


def test_a_planted_difference_is_found():
    """A change of four standard deviations, with five seeds: found in most of all draws."""
    differences = RNG.normal(-0.4, 0.1, (500, 5))
    assert np.mean([paired(list(row)).high < 0 for row in differences]) > 0.95
