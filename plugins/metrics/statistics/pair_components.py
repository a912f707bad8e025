"""Direction of a concept: the principal components of the differences of word pairs.

This module chooses no component. The first one is the direction of Bolukbasi et al. (2016),
section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption

Subspace = Literal["centred-pairs", "unit-differences"]
"""Definition of the direction, named as in the mitigator `hard-debias`."""
EQUAL_SIDES = "the two sides of every pair are equal"
"""Reason for a missing score where no pair differs."""
NEGLIGIBLE = 1e-10  # of the largest singular value: such a component is rounding only
NO_OVERLAP = 1e-6
"""Largest |cos| with a direction that counts as 0: float32 leaves that much of a word vector that
was made orthogonal to the direction."""


@dataclass(frozen=True)
class Components:
    """Principal components, without those that are rounding only.

    Parameters
    ----------
    vectors
        (k, d) orthonormal rows, in the order of the variance that they explain. Each points
        towards the second side of the pairs.
    explained
        (k,) share of the differences' sum of squares along each component, in [0, 1]; the sum
        is 1.
    """

    vectors: Floats
    explained: Floats


def pair_components(
    first: Reals, second: Reals, *, subspace: Subspace = "unit-differences"
) -> Components | None:
    """Return the components of the pairs' differences as in the paper.

    Words are set to length 1. The differences, second − first, are not centred, because their mean
    is the concept itself. Pairs of equal vectors are left out.

    Parameters
    ----------
    first, second
        (n, d) vectors of the definitional pairs.
    subspace
        `unit-differences`: the differences are set to length 1, too, so that no single pair
        dominates (section 5.1). `centred-pairs`: they keep their lengths, which gives the
        components of the words minus the mean of their pair (section 6, step 1), the ones that
        `hard-debias` removes.

    Returns
    -------
    Components or None
        None if no pair differs.

    Raises
    ------
    InvalidOption
        If `subspace` is unknown.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.1 and figure 6.
    """
    if subspace not in ("centred-pairs", "unit-differences"):
        raise InvalidOption(f"subspace={subspace}: use 'centred-pairs' or 'unit-differences'")
    if subspace == "unit-differences":
        return components_of(unit_differences(first, second))
    return components_of(unit_rows(second) - unit_rows(first))


def unit_differences(first: Reals, second: Reals) -> Floats:
    """Return the (n, d) differences of pairs of unit words, at length 1; 0 for equal vectors."""
    return unit_rows(unit_rows(second) - unit_rows(first))


def components_of(differences: Floats) -> Components | None:
    """Return the components of (n, d) differences as they are; None if all are zero."""
    differences = differences[differences.any(axis=1)]
    if len(differences) == 0:
        return None
    _, singular_values, vectors = np.linalg.svd(differences, full_matrices=False)
    kept = singular_values > NEGLIGIBLE * singular_values[0]
    squares = singular_values[kept] ** 2
    signs = np.where(vectors[kept] @ differences.sum(axis=0) < 0, -1.0, 1.0)
    return Components(vectors[kept] * signs[:, None], squares / squares.sum())
