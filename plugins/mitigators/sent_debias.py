"""SentDebias (Liang et al. 2020): projects a concept's subspace of sentences out of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Map, Mitigator

from .fitting.sentences import defining_sets, sets_in_templates
from .fitting.subspaces import neutralized, principal_axes, set_centred, without
from .fitting.words import look_up, require


class SentDebias(Mitigator):
    """Project the concept's subspace, estimated from sentences, out of every text.

    Removes the component of every text in the subspace, including texts about the concept: `she`
    and `he` become almost equal. Keeps everything orthogonal to it. The words of each definitional
    set (of each pair, if there are no sets) are put into the same sentences, so that the sentences
    of a set differ in the concept alone. The subspace has the first k principal components of their
    vectors minus the mean of each set.

    It differs from hard debiasing in two ways: sentences replace single words, and no text is left
    alone. With all-MiniLM-L6-v2, its gender direction has a cosine of .94 with that of about 1,800
    sentences by people and their gender-swapped versions; the direction of single words has .79.

    It does not hide the concept from classifiers. With that model it removes four fifths of the
    difference between the sentences of Winogender about women and about men; a linear classifier
    still predicts the gender of 99 % of them. Names of people are not among the words, so
    associations that are tested with names remain.

    The paper takes sentences with the words from five corpora and swaps the words there. The twelve
    plain sentences here are our own, so that any concept can be used; for a concept in German,
    Spanish, French or Turkish there are six in its language. The concept needs
    `definitional_pairs` or `definitional_sets`.

    Parameters
    ----------
    k
        Dimensions of the subspace, at least 1; by default the size of a set minus 1, which is 1 for
        pairs.
    normalize
        Whether to set all vectors to length 1 first, and the result again at the end.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows.
    explained_
        (k,) share of the variance within the sets along each row, in [0, 1].

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Liang, Li, Zheng, Lim, Salakhutdinov and Morency (2020), Towards debiasing sentence
    representations, algorithm 1.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs or definitional_sets",)

    def __init__(self, k: int | None = None, normalize: bool = True) -> None:
        self.k = k
        self.normalize = normalize

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of the definitional sets, alone and in sentences."""
        sets = sets_in_templates(defining_sets(concept), concept.language) if concept else []
        return list(dict.fromkeys(text for texts in sets for text in texts))

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if self.k is not None and self.k < 1:
            raise InvalidOption(f"sent-debias: k={self.k}; expected 1 or more")

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace; return self.

        Raises
        ------
        InvalidOption
            If `k` is below 1.
        NotApplicable
            If the concept has neither pairs nor sets, or they span fewer than k dimensions.
        """
        self.check_options()
        requirement = "sent-debias needs definitional_pairs or definitional_sets"
        concept = require(concept, defining_sets, requirement)
        defining = defining_sets(concept)
        k = max(map(len, defining)) - 1 if self.k is None else self.k
        vectors = look_up(embedder, self.fitting_texts(concept), unit=self.normalize)
        sets = [
            np.array([vectors[text] for text in texts if text in vectors])
            for texts in sets_in_templates(defining, concept.language)
        ]
        sets = [rows for rows in sets if len(rows) > 1]
        rows = set_centred(sets) if sets else np.zeros((0, 1))
        rank = np.linalg.matrix_rank(rows) if rows.any() else 0
        if rank < k:
            raise NotApplicable(
                f"sent-debias: k={k}, but in '{embedder.info.name}' the words of concept "
                f"'{concept.name}' span only {rank} dimensions"
            )
        towards = np.sum([members[0] - members[-1] for members in sets], axis=0)
        axes = principal_axes(rows, k, towards=towards)
        self.subspace_, self.explained_ = axes.components, axes.shares
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors without their components in the subspace."""
        return neutralized(vectors, self.subspace_, unit=self.normalize)

    def as_map(self) -> Map:
        """Return the projection out of the subspace as a map."""
        return without(self.subspace_, unit=self.normalize)
