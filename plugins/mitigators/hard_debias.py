"""Hard debiasing (Bolukbasi et al. 2016): neutralise, then equalise."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator

Subspace = Literal["centred-pairs", "unit-differences"]
SAME_CASE = 1e-5  # encoders repeat a vector to some 1e-7


class HardDebias(Mitigator):
    """Project the concept's direction out of all words but those that are about the concept.

    *Neutralise*: a word loses its component in the concept's subspace B and is set to length 1.
    *Equalise*: the words of an equalize set get one common part outside B and, within B, equal
    lengths in opposite directions, so that any neutral word is equally near to all of them.
    Words of the definitional pairs, the equalize sets and the concept's specific words are never
    neutralised: if they were, equalising would have no direction left to go by. Text encoders are
    treated alike, and a text that is not on those lists is neutral.

    A text is looked up on the lists as it is, then lower-cased; without regard to case at all if
    the embedder has none.

    Parameters
    ----------
    k
        Dimensions of B.
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

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows of B.
    explained_
        (k,) share of the pairs' variance along each, in [0, 1].
    equalized_
        (d,) vector of each equalised word.
    left_alone_
        Words that are not neutralised.
    missing_
        Listed words that the embedder lacks: their pair or their place in a set is dropped.
    ignores_case_
        Whether the embedder gives listed words the same vector in lower case.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 6, steps 1 and 2a.
    """

    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs",)

    def __init__(
        self,
        k: int = 1,
        normalize: bool = True,
        equalize: bool = True,
        subspace: Subspace = "centred-pairs",
    ) -> None:
        self.k = k
        self.normalize = normalize
        self.equalize = equalize
        self.subspace = subspace

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of definitional pairs and equalize sets, as written and lower-cased."""
        if concept is None:
            return []
        sets = [*concept.definitional_pairs, *(concept.equalize_sets if self.equalize else ())]
        words = [word for members in sets for word in members]
        return list(dict.fromkeys(words + [word.lower() for word in words]))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace and the equalised vectors; return self.

        Raises
        ------
        InvalidOption
            If `k` or `subspace` is none.
        NotApplicable
            If the concept has no definitional pairs, or the embedder too few of them.
        """
        if self.k < 1:
            raise InvalidOption(f"hard-debias: k={self.k}: 1 direction or more are needed")
        if concept is None or not concept.definitional_pairs:
            lack = "no concept is given" if concept is None else f"'{concept.name}' has none"
            raise NotApplicable(f"hard-debias needs a concept with definitional_pairs; {lack}")
        texts = self.fitting_texts(concept)
        vectors = self._look_up(embedder, texts)
        sets = (*concept.definitional_pairs, *concept.equalize_sets)
        listed = {word for members in sets for word in members}
        self.missing_ = sorted((listed & set(texts)) - set(vectors))
        self.ignores_case_ = all(
            np.allclose(vectors[word], vectors.get(word.lower(), np.inf), rtol=0, atol=SAME_CASE)
            for word in listed & set(vectors)
        )
        pairs = [
            (vectors[first], vectors[second])
            for first, second in concept.definitional_pairs
            if first in vectors and second in vectors
        ]
        self.subspace_, self.explained_ = self._find_subspace(pairs, embedder, concept)
        self.equalized_ = {}
        if self.equalize:
            self.equalized_ = self._equalized(concept.equalize_sets, vectors)
        self.left_alone_ = {self._key(word) for word in listed.union(concept.specific_words)}
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors: neutralised, equalised or as they were, by what the text is."""
        rows = unit_rows(vectors) if self.normalize else np.array(vectors, dtype=np.float64)
        neutral = np.array([self._found(self.left_alone_, text) is None for text in texts], bool)
        rows[neutral] -= rows[neutral] @ self.subspace_.T @ self.subspace_
        if self.normalize:
            rows[neutral] = unit_rows(rows[neutral])
        for i, text in enumerate(texts):
            key = self._found(self.equalized_, text)
            if key is not None and np.isfinite(rows[i]).all():
                rows[i] = self.equalized_[key]
        return rows.astype(np.float32)

    def _look_up(self, embedder: Embedder, words: Sequence[str]) -> dict[str, Floats]:
        """Return the vectors of those `words` that the embedder has."""
        rows = np.asarray(embedder.encode(words), dtype=np.float64)
        if self.normalize:
            rows = unit_rows(rows)
        return {
            word: row
            for word, row in zip(words, rows, strict=True)
            if np.isfinite(row).all() and row.any()
        }

    def _find_subspace(
        self, pairs: Sequence[tuple[Floats, Floats]], embedder: Embedder, concept: Concept
    ) -> tuple[Floats, Floats]:
        """Return B, (k, d), and the share of variance along each of its rows."""
        differences = [second - first for first, second in pairs if np.any(second != first)]
        asked, name = len(concept.definitional_pairs), embedder.info.name
        if len(differences) < self.k:
            raise NotApplicable(
                f"hard-debias: k={self.k} needs as many definitional pairs that differ; '{name}' "
                f"has {len(differences)} of the {asked} of concept '{concept.name}'"
            )
        # The two words of a pair less their mean are plus and minus half the difference, so that
        # these rows have the principal components of the words centred pair by pair.
        matrix = np.array(differences)
        if self.subspace == "unit-differences":
            matrix = unit_rows(matrix)
        elif self.subspace != "centred-pairs":
            raise InvalidOption(
                f"hard-debias: subspace={self.subspace}: there are centred-pairs, unit-differences"
            )
        _, singular_values, components = np.linalg.svd(matrix, full_matrices=False)
        if singular_values[self.k - 1] <= 1e-10 * singular_values[0]:
            raise NotApplicable(
                f"hard-debias: k={self.k}, but the pairs of concept '{concept.name}' in '{name}' "
                "span fewer dimensions"
            )
        signs = np.where(components @ matrix.sum(axis=0) < 0, -1.0, 1.0)  # towards the second side
        variances = singular_values**2 / (singular_values**2).sum()
        return (components * signs[:, None])[: self.k], variances[: self.k]

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

    def _found(self, keys: Container[str], text: str) -> str | None:
        """Return which of `keys` stands for a text, as it is or lower-cased."""
        return next((key for key in (self._key(text), text.lower()) if key in keys), None)


def equalized(words: Floats, subspace: Floats) -> Floats:
    """Return the words of one equalize set, (m, d), made equal outside the subspace (step 2a).

    w = ν + √(r² − ‖ν‖²) (w_B − μ_B)/‖w_B − μ_B‖, with μ the set's mean, ν its part outside B and r
    the root mean square length of the words: 1 for unit vectors, as in the paper. A word without
    any component of its own in B becomes ν at length r.

    Parameters
    ----------
    words
        (m, d) vectors.
    subspace
        (k, d) orthonormal rows of B.
    """
    inside = words @ subspace.T  # w_B, (m, k)
    mean = words.mean(axis=0)
    nu = mean - (subspace @ mean) @ subspace
    own = inside - inside.mean(axis=0)  # w_B − μ_B
    r_squared = (words**2).sum(axis=1).mean()
    lengths = np.sqrt((own**2).sum(axis=1, keepdims=True))
    has_own = lengths > 1e-12 * np.sqrt(r_squared)
    directions = own / np.where(has_own, lengths, 1.0)
    apart = nu + np.sqrt(max(r_squared - nu @ nu, 0.0)) * directions @ subspace
    same: Floats = np.where(has_own, apart, unit_rows(nu[None]) * np.sqrt(r_squared))
    return same
