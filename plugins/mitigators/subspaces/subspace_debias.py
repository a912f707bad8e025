"""What hard debiasing is whatever defines the concept: neutralise outside it, equalise within it.

The subspace itself is found by the mitigators built on this: `hard-debias` from pairs,
`multiclass-hard-debias` from sets.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting import listed_words
from harness.plugins.mitigators.fitting.needed import needed
from harness.plugins.mitigators.subspaces.projection import (
    Solver,
    equalized,
    neutralized,
    principal_axes,
)


class SubspaceDebias(Mitigator):
    """Project a concept's subspace B out of all words but those that are about the concept.

    *Neutralise*: a word loses its component in B and is set to length 1. *Equalise*: the words of
    an equalize set get one common part outside B and, within B, equal lengths in the directions in
    which they differ from the set's mean, so that any neutral word is equally near to all of them.
    Words of the definitional and equalize sets and the concept's specific words are never
    neutralised: if they were, equalising would have no direction left to go by. Text encoders are
    treated alike, and a text that is not on those lists is neutral.

    A text is looked up on the lists as it is, then lower-cased; without regard to case at all if
    the embedder has none.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows of B.
    explained_
        (k,) share along each of the variance within the sets, in [0, 1].
    equalized_
        (d,) vector of each equalised word.
    left_alone_
        Words that are not neutralised.
    missing_
        Listed words that the embedder lacks: their pair or their place in a set is dropped.
    ignores_case_
        Whether the embedder gives listed words the same vector in lower case.
    """

    name: ClassVar[str]
    defined_by: ClassVar[str]
    k: int | None
    normalize: bool
    equalize: bool
    solver: Solver
    seed: int

    @abstractmethod
    def _defining_sets(self, concept: Concept) -> Sequence[Sequence[str]]:
        """Return the sets whose words differ in the concept alone."""

    @abstractmethod
    def _bias_rows(self, sets: Sequence[Floats]) -> Floats:
        """Return the rows, (m, d), whose principal axes are B, from `sets` of (m_i, d) vectors."""

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of definitional and equalize sets, as written and lower-cased."""
        if concept is None:
            return []
        sets = [
            *self._defining_sets(concept),
            *(concept.equalize_sets if self.equalize else ()),
        ]
        return listed_words.with_lower_case(word for members in sets for word in members)

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace and the equalised vectors; return self.

        Raises
        ------
        InvalidOption
            If an option is none that there is.
        NotApplicable
            If the concept has no definitional pairs or sets, or the embedder too few of them.
        """
        if self.k is not None and self.k < 1:
            raise InvalidOption(f"{self.name}: k={self.k}: 1 direction or more are needed")
        told = f"{self.name} needs a concept with {self.defined_by}"
        concept = needed(concept, self._defining_sets, told)
        texts = self.fitting_texts(concept)
        vectors = listed_words.look_up(embedder, texts, unit=self.normalize)
        defining = self._defining_sets(concept)
        listed = {word for members in (*defining, *concept.equalize_sets) for word in members}
        self.missing_ = sorted((listed & set(texts)) - set(vectors))
        self.ignores_case_ = listed_words.ignores_case(vectors, listed)
        self._find_subspace(defining, vectors, f"'{embedder.info.name}'", concept.name)
        self.equalized_ = {}
        if self.equalize:
            self.equalized_ = self._equalized(concept.equalize_sets, vectors)
        self.left_alone_ = {self._key(word) for word in listed.union(concept.specific_words)}
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors: neutralised, equalised or as they were, by what the text is."""
        vectors = np.asarray(vectors)
        out = neutralized(vectors, self.subspace_, unit=self.normalize)
        found = listed_words.find(texts, self.left_alone_, ignoring_case=self.ignores_case_)
        listed = list(found)
        out[listed] = unit_rows(vectors[listed]) if self.normalize else vectors[listed]
        for row, key in found.items():
            if key in self.equalized_ and np.isfinite(out[row]).all():
                out[row] = self.equalized_[key]
        return out

    def _find_subspace(
        self,
        defining: Sequence[Sequence[str]],
        vectors: Mapping[str, Floats],
        model: str,
        concept: str,
    ) -> None:
        """Find B and the share of variance along each of its rows."""
        k = max(map(len, defining)) - 1 if self.k is None else self.k
        found = [
            np.array([vectors[word] for word in members if word in vectors]) for members in defining
        ]
        sets = [rows for rows in found if len(rows) > 1 and np.ptp(rows, axis=0).any()]
        if sum(len(rows) - 1 for rows in sets) < k:
            raise NotApplicable(
                f"{self.name}: k={k} needs as many {self.defined_by} that differ; {model} has "
                f"{len(sets)} of the {len(defining)} of concept '{concept}'"
            )
        axes = principal_axes(
            self._bias_rows(sets),
            k,
            towards=np.sum([rows[-1] - rows[0] for rows in sets], axis=0),
            solver=self.solver,
            seed=self.seed,
        )
        if axes.rank < k:
            raise NotApplicable(
                f"{self.name}: k={k}, but the {self.defined_by} of concept '{concept}' in {model} "
                f"span fewer dimensions: {axes.rank}; ask for no more"
            )
        self.subspace_, self.explained_ = axes.components, axes.shares

    def _equalized(
        self, sets: Iterable[Sequence[str]], vectors: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        """Return the equalised vectors by key; a word in two sets belongs to the first of them."""
        done: dict[str, Floats] = {}
        for members in sets:
            found = {self._key(word): vectors[word] for word in members if word in vectors}
            free = {key: vector for key, vector in found.items() if key not in done}
            if len(free) > 1:
                equal = equalized(np.array(list(free.values())), self.subspace_)
                done.update(zip(free, equal, strict=True))
        return done

    def _key(self, word: str) -> str:
        return word.lower() if self.ignores_case_ else word
