"""Normalisation to unit length: the baseline that every mitigation must beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.arrays import Reals, Vectors, unit_rows
from harness.mitigator import Map, Mitigator


class Normalize(Mitigator):
    """Set every vector to length 1.

    Removes the lengths of vectors, and no concept; keeps all cosines. Metrics that depend on length
    (RND, RIPA, RNSB) improve as much by this as by most mitigations, because those normalise too. A
    row of NaN (an unknown word) stays NaN; a zero row stays zero.

    It has no hyper-parameters, needs no concept, and raises no errors.
    """

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return `vectors`, (n, d), at length 1 in float32."""
        return unit_rows(vectors).astype(np.float32)

    def as_map(self) -> Map:
        """Return the map that sets lengths to 1."""
        return Map(("unit",))
