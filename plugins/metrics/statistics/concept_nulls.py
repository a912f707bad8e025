"""What a concept's direction shows by chance: the search for it repeated on shuffled pairs.

Everything is computed from the inner products of the pairs' words, so that a repetition costs a
decomposition of an (n, n) matrix at most. Swapping the sides of pairs only turns the signs of
their differences: the components stay, and no decomposition is needed at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.statistics.concept_search import Found, Search
from harness.plugins.metrics.statistics.intervals import Codes
from harness.plugins.metrics.statistics.nulls import shuffled_sides
from harness.plugins.metrics.statistics.weighted import pearson

DRAWS = 200
"""Number of repetitions of a search, each for shuffled sides and for words paired anew."""
WORDS = "words of the pairs"
NEGLIGIBLE = 1e-12  # of the largest eigenvalue: such a component is rounding only


@dataclass(frozen=True)
class Pool:
    """The words of n pairs: first all first sides, then all second sides.

    Parameters
    ----------
    products
        (2n, 2n) inner products of the words.
    attributes
        (m, 2n) inner products of the attributes with the words.
    """

    products: Floats
    attributes: Floats

    @classmethod
    def of(cls, x_1: Floats, x_2: Floats, attributes: Floats) -> Pool:
        """Return the pool of (n, d) pairs and (m, d) attributes."""
        words = np.vstack([x_1, x_2])
        return cls(words @ words.T, attributes @ words.T)

    @property
    def pairs(self) -> int:
        """Number n of pairs."""
        return len(self.products) // 2

    def components(self, first: Codes, second: Codes) -> _Projected | None:
        """Return the projections on the components of pairs of words; None if no pair differs."""
        rows = self.products[second] - self.products[first]  # differences with all words
        values, vectors = np.linalg.eigh(rows[:, second] - rows[:, first])
        values, vectors = values[::-1], vectors[:, ::-1]
        if values[0] <= 0 or np.sqrt(values[0]) <= np.sqrt(NEGLIGIBLE * self.products.max()):
            return None
        kept = values > NEGLIGIBLE * values[0]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        of_attributes = self.attributes[:, second] - self.attributes[:, first]
        explained = values[kept] / values[kept].sum()
        return _Projected(rows.T @ basis, of_attributes @ basis, explained)


@dataclass(frozen=True)
class _Projected:
    """Projections on k components: (2n, k) of the words, (m, k) of the attributes."""

    words: Floats
    attributes: Floats
    explained: Floats

    def search(self, search: Search, first: Codes, second: Codes) -> Found:
        return search(self.words[first], self.words[second], self.explained)


def held_out(pool: Pool, search: Search) -> float | None:
    """Return the share of pairs that are the right way round along a g found without them.

    Chance is 1/2. None if there are fewer than two pairs.
    """
    n = pool.pairs
    if n < 2:
        return None
    right = []
    for left_out in range(n):
        first = np.delete(np.arange(n), left_out)
        projected = pool.components(first, first + n)
        gap = 0.0
        if projected is not None:
            g = projected.search(search, first, first + n)
            gap = float((projected.words[left_out + n] - projected.words[left_out]) @ g.weights)
        right.append(1.0 if gap > 0 else 0.5 if gap == 0 else 0.0)
    return float(np.mean(right))


def shuffled_aucs(pool: Pool, search: Search, *, draws: int, rng: np.random.Generator) -> Floats:
    """Return the (draws,) AUCs of g where the sides of the pairs are swapped at random."""
    first = np.arange(pool.pairs)
    projected = pool.components(first, first + pool.pairs)
    if projected is None:
        return np.empty(0)
    aucs = np.empty(draws)
    for i, signs in enumerate(shuffled_sides(pool.pairs, rng=rng, draws=draws)):
        swapped = np.where(signs > 0, first, first + pool.pairs)
        other = np.where(signs > 0, first + pool.pairs, first)
        aucs[i] = projected.search(search, swapped, other).auc
    return aucs


def shuffled_correlations(
    pool: Pool, search: Search, labels: Floats, *, draws: int, rng: np.random.Generator
) -> Floats:
    """Return the (draws,) correlations with labels along g of words paired anew at random.

    NaN where no pair differs or all projections are equal.
    """
    correlations = np.full(draws, np.nan)
    for i in range(draws):
        first, second = np.split(rng.permutation(2 * pool.pairs), 2)
        projected = pool.components(first, second)
        if projected is not None:
            g = projected.search(search, first, second)
            correlations[i] = pearson(projected.attributes @ g.weights, labels)[0]
    return correlations
