"""Explained variance (Bolukbasi et al. 2016, figure 6): whether pairs share one direction."""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics.pair_components import pair_components

NEAR_ALL = 1e-9  # of a share: a random draw that reaches the value but for rounding reaches it


@metric(
    "explained-variance",
    scores={
        "explained": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the pairs' differences along one direction; low: there is no concept",
        )
    },
)
def explained_variance(
    pairs_1: Reals,
    pairs_2: Reals,
    words: Reals | None = None,
    *,
    draws: int = 1_000,
    rng: np.random.Generator,
) -> Score:
    """Share of the variance of the pairs' differences that their first component explains.

    Differences are set to length 1 and not centred (`pair_components`). It tells whether the pairs
    share a direction, so whether a bias along that direction means anything: no bias itself. n
    pairs that share nothing still have one above 1/n; the null is therefore drawn, as many pairs
    of random words, and, as in the figure, as many random unit vectors. Words of a real vocabulary
    are the harder null: their differences do not point everywhere alike. The p-value is the share
    of their draws with a first component as large, (hits + 1)/(draws + 1), or that of random unit
    vectors' where there are no words.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs.
    words
        (m, d) vectors of the words that random pairs are drawn from, such as the most frequent.
    draws
        Number of random draws; 0 for none, and no p-value.
    rng
        Source of the draws.

    Returns
    -------
    Score
        In [1/n, 1]. Details: `explained`, all shares; `random_unit_vectors` and
        `random_word_pairs`, means of the shares over the draws, in the same order.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.1 and figure 6.
    """
    components = pair_components(pairs_1, pairs_2)
    if components is None:
        reason = "the two sides of all pairs are equal"
        return Score(float("nan"), n=len(pairs_1), reason=reason)
    value = float(components.explained[0])
    n, d = np.shape(pairs_1)
    details = {"explained": components.explained.tolist()}
    null = None
    if draws > 0:
        null = np.array([_shares(rng.standard_normal((n, d))) for _ in range(draws)])
        details["random_unit_vectors"] = null.mean(axis=0).tolist()
    if draws > 0 and words is not None and len(words) > 1:
        null = np.array([_shares(_random_differences(words, n, rng)) for _ in range(draws)])
        details["random_word_pairs"] = null.mean(axis=0).tolist()
    p_value = None
    if null is not None:
        hits = int(np.count_nonzero(null[:, 0] >= value - NEAR_ALL))
        p_value = (hits + 1) / (draws + 1)
    return Score(value, p_value=p_value, n=n, details=details)


def _random_differences(words: Reals, n: int, rng: np.random.Generator) -> Floats:
    """Return the differences, (n, d), of n pairs of random words."""
    first = rng.integers(len(words), size=n)
    second = (first + rng.integers(1, len(words), size=n)) % len(words)  # another word
    return unit_rows(words[second]) - unit_rows(words[first])


def _shares(differences: Floats) -> Floats:
    """Return the (n,) shares of the components of differences, (n, d), set to length 1."""
    rows = unit_rows(differences)
    eigenvalues = np.linalg.eigvalsh(rows @ rows.T)[::-1].clip(0)
    shares: Floats = eigenvalues / max(eigenvalues.sum(), np.finfo(np.float64).tiny)
    return shares
