"""Hard debiasing (Bolukbasi et al. 2016): neutralise, then equalise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from harness.arrays import Floats, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption
from harness.plugins.mitigators.subspaces.projection import Solver
from harness.plugins.mitigators.subspaces.subspace_debias import SubspaceDebias

Subspace = Literal["centred-pairs", "unit-differences"]


class HardDebias(SubspaceDebias):
    """Project a concept of two groups out of all words but those that are about it.

    What neutralise and equalise do, and which words are left alone, stands at `SubspaceDebias`.

    Parameters
    ----------
    k
        Dimensions of the concept's subspace B.
    normalize
        Whether to set all vectors to length 1 first and neutral ones again at the end, as
        published. If not, lengths stay: an equalised word has the root mean square length of its
        set.
    equalize
        Whether to equalise, or only neutralise.
    subspace
        How B is found: `centred-pairs`, the principal components of the definitional words less
        the mean of their pair, as the paper's algorithm, debiaswe and WEFE have it; or
        `unit-differences`, those of the differences of the pairs, each at length 1, not centred,
        so that no single pair, such as a pair of names, dominates.
    solver
        `full`, `randomized` or `arpack`, as scikit-learn's PCA names them. On a few dozen pairs
        they agree to 3e-7, so that searching over them finds nothing.
    seed
        Of the random start of the last two.

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

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace and the equalised vectors; return self.

        Raises
        ------
        InvalidOption
            If `k`, `subspace` or `solver` is none.
        NotApplicable
            If the concept has no definitional pairs, or the embedder too few of them.
        """
        if self.subspace not in ("centred-pairs", "unit-differences"):
            raise InvalidOption(
                f"hard-debias: subspace={self.subspace}: there are centred-pairs, unit-differences"
            )
        return super().fit(embedder, concept)

    def _defining_sets(self, concept: Concept) -> Sequence[Sequence[str]]:
        return concept.definitional_pairs

    def _bias_rows(self, sets: Sequence[Floats]) -> Floats:
        # The two words of a pair less their mean are plus and minus half the difference, so that
        # these rows have the principal components of the words centred pair by pair.
        differences = np.array([second - first for first, second in sets])
        return unit_rows(differences) if self.subspace == "unit-differences" else differences
