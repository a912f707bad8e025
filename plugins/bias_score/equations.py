"""BiasScore of a sentence: equations 1–3 of the paper of the bias score.

Arrays in, numbers out. Does not know where the vectors, the importance and the list of gendered
words come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, cosines


@dataclass(frozen=True, kw_only=True)
class BiasScore:
    """The scores of one sentence, and the contribution of each word.

    Parameters
    ----------
    female
        BiasScore_F, equation 1, at least 0; fair is 0.
    male
        BiasScore_M, equation 2, at most 0; fair is 0.
    cosines
        (W,) cosines of the words' vectors with the gender direction.
    importance
        (W,) shares I_w.
    biases
        (W,) cos × I_w, 0 for gendered words.
    """

    female: float
    male: float
    cosines: Floats
    importance: Floats
    biases: Floats

    @property
    def absolute(self) -> float:
        """Abs-BiasScore, equation 3, at least 0; fair is 0."""
        return self.female - self.male


def bias_score(
    vectors: Reals,
    importance: Reals,
    gendered: npt.NDArray[np.bool_],
    direction: Reals,
) -> BiasScore:
    """Return the scores of a sentence of W words.

    BiasScore_F(s) = Σ over w ∈ s, w ∉ L, cos(w, g) > 0 of cos(w, g) × I_w
    BiasScore_M(s) = the same sum over cos(w, g) < 0
    Abs-BiasScore(s) = Σ over w ∈ s, w ∉ L of |cos(w, g) × I_w|

    Parameters
    ----------
    vectors
        (W, d) vectors of the words. A row of NaN or zeros is a word without a vector; it
        contributes 0.
    importance
        (W,) I_w, at least 0.
    gendered
        (W,) whether a word is in the list L; its gender does not count as bias.
    direction
        (d,) g, with the female side positive.
    """
    cos = np.nan_to_num(cosines(vectors, np.asarray(direction)[None])[:, 0])
    shares = np.asarray(importance, dtype=np.float64)
    biases = np.where(gendered, 0.0, cos * shares)
    return BiasScore(
        female=float(biases[biases > 0].sum()),
        male=float(biases[biases < 0].sum()),
        cosines=cos,
        importance=shares,
        biases=biases,
    )
