"""How often 95 % intervals contain the truth: by the jackknife, and by the percentile bootstrap.

    python perf/coverage.py [SAMPLES]

prints a row for each statistic, truth and number of words a set. The words are random vectors of
300 dimensions, whose first one separates the sets, or random numbers. The truth is that of
infinitely many words. `tests/reference/test_coverage.py` holds the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.stats import norm

from harness.arrays import unit_rows
from harness.plugins.metrics.statistics.association import (
    resampled_associations,
    resampled_effect_sizes,
)
from harness.plugins.metrics.statistics.intervals import auc, jackknife_interval, pearson, spearman

DIMENSIONS = 300
SIZES = (5, 8, 25)
Statistic = Callable[..., np.ndarray]
Bounds = tuple[float, float] | None


def words(rng: np.random.Generator, n: int, shift: float) -> np.ndarray:
    """Return n unit vectors with a shift along the first axis."""
    vectors = rng.standard_normal((n, DIMENSIONS))
    vectors[:, 0] += shift
    return unit_rows(vectors)


def first_axis(shift: float) -> np.ndarray:
    """Return the first coordinate of many unit vectors with that shift."""
    rng = np.random.default_rng(0)
    first = rng.standard_normal(400_000) + shift
    return first / np.sqrt(first**2 + rng.chisquare(DIMENSIONS - 1, len(first)))


def shift_of(d: float) -> float:
    """Return about the shift of targets that have an effect size d."""
    return d / 2 / np.sqrt(1 - (d / 2) ** 2)


class EffectSize:
    """d of two target and two attribute sets."""

    name, sets, bounds = "effect size d", 4, (-2.0, 2.0)
    nominal = (0.0, 1.43, 1.83)
    apart = 4.0  # the attribute sets, in standard deviations to each side

    def truth(self, nominal: float) -> float:
        """Return the statistic of infinitely many words."""
        s = first_axis(shift_of(nominal))
        return 2 * s.mean() / np.sqrt(s.var() + s.mean() ** 2) if nominal else 0.0

    def words(self, rng: np.random.Generator, n: int, nominal: float) -> list[np.ndarray]:
        """Return the vectors of the four sets."""
        shift = shift_of(nominal)
        return [words(rng, n, side) for side in (shift, -shift, self.apart, -self.apart)]

    def draw(self, rng: np.random.Generator, n: int, nominal: float) -> Statistic:
        """Return the statistic of a sample, as a function of counts."""
        return partial(resampled_effect_sizes, *self.words(rng, n, nominal), ddof=1)


class VagueEffectSize(EffectSize):
    """d where the attributes hardly show what they stand for, so that few of them attenuate it."""

    name, apart = "effect size d, vague attributes", 2.0


class Association(EffectSize):
    """The difference of mean associations, in cosines."""

    name, bounds = "mean association", None

    def truth(self, nominal: float) -> float:
        """Return the statistic of infinitely many words."""
        of_attributes = first_axis(self.apart).mean()
        return 4 * of_attributes * first_axis(shift_of(nominal)).mean() if nominal else 0.0

    def draw(self, rng: np.random.Generator, n: int, nominal: float) -> Statistic:
        """Return the statistic of a sample, as a function of counts."""
        return partial(resampled_associations, *self.words(rng, n, nominal))


class Correlation:
    """Pearson's or Spearman's correlation of normal numbers."""

    sets, bounds, nominal = 1, (-1.0, 1.0), (0.0, 0.5, 0.9)

    def __init__(self, function: Callable[..., np.ndarray], name: str) -> None:
        self.function, self.name = function, name

    def truth(self, nominal: float) -> float:
        """Return the statistic of infinitely many words."""
        ranks = 6 / np.pi * np.arcsin(nominal / 2)
        return ranks if self.function is spearman else nominal

    def draw(self, rng: np.random.Generator, n: int, nominal: float) -> Statistic:
        """Return the statistic of a sample, as a function of counts."""
        x, noise = rng.standard_normal((2, n))
        return partial(self.function, x, nominal * x + np.sqrt(1 - nominal**2) * noise)


class Area:
    """The AUC of two sets of normal numbers."""

    name, sets, bounds, nominal = "AUC", 2, (0.0, 1.0), (0.0, 1.0, 2.0)

    def truth(self, nominal: float) -> float:
        """Return the statistic of infinitely many words."""
        return float(norm.cdf(nominal / np.sqrt(2)))

    def draw(self, rng: np.random.Generator, n: int, nominal: float) -> Statistic:
        """Return the statistic of a sample, as a function of counts."""
        x, y = rng.standard_normal(n) + nominal, rng.standard_normal(n)
        return lambda *counts: auc(x, y, counts)


class Share:
    """A share of hits."""

    name, sets, bounds, nominal = "share", 1, (0.0, 1.0), (0.5, 0.8, 0.95)

    def truth(self, nominal: float) -> float:
        """Return the statistic of infinitely many words."""
        return nominal

    def values(self, rng: np.random.Generator, n: int, nominal: float) -> np.ndarray:
        """Return the values of a sample, whose mean is the statistic."""
        return (rng.random(n) < nominal).astype(float)

    def draw(self, rng: np.random.Generator, n: int, nominal: float) -> Statistic:
        """Return the statistic of a sample, as a function of counts."""
        values = self.values(rng, n, nominal)
        return lambda counts: counts @ values / counts.sum(axis=1)


class MeanOverlap(Share):
    """The mean of |cos| of words with a direction: direct bias."""

    name, nominal = "mean of absolute cosines", (0.0, 2.0)

    def truth(self, nominal: float) -> float:
        """Return the statistic of infinitely many words."""
        return float(np.abs(first_axis(nominal)).mean())

    def values(self, rng: np.random.Generator, n: int, nominal: float) -> np.ndarray:
        """Return the values of a sample, whose mean is the statistic."""
        return np.abs(words(rng, n, nominal)[:, 0])


STATISTICS = (
    EffectSize(),
    VagueEffectSize(),
    Association(),
    Correlation(pearson, "Pearson's correlation"),
    Correlation(spearman, "Spearman's correlation"),
    Area(),
    Share(),
    MeanOverlap(),
)


def jackknife(statistic: Statistic, sizes: Sequence[int], bounds: Bounds, rng: np.random.Generator):
    """Return both ends, or None."""
    interval = jackknife_interval(statistic, sizes, rng=rng, bounds=bounds)
    return None if interval is None else (interval.low, interval.high)


def percentiles(
    statistic: Statistic,
    sizes: Sequence[int],
    bounds: Bounds,
    rng: np.random.Generator,
    resamples: int = 400,
):
    """Return both ends of the percentile bootstrap."""
    drawn = (rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(float) for n in sizes)
    values = statistic(*drawn)
    values = values[np.isfinite(values)]
    return tuple(np.quantile(values, [0.025, 0.975])) if len(values) else None


def coverage(kind, n: int, nominal: float, samples: int, method=jackknife) -> tuple[float, float]:
    """Return the share of intervals that contain the truth, and the share without an interval."""
    rng, truth = np.random.default_rng(n), kind.truth(nominal)
    sizes = [n] * kind.sets
    ends = [method(kind.draw(rng, n, nominal), sizes, kind.bounds, rng) for _ in range(samples)]
    there = [pair for pair in ends if pair is not None]
    return float(np.mean([low <= truth <= high for low, high in there])), 1 - len(there) / samples


def main(samples: int = 1000) -> None:
    """Print the table."""
    print("| statistic | truth | 5 | 8 | 25 | percentile bootstrap: 5 | 8 | 25 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in STATISTICS:
        for nominal in kind.nominal:
            cells = [
                f"{coverage(kind, n, nominal, samples, method)[0]:.3f}".replace("0.", ".")
                for method in (jackknife, percentiles)
                for n in SIZES
            ]
            truth = f"{kind.truth(nominal):.2f}"
            print(f"| {kind.name} | {truth} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
