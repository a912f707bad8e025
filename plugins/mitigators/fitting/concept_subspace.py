"""The subspace of a concept's definitional pairs, for mitigators that start from it.

It is that of hard debiasing, so that methods differ only in what they do with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable

from ..hard_debias import HardDebias, Subspace
from .words import find


def fit_subspace(
    name: str,
    embedder: Embedder,
    concept: Concept | None,
    *,
    k: int = 1,
    subspace: Subspace = "centred-pairs",
    normalize: bool = True,
) -> HardDebias:
    """Return a fitted hard debiasing without equalisation, for its subspace and word lists.

    Parameters
    ----------
    name
        Name of the mitigator, for error messages.
    embedder, concept
        The embedder and the concept to fit on.
    k, subspace, normalize
        As in `HardDebias`.

    Raises
    ------
    InvalidOption, NotApplicable
        As `HardDebias.fit`.
    """
    hard = HardDebias(k=k, equalize=False, subspace=subspace, normalize=normalize)
    try:
        return hard.fit(embedder, concept)
    except (InvalidOption, NotApplicable) as error:
        raise type(error)(str(error).replace("hard-debias", name, 1)) from error


def pair_words(concept: Concept | None) -> list[str]:
    """Return the words of the definitional pairs, as written and in lower case."""
    return HardDebias(equalize=False).fitting_texts(concept)


def about_concept(hard: HardDebias, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return (n,) whether a text is on the concept's lists, as written or in lower case."""
    listed = np.zeros(len(texts), dtype=bool)
    listed[list(find(texts, hard.left_alone_, ignoring_case=hard.ignores_case_))] = True
    return listed
