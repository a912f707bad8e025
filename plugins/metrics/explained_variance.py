"""Explained variance (Bolukbasi et al. 2016, figure 6): share of one direction in the pairs."""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Null, Samples, Scale, Score, metric

from .statistics import nulls
from .statistics.concept_scores import (
    EQUAL_SIDES,
    pair_components,
    unit_differences,
)

ROUNDING = 1e-9  # of a share: a random draw equal up to rounding counts as a hit


@metric(
    "explained-variance",
    scores={
        "explained": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the pairs' differences along one direction; low: no common concept",
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

    The differences are set to length 1 and not centred (`pair_components`). The share is no
    measure of bias. It shows whether the pairs have a common direction, and so whether a bias
    along that direction means anything.

    The first component of n unrelated pairs explains more than 1/n. The null distribution is
    therefore drawn: n pairs of random words, and n random unit vectors as in figure 6. Random
    words are the stricter null, because their differences prefer some directions. The p-value is
    the share of random pairs of words whose first component explains as much, as
    (hits + 1)/(draws + 1). Without `words` it is that of random unit vectors.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs.
    words
        (m, d) vectors of the words for random pairs, such as the most frequent words.
    draws
        Number of random draws of n pairs; 0 for none and no p-value.
    rng
        Random number generator of the draws.

    Returns
    -------
    Score
        In [1/n, 1] for n pairs; higher is better. Details: `explained`, the shares of all
        components; `random_unit_vectors` and `random_word_pairs`, the mean shares over the
        draws, in the same order (figure 6). Samples: each pair that differs, with the
        `cosine` of its difference and the component. There is no interval.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.1 and figure 6.
    """
    components = pair_components(pairs_1, pairs_2)
    if components is None:
        return Score(float("nan"), n=len(pairs_1), reason=EQUAL_SIDES)
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
        p_value = nulls.one_sided(value, null[:, 0], tolerance=ROUNDING)
    differences = unit_differences(pairs_1, pairs_2)
    along = differences @ components.vectors[0]
    shares = np.where(differences.any(axis=1), along**2, np.nan)
    samples = [Samples(("pairs_1", "pairs_2"), shares, {"cosine": along})]
    return Score(
        value,
        p_value=p_value,
        n=n,
        details=details,
        samples=samples,
        null=None if null is None else Null(null[:, 0], "pairs of random words"),
    )


def _random_differences(words: Reals, n: int, rng: np.random.Generator) -> Floats:
    """Return the (n, d) differences of n pairs of random words."""
    first = rng.integers(len(words), size=n)
    second = (first + rng.integers(1, len(words), size=n)) % len(words)  # a different word
    return unit_rows(words[second]) - unit_rows(words[first])


def _shares(differences: Floats) -> Floats:
    """Return the (n,) shares of the components of (n, d) differences, set to length 1."""
    rows = unit_rows(differences)
    eigenvalues = np.linalg.eigvalsh(rows @ rows.T)[::-1].clip(0)
    shares: Floats = eigenvalues / max(eigenvalues.sum(), np.finfo(np.float64).tiny)
    return shares
