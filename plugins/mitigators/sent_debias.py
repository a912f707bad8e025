"""SentDebias (Liang et al. 2020): the concept's subspace of sentences is projected out of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting.listed_words import look_up
from harness.plugins.mitigators.fitting.needed import needed
from harness.plugins.mitigators.sentences.contextualised import contextualised, defining_sets
from harness.plugins.mitigators.subspaces.projection import neutralized, principal_axes, set_centred


class SentDebias(Mitigator):
    """Project a concept's subspace, found from sentences, out of every text.

    The words of each definitional set (pair, where there are no sets) are put into the same
    sentences, so that the sentences of a set differ in the concept alone. The subspace is spanned
    by the first k principal components of their vectors, each set less its mean.

    It is hard debiasing for encoders of text, but for two things. The subspace comes from sentences
    and not from bare words: with all-MiniLM-L6-v2 its direction of gender has a cosine of .94 with
    that of some 1,800 sentences that people wrote, each with its gender swapped; that of bare
    words has .79. And every text loses its component, also one that is about the concept: `she` and
    `he` come to differ in little.

    It hides nothing from a classifier. With that model it takes away four fifths of what differs
    between the sentences of Winogender about women and about men, and of what is left a linear
    classifier still tells 99 % of them apart. Names of people are not among the words: associations
    that are tested by names stay.

    The paper finds sentences with the words in five corpora and swaps the words there. Here they
    are a dozen plain ones of the harness's own, so that any concept has them.

    Parameters
    ----------
    k
        Dimensions of the subspace; by default one less than a set has words: 1 for pairs.
    normalize
        Whether to set all vectors to length 1 first and what is left of them again at the end.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows.
    explained_
        (k,) share along each of the variance within the sets, in [0, 1].

    References
    ----------
    Liang, Li, Zheng, Lim, Salakhutdinov and Morency (2020), Towards debiasing sentence
    representations.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs or definitional_sets",)

    def __init__(self, k: int | None = None, normalize: bool = True) -> None:
        self.k = k
        self.normalize = normalize

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the sentences, and the words alone, of the definitional sets."""
        sets = contextualised(defining_sets(concept))
        return list(dict.fromkeys(text for texts in sets for text in texts))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace; return self.

        Raises
        ------
        InvalidOption
            If `k` is below 1.
        NotApplicable
            If the concept has neither pairs nor sets, or they have fewer than k directions.
        """
        if self.k is not None and self.k < 1:
            raise InvalidOption(f"sent-debias: k={self.k}: 1 direction or more are needed")
        told = "sent-debias needs definitional_pairs or definitional_sets"
        concept = needed(concept, defining_sets, told)
        defining = defining_sets(concept)
        k = max(map(len, defining)) - 1 if self.k is None else self.k
        vectors = look_up(embedder, self.fitting_texts(concept), unit=self.normalize)
        sets = [
            np.array([vectors[text] for text in texts if text in vectors])
            for texts in contextualised(defining)
        ]
        sets = [rows for rows in sets if len(rows) > 1]
        rows = set_centred(sets) if sets else np.zeros((0, 1))
        most = np.linalg.matrix_rank(rows) if rows.any() else 0
        if most < k:
            raise NotApplicable(
                f"sent-debias: k={k}: in '{embedder.info.name}' the words of concept "
                f"'{concept.name}' differ in {most} directions"
            )
        towards = np.sum([members[0] - members[-1] for members in sets], axis=0)
        axes = principal_axes(rows, k, towards=towards)
        self.subspace_, self.explained_ = axes.components, axes.shares
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors without their components in the subspace."""
        return neutralized(vectors, self.subspace_, unit=self.normalize)
