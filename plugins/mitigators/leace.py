"""Least-squares concept erasure (Belrose et al. 2023): hides a concept with the smallest change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Vocabulary, vocabulary_of
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Affine, Map, Mitigator, Step

from .fitting.sentences import defining_sets, sets_in_templates
from .fitting.vocabulary import VocabularyCache
from .fitting.words import look_up, require, with_lower_case

RANK = 1e-10  # share of the largest eigenvalue that is rounding error


class Leace(Mitigator):
    """Remove what linear classifiers need to predict the group, with the smallest change.

    Removes the cross-covariance of vectors and groups; keeps vectors as near to the original as
    possible. r(x) = x − W⁺ P W (x − μ), with W = Σ_XX^(−½) and P the orthogonal projection onto the
    columns of W Σ_XZ. X are vectors, and Z is the group of a word: its side in a definitional pair
    or, if the concept has definitional sets, its position in a set, for any number of groups.
    Equalize pairs are added if there are two groups. Their order may differ from that of the
    definitional pairs, so the word farther along the mean difference of those gets the second side.
    A word with two groups gets the first.

    **Guarantee.** On the labelled words, each counted once, the cross-covariance of vectors and
    groups is 0, so no linear classifier, with any convex loss, is better there than a constant one.
    This holds for any Σ_XX, which decides only which change is the smallest. It does not hold for
    other words, because the labelled ones are only a few dozen, nor for non-linear classifiers.

    **Words or sentences.** With `templates`, words are labelled alone and in twelve plain
    sentences, for text encoders. With all-MiniLM-L6-v2 the bias that remains is about the same.

    **Choice of Σ_XX.** For a word embedder, Σ_XX and the mean μ are those of the whole vocabulary,
    each word counted once: the change is the smallest in mean square over the vocabulary. A text
    encoder has no vocabulary; there they are those of the labelled words, with the shrinkage of
    Ledoit and Wolf towards a multiple of the identity. With fewer words than dimensions, Σ_XX would
    be singular without shrinkage.

    All texts are changed, including those about the concept. Lengths are not restored, because that
    would not be linear. The concept needs `definitional_pairs` or `definitional_sets`.

    Parameters
    ----------
    shrinkage
        Weight in [0, 1] of a multiple of the identity in Σ_XX; with 1, P is an orthogonal
        projection. By default 0 for word embedders, and that of Ledoit and Wolf for text encoders.
    equalize
        Whether to add equalize pairs to the labelled words.
    normalize
        Whether to set all vectors to length 1 first.
    templates
        Whether to label words in sentences too; for text encoders only.

    Attributes
    ----------
    projection_
        (d, d) W⁺ P W, which is applied to columns.
    mean_
        (d,) μ.
    shrinkage_
        Weight that was used.
    labelled_
        Group, from 0, of each labelled word or text.
    missing_
        Listed words that the embedder does not know.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff and Biderman (2023), LEACE: perfect linear
    concept erasure in closed form, section 4.
    Ledoit and Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices.
    """

    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs or definitional_sets",)

    def __init__(
        self,
        shrinkage: float | None = None,
        equalize: bool = True,
        normalize: bool = True,
        templates: bool = False,
    ) -> None:
        self.shrinkage = shrinkage
        self.equalize = equalize
        self.normalize = normalize
        self.templates = templates

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the labelled texts; without templates, words as written and in lower case."""
        texts = [text for members in self._sets(concept) for text in members]
        return list(dict.fromkeys(texts)) if self.templates else with_lower_case(texts)

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if self.shrinkage is not None and not 0 <= self.shrinkage <= 1:
            raise InvalidOption(f"leace: shrinkage={self.shrinkage}; expected 0 to 1")

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find W⁺ P W from labelled words and the vocabulary; return self.

        Raises
        ------
        InvalidOption
            If `shrinkage` is not in [0, 1].
        NotApplicable
            If the concept has neither pairs nor sets, the embedder knows too few of their words,
            the groups have equal means, or Σ_XX is 0 where the groups differ.
        """
        self.check_options()
        requirement = "leace needs definitional_pairs or definitional_sets"
        concept = require(concept, defining_sets, requirement)
        name = embedder.info.name
        x, z = self._label(embedder, concept)
        sigma_xz = (x - x.mean(axis=0)).T @ (z - z.mean(axis=0)) / len(x)
        if np.linalg.norm(sigma_xz) <= RANK * np.linalg.norm(x) ** 2 / len(x):
            raise NotApplicable(
                f"leace: the groups of concept '{concept.name}' have the same mean in '{name}'; "
                "nothing to erase"
            )
        if embedder.info.kind == "word":
            self.mean_, sigma_xx = _moments(vocabulary_of(embedder), unit=self.normalize)
            shrinkage = 0.0
        else:
            self.mean_, shrinkage = x.mean(axis=0), _ledoit_wolf(x)
            sigma_xx = (x - self.mean_).T @ (x - self.mean_) / len(x)
        self.shrinkage_ = shrinkage if self.shrinkage is None else float(self.shrinkage)
        spread = np.trace(sigma_xx) / len(sigma_xx)
        sigma_xx = (1 - self.shrinkage_) * sigma_xx
        sigma_xx[np.diag_indices_from(sigma_xx)] += self.shrinkage_ * spread
        self.projection_ = eraser(sigma_xx, sigma_xz)
        remaining = sigma_xz - self.projection_ @ sigma_xz
        if np.linalg.norm(remaining) > 1e-6 * np.linalg.norm(sigma_xz):
            raise NotApplicable(
                f"leace: the groups of concept '{concept.name}' differ where the vocabulary of "
                f"'{name}' has no variance; set a small shrinkage, such as 0.01"
            )
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors r(x)."""
        rows = self._prepared(vectors)
        return (rows - (rows - self.mean_) @ self.projection_.T).astype(np.float32)

    def as_map(self) -> Map:
        """Return r(x) as a map."""
        kept = np.eye(len(self.mean_)) - self.projection_
        unit: tuple[Step, ...] = ("unit",) if self.normalize else ()
        return Map((*unit, Affine(kept, self.projection_ @ self.mean_)))

    def _prepared(self, vectors: Reals) -> Floats:
        return _prepared(vectors, unit=self.normalize)

    def _sets(self, concept: Concept | None) -> list[tuple[str, ...]]:
        """Return the sets that label texts: definitional ones, then equalize pairs."""
        return [*self._defining(concept), *self._equalize_pairs(concept)]

    def _defining(self, concept: Concept | None) -> list[tuple[str, ...]]:
        sets = defining_sets(concept)
        return sets_in_templates(sets, concept.language) if concept and self.templates else sets

    def _equalize_pairs(self, concept: Concept | None) -> list[tuple[str, ...]]:
        if concept is None or not self.equalize:
            return []
        if any(len(members) != 2 for members in defining_sets(concept)):
            return []
        pairs: list[tuple[str, ...]] = [
            members for members in concept.equalize_sets if len(members) == 2
        ]
        return sets_in_templates(pairs, concept.language) if self.templates else pairs

    def _label(self, embedder: Embedder, concept: Concept) -> tuple[Floats, Floats]:
        """Return the vectors, (n, d), and groups, (n, c) of 0 and 1, of labelled texts."""
        definitional, equalize = self._defining(concept), self._equalize_pairs(concept)
        listed = list(dict.fromkeys(w for s in (*definitional, *equalize) for w in s))
        vectors = look_up(embedder, listed, unit=self.normalize)
        self.missing_ = sorted(set(listed) - set(vectors))
        groups: dict[str, int] = {}
        for members in definitional:
            for group, word in enumerate(members):
                if word in vectors:
                    groups.setdefault(word, group)
        sizes = np.bincount(list(groups.values()), minlength=max(map(len, definitional)))
        if sizes.min() < 1 or sizes.sum() <= len(sizes):
            raise NotApplicable(
                f"leace: '{embedder.info.name}' knows too few words of concept '{concept.name}': "
                f"{', '.join(map(str, sizes))} of its groups; one of each group and at least "
                "one more are required"
            )
        self._add_equalize_pairs(equalize, vectors, groups)
        self.labelled_ = groups
        x = np.array([vectors[word] for word in groups])
        return x, np.eye(len(sizes))[list(groups.values())]

    @staticmethod
    def _add_equalize_pairs(
        pairs: Sequence[Sequence[str]], vectors: dict[str, Floats], groups: dict[str, int]
    ) -> None:
        """Label the words of equalize pairs by their position along the definitional difference."""
        sides = [np.mean([vectors[w] for w, g in groups.items() if g == s], axis=0) for s in (0, 1)]
        towards_second = sides[1] - sides[0]
        for pair in pairs:
            if all(word in vectors for word in pair):
                first, second = sorted(pair, key=lambda word: float(vectors[word] @ towards_second))
                groups.setdefault(first, 0)
                groups.setdefault(second, 1)


def eraser(sigma_xx: Floats, sigma_xz: Floats) -> Floats:
    """Return W⁺ P W, (d, d): idempotent, and its complement maps Σ_XZ to 0.

    Parameters
    ----------
    sigma_xx
        (d, d) covariance of the vectors.
    sigma_xz
        (d, c) cross-covariance of vectors and groups.
    """
    values, axes = np.linalg.eigh(sigma_xx)
    kept = values > RANK * values[-1]
    axes, roots = axes[:, kept], np.sqrt(values[kept])
    # In the eigenbasis of Σ_XX, W is diagonal.
    u, singular_values, _ = np.linalg.svd((axes.T @ sigma_xz) / roots[:, None], full_matrices=False)
    u = u[:, singular_values > 1e-8 * singular_values[0]]
    oblique: Floats = (axes * roots) @ u @ (u.T @ (axes / roots).T)
    return oblique


_MOMENTS: VocabularyCache[dict[bool, tuple[Floats, Floats]]] = VocabularyCache(dict)
"""Means and covariances by `unit`, for the last vocabularies."""


def _moments(words: Vocabulary, *, unit: bool) -> tuple[Floats, Floats]:
    """Return the mean, (d,), and covariance, (d, d), of all known words; cached in the process."""
    known = _MOMENTS.of(words)
    if unit not in known:
        total, products, n = np.zeros(1), np.zeros(1), 0
        for _, block in words.blocks():
            rows = _prepared(block, unit=unit)
            rows = rows[has_direction(rows)]
            total, products, n = total + rows.sum(axis=0), products + rows.T @ rows, n + len(rows)
        mean: Floats = total / n
        known[unit] = mean, products / n - np.outer(mean, mean)
    return known[unit]


def _prepared(vectors: Reals, *, unit: bool) -> Floats:
    return unit_rows(vectors) if unit else np.asarray(vectors, dtype=np.float64)


def _ledoit_wolf(x: Floats) -> float:
    from sklearn.covariance import ledoit_wolf_shrinkage

    return float(ledoit_wolf_shrinkage(x))
