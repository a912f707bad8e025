"""Hard debiasing of concepts with more than two groups (Manzini et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from harness.arrays import Floats
from harness.concept import Concept

from .fitting.subspaces import Solver, SubspaceDebias, set_centred


class MulticlassHardDebias(SubspaceDebias):
    """Project a concept of several groups, such as religions, out of all words not about it.

    Removes and keeps the same as hard debiasing (`SubspaceDebias`), with another subspace B: the
    principal components of the definitional words minus the mean of their set.

    The concept needs `definitional_sets`, or `definitional_pairs`, which then are sets of two; with
    pairs and k = 1 the result is that of hard debiasing. `equalize_sets` and `specific_words` are
    optional.

    Parameters
    ----------
    k
        Dimensions of B, at least 1. By default the size of the largest set minus 1, because the
        differences of the groups span that many dimensions. It must not exceed the dimensions that
        the sets span: further components are rounding errors, and removing them would remove
        something unrelated to the concept.
    normalize
        Whether to set all vectors to length 1 first, and neutral ones again at the end, as in the
        paper.
    equalize
        Whether to equalise, as in the paper, or only neutralise.
    solver, seed
        As in `HardDebias`.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

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
