"""RAN-Debias (Kumar et al. 2020): repulsion, attraction and neutralisation, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind, vocabulary_of
from harness.errors import InvalidOption
from harness.mitigator import Mitigator

from .fitting.concept_subspace import (
    about_concept,
    fit_subspace,
    pair_words,
)
from .fitting.neighbours import Neighbours, Objective, cached_nearest
from .fitting.subspaces import CACHE, in_blocks
from .hard_debias import Subspace


class Ran(Mitigator):
    """Move each word away from its biased neighbours, but not far from its original vector.

    Removes the proximity of a word to neighbours that is due to the concept, and part of its
    component along the concept's direction g. Keeps the word near its original vector w. The new
    vector w_d minimises

        F(w_d) = λ₁ F_r + λ₂ F_a + λ₃ F_n
        repulsion       F_r = Σ over n in S of |cos(w_d, n)| / |S|
        attraction      F_a = |cos(w_d, w) − 1| / 2
        neutralisation  F_n = |cos(w_d, g)|

    S are those of the `n_neighbours` nearest words whose indirect bias β(w, n) is above `theta`; if
    there are none, F_r = 0. If λ₂ > 2 (λ₁ + λ₃), as by default, the minimum is unique. Words are
    independent of each other. If every n·w_d keeps the sign of n·w, which is nearly always so, the
    minimum has a closed form. Other words are optimised by Adam with a decreasing step; with a
    constant step, w_d would oscillate around the corners of F_r and F_n. The neighbours of words
    are cached in the process (`neighbour_cache`).

    Words of the definitional pairs, the equalize sets and the specific words are left alone; the
    paper finds these words with a classifier and dictionaries. All vectors are set to length 1. The
    concept needs `definitional_pairs`.

    WEFE 1.0.1 swaps `w` and `w_b`, so that attraction does not tie w_d to w, and it weights the
    three terms equally: λ = 0.33 each.

    Parameters
    ----------
    repulsion, attraction, neutralisation
        λ₁, λ₂, λ₃, at least 0 and not all 0; by default 1/8, 6/8 and 1/8, as in the paper.
    theta
        Threshold of the indirect bias of a neighbour; by default 0.05, as in WEFE.
    n_neighbours
        Number of neighbours, at least 1; by default 100, as in WEFE.
    epochs
        Number of steps of Adam, at least 1; by default 300, as in WEFE.
    learning_rate
        First step of Adam, above 0; by default 0.01, as in WEFE.
    subspace
        Definition of g, as in `HardDebias`.

    Attributes
    ----------
    direction_
        (d,) unit vector g.
    missing_
        Words of the definitional pairs that the embedder does not know.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Kumar, Bhotia and Chakraborty (2020), Nurse is closer to woman than surgeon? Mitigating
    gender-biased proximities in word embeddings.
    Bolukbasi et al. (2016), section 5.3, for indirect bias β.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("word",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs",)

    def __init__(
        self,
        repulsion: float = 0.125,
        attraction: float = 0.75,
        neutralisation: float = 0.125,
        theta: float = 0.05,
        n_neighbours: int = 100,
        epochs: int = 300,
        learning_rate: float = 0.01,
        subspace: Subspace = "centred-pairs",
    ) -> None:
        self.repulsion = repulsion
        self.attraction = attraction
        self.neutralisation = neutralisation
        self.theta = theta
        self.n_neighbours = n_neighbours
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.subspace = subspace

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of the definitional pairs, as written and in lower case."""
        return pair_words(concept)

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the concept's direction, and keep the vocabulary for `transform`; return self.

        Raises
        ------
        InvalidOption
            If an option is out of its range.
        NotApplicable
            If the concept has no definitional pairs, or the embedder knows too few of them or has
            no vocabulary.
        """
        self.check_options()
        self._hard = fit_subspace("ran", embedder, concept, subspace=self.subspace)
        self.direction_, self.missing_ = self._hard.subspace_[0], self._hard.missing_
        self._vocabulary = vocabulary_of(embedder)
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors of length 1: w_d, or w for words about the concept."""
        rows = unit_rows(vectors)
        moves = has_direction(rows) & ~about_concept(self._hard, texts)
        moving = np.flatnonzero(moves)
        for block, near in cached_nearest(rows[moving], self._vocabulary, self.n_neighbours):
            rows[moving[block]] = self._moved(rows[moving[block]], near)
        return rows.astype(np.float32)

    def _moved(self, w: Floats, near: Neighbours) -> Floats:
        """Return w_d, (m, d), for the words w, (m, d), all of length 1."""
        kept = indirect_bias(w, near, self.direction_) > self.theta
        objective = Objective(self.repulsion, self.attraction, self.neutralisation, self.direction_)
        moved, exact = objective.closed_form(w, near, kept)
        rest = np.flatnonzero(~exact)
        if len(rest):
            moved[rest] = objective.by_adam(
                w[rest],
                Neighbours(near.vectors, near.at[rest], near.cosines[rest]),
                kept[rest],
                epochs=self.epochs,
                learning_rate=self.learning_rate,
            )
        return moved

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        weights = (self.repulsion, self.attraction, self.neutralisation)
        if not all(0 <= weight < np.inf for weight in weights) or not any(weights):
            raise InvalidOption(
                f"ran: repulsion, attraction, neutralisation={weights}; expected numbers of 0 or "
                "more, one of them above 0"
            )
        for name in ("n_neighbours", "epochs"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"ran: {name}={getattr(self, name)}; expected 1 or more")
        if not 0 < self.learning_rate < np.inf:
            raise InvalidOption(
                f"ran: learning_rate={self.learning_rate}; expected a number above 0"
            )


def indirect_bias(rows: Floats, near: Neighbours, direction: Floats) -> Floats:
    """Return β(w, n), (m, n): the share of a cosine that is due to the direction.

    β(w, v) = (w·v − w⊥·v⊥ / (‖w⊥‖ ‖v⊥‖)) / w·v for unit vectors. It is NaN, and so never above a
    threshold, if w·v is about 0 or a word lies along the direction.
    """
    along_w, along_n = rows @ direction, np.empty(len(near.vectors))
    for start, vectors in in_blocks(near.vectors):
        along_n[start : start + len(vectors)] = vectors @ direction
    beside_w, beside_n = (np.sqrt(np.maximum(1 - along**2, 0.0)) for along in (along_w, along_n))
    share = np.full(near.at.shape, np.nan)
    size = max(1, CACHE // max(1, near.at.shape[1]))
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        at, cosines = near.at[block], near.cosines[block].astype(np.float64)
        beside = beside_w[block, None] * beside_n[at]
        defined = (beside > 1e-6) & (np.abs(cosines) > 1e-6)
        rest = cosines - along_w[block, None] * along_n[at]
        np.divide(rest, beside * cosines, out=share[block], where=defined)
        np.subtract(1.0, share[block], out=share[block])
    return share
