"""Unit length and nothing else: what every debiasing has to beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.arrays import Reals, Vectors, unit_rows
from harness.mitigator import Mitigator


class Normalize(Mitigator):
    """Set every vector to length 1.

    It removes no concept, but metrics that depend on length (RND, RIPA, RNSB) gain from it nearly
    all that debiasing seems to give them, since debiasing normalises on its way. A row of NaN, a
    word that the vocabulary lacks, stays NaN; a zero row stays zero.
    """

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return `vectors`, (n, d), at length 1 in float32."""
        return unit_rows(vectors).astype(np.float32)
