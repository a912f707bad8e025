"""Hard debiasing of concepts of more than two groups (Manzini et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from harness.arrays import Floats
from harness.concept import Concept
from harness.plugins.mitigators.subspaces.projection import Solver, set_centred
from harness.plugins.mitigators.subspaces.subspace_debias import SubspaceDebias


class MulticlassHardDebias(SubspaceDebias):
    """Project a concept of several groups, such as religions, out of all words not about it.

    The subspace B has the principal components of the definitional words, each less the mean of
    its set. What neutralise and equalise do, and which words are left alone, stands at
    `SubspaceDebias`. A concept without definitional sets is taken by its pairs, as sets of two;
    with k = 1 that is hard debiasing.

    Parameters
    ----------
    k
        Dimensions of B; by default one less than the largest set has words, as many as the
        groups' differences span. No more than the sets span: further components are directions
        of rounding, and taking them out removes what has nothing to do with the concept.
    normalize
        Whether to set all vectors to length 1 first and neutral ones again at the end, as
        published.
    equalize
        Whether to equalise, or only neutralise.
    solver
        `full`, `randomized` or `arpack`, as scikit-learn's PCA names them.
    seed
        Of the random start of the last two.

    References
    ----------
    Manzini, Lim, Tsvetkov and Black (2019), Black is to criminal as Caucasian is to police:
    detecting and removing multiclass bias in word embeddings.
    """

    needs: ClassVar[tuple[str, ...]] = ("definitional_sets",)
    name = "multiclass-hard-debias"
    defined_by = "definitional_sets"

    def __init__(
        self,
        k: int | None = None,
        normalize: bool = True,
        equalize: bool = True,
        solver: Solver = "full",
        seed: int = 0,
    ) -> None:
        self.k = k
        self.normalize = normalize
        self.equalize = equalize
        self.solver = solver
        self.seed = seed

    def _defining_sets(self, concept: Concept) -> Sequence[Sequence[str]]:
        return concept.definitional_sets or concept.definitional_pairs

    def _bias_rows(self, sets: Sequence[Floats]) -> Floats:
        return set_centred(sets)
