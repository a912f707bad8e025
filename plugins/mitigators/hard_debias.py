"""Hard debiasing (Bolukbasi et al. 2016): neutralise, then equalise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from harness.arrays import Floats, unit_rows
from harness.concept import Concept
from harness.errors import InvalidOption

from .fitting.subspaces import Solver, SubspaceDebias

Subspace = Literal["centred-pairs", "unit-differences"]


class HardDebias(SubspaceDebias):
    """Project a concept of two groups out of all words not about it.

    Removes the component of neutral words in the concept's subspace B, and the differences of the
    words of an equalize set outside B. Keeps everything else of neutral words, and definitional and
    specific words. `SubspaceDebias` describes both steps and the words that are left alone.

    The concept needs `definitional_pairs`; `equalize_sets` and `specific_words` are optional.

    Parameters
    ----------
    k
        Dimensions of B, at least 1; by default 1, as in the paper.
    normalize
        Whether to set all vectors to length 1 first, and neutral ones again at the end, as in the
        paper. Otherwise lengths are kept: an equalised word gets the root mean square length of its
        set.
    equalize
        Whether to equalise, as in the paper, or only neutralise.
    subspace
        Definition of B. `centred-pairs`, as in the paper, debiaswe and WEFE: the principal
        components of the definitional words minus the mean of their pair. `unit-differences`: those
        of the differences of the pairs at length 1, without centring, so that no single pair, such
        as a pair of names, dominates.
    solver
        `full`, `randomized` or `arpack`, named as in scikit-learn's PCA. With a few dozen pairs
        they agree to 3e-7, so there is nothing to tune.
    seed
        Seed of the random start of `randomized` and `arpack`.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 6, steps 1 and 2a.
    """

    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs",)
    name = "hard-debias"
    defined_by = "definitional_pairs"

    def __init__(
        self,
        k: int = 1,
        normalize: bool = True,
        equalize: bool = True,
        subspace: Subspace = "centred-pairs",
        solver: Solver = "full",
        seed: int = 0,
    ) -> None:
        self.k = k
        self.normalize = normalize
        self.equalize = equalize
        self.subspace = subspace
        self.solver = solver
        self.seed = seed

    def check_options(self) -> None:
        """Raise InvalidOption if `k` is below 1, or `subspace` or `solver` is unknown."""
        super().check_options()
        if self.subspace not in ("centred-pairs", "unit-differences"):
            raise InvalidOption(
                f"hard-debias: subspace={self.subspace}; expected centred-pairs or unit-differences"
            )

    def _defining_sets(self, concept: Concept) -> Sequence[Sequence[str]]:
        return concept.definitional_pairs

    def _bias_rows(self, sets: Sequence[Floats]) -> Floats:
        # The two words of a pair minus their mean are ± half the difference, so the differences
        # have the same principal components as the centred words.
        differences = np.array([second - first for first, second in sets])
        return unit_rows(differences) if self.subspace == "unit-differences" else differences
