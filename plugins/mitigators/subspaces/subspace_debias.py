"""Base class of hard debiasing: neutralise, then equalise, with a subspace of the concept.

The subclasses find the subspace: `hard-debias` from pairs, `multiclass-hard-debias` from sets.
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
from harness.plugins.mitigators.fitting.concept_requirements import require
from harness.plugins.mitigators.subspaces.projection import (
    SOLVERS,
    Solver,
    equalized,
    neutralized,
    principal_axes,
)


class SubspaceDebias(Mitigator):
    """Project the concept's subspace B out of all words that are not about the concept.

    *Neutralise*: a word loses its component in B and is set to length 1. *Equalise*: the words of
    an equalize set get the same part outside B. Within B they keep the direction of their
    difference from the mean of the set, with equal lengths. So every neutral word has the same
    cosine with all of them.

    Words of the definitional and equalize sets and the specific words are not neutralised;
    equalising would have no direction otherwise. A text that is not on these lists is neutral, also
    with a text encoder. Texts are looked up as written, then in lower case; if the embedder ignores
    case, in lower case only.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows of B.
    explained_
        (k,) share of the variance within the sets along each row, in [0, 1].
    equalized_
        (d,) vector of each equalised word, by word.
    left_alone_
        Words that are not neutralised.
    missing_
        Listed words that the embedder does not know. Their pair, or their place in a set, is
        skipped.
    ignores_case_
        Whether the embedder gives each listed word the same vector in lower case.
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
        """Return the sets of words that define the concept."""

    @abstractmethod
    def _bias_rows(self, sets: Sequence[Floats]) -> Floats:
        """Return the rows, (m, d), whose principal axes are B, from `sets` of (m_i, d) vectors."""

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of definitional and equalize sets, as written and in lower case."""
        if concept is None:
            return []
        sets = [
            *self._defining_sets(concept),
            *(concept.equalize_sets if self.equalize else ()),
        ]
        return listed_words.with_lower_case(word for members in sets for word in members)

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if self.k is not None and self.k < 1:
            raise InvalidOption(f"{self.name}: k={self.k}; expected 1 or more")
        if self.solver not in SOLVERS:
            raise InvalidOption(
                f"{self.name}: solver={self.solver}; expected one of {', '.join(SOLVERS)}"
            )

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace and the equalised vectors; return self.

        Raises
        ------
        InvalidOption
            If an option is out of its range.
        NotApplicable
            If the concept has no definitional pairs or sets, or the embedder too few of them.
        """
        self.check_options()
        requirement = f"{self.name} needs a concept with {self.defined_by}"
        concept = require(concept, self._defining_sets, requirement)
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
        """Return (n, d) vectors, each neutralised, equalised or unchanged according to its text."""
        vectors = np.asarray(vectors)
        out = neutralized(vectors, self.subspace_, unit=self.normalize)
        matches = listed_words.find(texts, self.left_alone_, ignoring_case=self.ignores_case_)
        listed = list(matches)
        out[listed] = unit_rows(vectors[listed]) if self.normalize else vectors[listed]
        for row, key in matches.items():
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
        """Set `subspace_` and `explained_`."""
        k = max(map(len, defining)) - 1 if self.k is None else self.k
        known = [
            np.array([vectors[word] for word in members if word in vectors]) for members in defining
        ]
        sets = [rows for rows in known if len(rows) > 1 and np.ptp(rows, axis=0).any()]
        if sum(len(rows) - 1 for rows in sets) < k:
            raise NotApplicable(
                f"{self.name}: k={k} needs at least {k} {self.defined_by} whose words differ; "
                f"{model} has {len(sets)} of the {len(defining)} of concept '{concept}'"
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
                f"span only {axes.rank} dimensions; set k={axes.rank} or less"
            )
        self.subspace_, self.explained_ = axes.components, axes.shares

    def _equalized(
        self, sets: Iterable[Sequence[str]], vectors: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        """Return the equalised vectors by key; a word in two sets belongs to the first one."""
        result: dict[str, Floats] = {}
        for members in sets:
            known = {self._key(word): vectors[word] for word in members if word in vectors}
            new = {key: vector for key, vector in known.items() if key not in result}
            if len(new) > 1:
                equal = equalized(np.array(list(new.values())), self.subspace_)
                result.update(zip(new, equal, strict=True))
        return result

    def _key(self, word: str) -> str:
        return word.lower() if self.ignores_case_ else word
