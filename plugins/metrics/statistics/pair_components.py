"""A concept's direction: the principal components of the differences of pairs of words.

Chooses no component and knows no metric: the first component is the direction of Bolukbasi et al.
(2016), section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats, Reals, unit_rows

NEGLIGIBLE = 1e-10  # of the largest singular value: a component that is rounding alone
NO_OVERLAP = 1e-6
"""Largest |cos| with a direction that counts as none: what float32 leaves of a word that was made
orthogonal to it."""


@dataclass(frozen=True)
class Components:
    """Principal components, those that are rounding alone left out.

    Parameters
    ----------
    vectors
        (k, d) orthonormal rows, the first explaining most, each turned towards the second side.
    explained
        (k,) share of the differences' sum of squares along each, in [0, 1], with sum 1.
    """

    vectors: Floats
    explained: Floats


def pair_components(first: Reals, second: Reals) -> Components | None:
    """Return the components of the pairs' differences as the paper has them.

    The words are set to length 1, so are their differences, second − first, so that no single
    pair dominates; and they are not centred: their mean is the concept itself. Pairs that do not
    differ are left out.

    Parameters
    ----------
    first, second
        (n, d) vectors of pairs that differ in the concept alone.

    Returns
    -------
    Components or None
        None if no pair differs.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.1 and figure 6.
    """
    return components_of(unit_rows(unit_rows(second) - unit_rows(first)))


def components_of(differences: Floats) -> Components | None:
    """Return the components of differences, (n, d), as they are; None if there are only zeros."""
    differences = differences[differences.any(axis=1)]
    if len(differences) == 0:
        return None
    _, singular_values, vectors = np.linalg.svd(differences, full_matrices=False)
    kept = singular_values > NEGLIGIBLE * singular_values[0]
    squares = singular_values[kept] ** 2
    signs = np.where(vectors[kept] @ differences.sum(axis=0) < 0, -1.0, 1.0)
    return Components(vectors[kept] * signs[:, None], squares / squares.sum())
