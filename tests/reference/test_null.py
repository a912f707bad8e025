"""P-values under the null hypothesis: of 2,000 draws without an effect, 5 % are below .05.

Targets, attributes and ratings are random vectors and numbers. A p-value of counts is discrete: its
steps limit how often it is below 5 %. Those tests are compared with the share that its steps allow.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, kstest

from harness.plugins.metrics.association_test import association_test
from harness.plugins.metrics.explained_variance import explained_variance
from harness.plugins.metrics.similarity_correlation import similarity_correlation
from harness.plugins.metrics.statistics.nulls import partition_test
from harness.plugins.metrics.weat import weat

DRAWS = 2_000
FEWER = 500  # of a test that takes milliseconds


def check(p_values) -> None:
    """Check for 4 to 6 % below 5 %, and for a uniform spread over [0, 1]."""
    p = np.asarray(p_values)
    assert len(p) == DRAWS
    assert 0.04 <= np.mean(p <= 0.05) <= 0.06, np.mean(p <= 0.05)
    assert kstest(p, "uniform").statistic < 0.05


def p_of(*arrays: np.ndarray, **options) -> float:
    """Return the published p-value: the larger of both sides is below 5 % less often."""
    return weat(*arrays, sides="targets", null_draws=0, **options)["association"].p_value


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_weat_counted_exactly(rng, alternative):
    draws = rng.standard_normal((DRAWS, 22, 10))
    check(
        [
            p_of(*np.split(x, [6, 12, 17]), alternative=alternative, resamples=0, rng=rng)
            for x in draws
        ]
    )


def sentences(
    rng: np.random.Generator, words: int, templates: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return values of sentences, mostly those of their word, and the word of each sentence."""
    codes = np.repeat(np.arange(words), templates)
    own = 0.3 * rng.standard_normal((DRAWS, len(codes)))
    return rng.standard_normal((DRAWS, words))[:, codes] + own, codes


def p_values(rng, first, second, clusters=(None, None)):
    pairs = zip(first, second, strict=True)
    return [
        partition_test(x, y, rng=rng, clusters=clusters, permutations=99).p_value for x, y in pairs
    ]


def test_weat_on_sentences_that_share_words(rng):
    (first, codes), (second, _) = sentences(rng, 7, 4), sentences(rng, 7, 4)
    check(p_values(rng, first, second, (codes, codes)))


def test_permuting_sentences_that_share_words_rejects_too_often(rng):
    # the published variant, `permute="items"`
    (first, _), (second, _) = sentences(rng, 7, 4), sentences(rng, 7, 4)
    assert np.mean(np.array(p_values(rng, first, second)) <= 0.05) > 0.15


@pytest.mark.parametrize("test", ["neutral", "negative"])
def test_association_test_is_below_5_percent_as_often_as_its_steps_allow(rng, test):
    a, n = 30, 60
    p = np.array(
        [
            association_test(
                *np.split(rng.standard_normal((16 + n, 40)), [8, 16, 16 + a]),
                test=test,
                permutations=1,
                resamples=0,
                rng=rng,
            )["proportion"].p_value
            for _ in range(FEWER)
        ]
    )
    counts = binom(n, 0.5)
    steps = counts.cdf(np.arange(n + 1))
    allowed = steps[steps <= 0.05].max()
    assert np.mean(p <= 0.05) == pytest.approx(allowed, abs=0.024)  # 2.5 standard errors


def test_similarity_correlation(rng):
    def spearman() -> tuple[float, ...]:
        pairs, ratings = rng.standard_normal((2, 40, 8)), rng.standard_normal(40)
        scores = similarity_correlation(*pairs, ratings, resamples=0, rng=rng)
        return scores["spearman"].p_value, scores["pearson"].p_value

    for p in zip(*(spearman() for _ in range(DRAWS)), strict=True):
        check(p)


def test_explained_variance_of_pairs_that_share_nothing(rng):
    draws = rng.standard_normal((DRAWS, 2, 6, 10))
    check([explained_variance(*pairs, draws=39, rng=rng).p_value for pairs in draws])
