"""The subspace of a concept's definitional pairs, for mitigators that start from it.

Found as hard debiasing finds it, so that methods differ in what they do with it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.plugins.mitigators.fitting.listed_words import find
from harness.plugins.mitigators.hard_debias import HardDebias, Subspace


def fit_subspace(
    name: str,
    embedder: Embedder,
    concept: Concept | None,
    *,
    k: int = 1,
    subspace: Subspace = "centred-pairs",
    normalize: bool = True,
) -> HardDebias:
    """Return a fitted hard debiasing that does not equalise: `subspace_`, `missing_` and lists.

    Parameters
    ----------
    name
        The mitigator that asks, for what errors say.
    embedder, concept
        What it is fitted on.
    k, subspace, normalize
        As in `HardDebias`.

    Raises
    ------
    InvalidOption, NotApplicable
        As `HardDebias` does.
    """
    hard = HardDebias(k=k, equalize=False, subspace=subspace, normalize=normalize)
    try:
        return hard.fit(embedder, concept)
    except InvalidOption as error:
        raise InvalidOption(str(error).replace("hard-debias", name, 1)) from error
    except NotApplicable as error:
        raise NotApplicable(str(error).replace("hard-debias", name, 1)) from error


def pair_words(concept: Concept | None) -> list[str]:
    """Return the words of the definitional pairs, as written and lower-cased."""
    return HardDebias(equalize=False).fitting_texts(concept)


def about_concept(hard: HardDebias, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return, (n,), which texts stand on the concept's lists, as they are or lower-cased."""
    listed = np.zeros(len(texts), dtype=bool)
    listed[list(find(texts, hard.left_alone_, ignoring_case=hard.ignores_case_))] = True
    return listed
