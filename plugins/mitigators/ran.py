"""RAN-Debias (Kumar et al. 2020): repel biased neighbours, stay near the original, neutralise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption
from harness.mitigator import Mitigator
from harness.plugins.mitigators.hard_debias import Subspace
from harness.plugins.mitigators.neighbourhoods.known_neighbours import sought
from harness.plugins.mitigators.neighbourhoods.neighbours import Neighbours
from harness.plugins.mitigators.neighbourhoods.ran_minimum import Objective
from harness.plugins.mitigators.subspaces.concept_subspace import (
    about_concept,
    fit_subspace,
    pair_words,
)
from harness.plugins.mitigators.subspaces.projection import CACHE, in_blocks
from harness.vocabulary import vocabulary_of


class Ran(Mitigator):
    """Move each word by itself: away from neighbours it has through bias, and not far.

    For a word w with concept direction g the new vector w_d minimises

        F(w_d) = λ₁ F_r + λ₂ F_a + λ₃ F_n
        repulsion       F_r = Σ over n in S of |cos(w_d, n)| / |S|
        attraction      F_a = |cos(w_d, w) − 1| / 2
        neutralisation  F_n = |cos(w_d, g)|

    where S are those of the `n_neighbours` nearest words of the vocabulary whose indirect bias
    β(w, n) is above `theta`; without any, F_r is 0. If λ₂ > 2 (λ₁ + λ₃), as by default, the minimum
    is the only one. Words are independent. Where w_d has all of S on its side, as nearly always,
    the minimum is known in closed form; other words are optimised by Adam from w with a step that
    falls to 0, for at a constant one w_d would swing about the corners of F_r and F_n.

    A word's neighbours are sought once in a process while the vocabulary lives, whatever the
    concept, `theta` and a smaller `n_neighbours`: `known_neighbours` says how much is kept.

    The definitional pairs, equalize sets and specific words of the concept are left alone, at
    length 1; the paper finds those words by a classifier and dictionaries instead. All vectors
    come out at length 1.

    WEFE 1.0.1 passes `w` and `w_b` the wrong way round, so that attraction has no anchor, and
    weighs the three alike. With an anchor that is 0.33 three times.

    Parameters
    ----------
    repulsion, attraction, neutralisation
        λ₁, λ₂, λ₃ ≥ 0: by default the paper's 1/8, 6/8, 1/8.
    theta
        Least indirect bias of a neighbour to repel.
    n_neighbours
        How many neighbours are looked at.
    epochs
        Steps of Adam, for the words that need it.
    learning_rate
        Its first step.
    subspace
        How the concept's direction is found, as in hard-debias.

    Attributes
    ----------
    direction_
        (d,) unit vector g.
    missing_
        Words of the definitional pairs that the embedder lacks.

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
        """Return the words of the definitional pairs, as written and lower-cased."""
        return pair_words(concept)

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the concept's direction, and keep the vocabulary at hand; return self.

        Raises
        ------
        InvalidOption
            If a number is out of its range.
        NotApplicable
            If the concept has no definitional pairs, or the embedder too few of them or no
            vocabulary.
        """
        self._check_options()
        self._hard = fit_subspace("ran", embedder, concept, subspace=self.subspace)
        self.direction_, self.missing_ = self._hard.subspace_[0], self._hard.missing_
        self._vocabulary = vocabulary_of(embedder)
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors of length 1: optimised, or as they were if about the concept."""
        rows = unit_rows(vectors)
        moves = has_direction(rows) & ~about_concept(self._hard, texts)
        asked = np.flatnonzero(moves)
        for block, near in sought(rows[asked], self._vocabulary, self.n_neighbours):
            rows[asked[block]] = self._moved(rows[asked[block]], near)
        return rows.astype(np.float32)

    def _moved(self, w: Floats, near: Neighbours) -> Floats:
        """Return w_d, (m, d), of the words w, both of length 1."""
        kept = indirect_bias(w, near, self.direction_) > self.theta
        objective = Objective(self.repulsion, self.attraction, self.neutralisation, self.direction_)
        moved, exact = objective.closed_form(w, near, kept)
        rest = np.flatnonzero(~exact)
        if len(rest):
            moved[rest] = objective.descended(
                w[rest],
                Neighbours(near.vectors, near.at[rest], near.cosines[rest]),
                kept[rest],
                epochs=self.epochs,
                learning_rate=self.learning_rate,
            )
        return moved

    def _check_options(self) -> None:
        weights = (self.repulsion, self.attraction, self.neutralisation)
        if not all(0 <= weight < np.inf for weight in weights) or not any(weights):
            raise InvalidOption(
                f"ran: weights {weights}: repulsion, attraction and neutralisation are 0 or more, "
                "and one is above 0"
            )
        for name in ("n_neighbours", "epochs"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"ran: {name}={getattr(self, name)}: it is at least 1")
        if not 0 < self.learning_rate < np.inf:
            raise InvalidOption(f"ran: learning_rate={self.learning_rate}: it is above 0")


def indirect_bias(rows: Floats, near: Neighbours, direction: Floats) -> Floats:
    """Return β(w, n), (m, n): the share of a cosine that comes from the direction.

    β(w, v) = (w·v − w⊥·v⊥ / (‖w⊥‖ ‖v⊥‖)) / w·v for unit vectors; NaN where w·v is next to 0 or
    a word has nothing beside the direction, so that no threshold is met.
    """
    along_w, along_n = rows @ direction, np.empty(len(near.vectors))
    for start, block in in_blocks(near.vectors):
        along_n[start : start + len(block)] = block @ direction
    beside_w, beside_n = (np.sqrt(np.maximum(1 - along**2, 0.0)) for along in (along_w, along_n))
    share = np.full(near.at.shape, np.nan)
    size = max(1, CACHE // max(1, near.at.shape[1]))
    for start in range(0, len(rows), size):
        some = slice(start, start + size)
        at, cosines = near.at[some], near.cosines[some].astype(np.float64)
        beside = beside_w[some, None] * beside_n[at]
        defined = (beside > 1e-6) & (np.abs(cosines) > 1e-6)
        rest = cosines - along_w[some, None] * along_n[at]
        np.divide(rest, beside * cosines, out=share[some], where=defined)
        np.subtract(1.0, share[some], out=share[some])
    return share
