"""RAN-Debias (Kumar et al. 2020): repel biased neighbours, stay near the original, neutralise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption
from harness.mitigator import Mitigator
from harness.plugins.mitigators.concept_subspace import about_concept, fit_subspace, pair_words
from harness.plugins.mitigators.hard_debias import Subspace
from harness.plugins.mitigators.neighbours import Neighbours, nearest
from harness.vocabulary import vocabulary

SEARCHED = 1024  # words whose neighbours are sought at once
OPTIMISED = 32  # words optimised at once: at 50 dimensions their neighbours fit a core's cache
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam's own defaults


class Ran(Mitigator):
    """Move each word by itself: away from neighbours it has through bias, and not far.

    For a word w with concept direction g the new vector w_d minimises

        F(w_d) = λ₁ F_r + λ₂ F_a + λ₃ F_n
        repulsion       F_r = Σ over n in S of |cos(w_d, n)| / |S|
        attraction      F_a = |cos(w_d, w) − 1| / 2
        neutralisation  F_n = |cos(w_d, g)|

    where S are those of the `n_neighbours` nearest words of the vocabulary whose indirect bias
    β(w, n) is above `theta`; without any, F_r is 0. Words are independent, so those asked for are
    optimised as one batch, by Adam from w with the analytic gradient and a step that falls to 0,
    for at a constant one w_d would swing about the corners of F_r and F_n. If
    λ₂ > 2 (λ₁ + λ₃), as by default, the minimum is the only one.

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
        Steps of Adam.
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
        self._vocabulary = vocabulary(embedder)
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors of length 1: optimised, or as they were if about the concept."""
        rows = unit_rows(vectors)
        moves = np.isfinite(rows).all(axis=1) & rows.any(axis=1) & ~about_concept(self._hard, texts)
        asked = np.flatnonzero(moves)
        for start in range(0, len(asked), SEARCHED):
            chosen = asked[start : start + SEARCHED]
            rows[chosen] = self._moved(rows[chosen])
        return rows.astype(np.float32)

    def _moved(self, rows: Floats) -> Floats:
        """Return the optimised vectors of `rows`, (m, d), both of length 1."""
        near = nearest(rows, self._vocabulary, self.n_neighbours)
        kept = indirect_bias(rows, near, self.direction_) > self.theta
        order = np.argsort(-kept.sum(axis=1), kind="stable")  # of a batch, sets have about one size
        moved = np.empty_like(rows)
        for start in range(0, len(rows), OPTIMISED):
            batch = order[start : start + OPTIMISED]
            size = int(kept[batch].sum(axis=1).max())
            first = np.argsort(~kept[batch], axis=1, kind="stable")[:, :size]
            there = np.take_along_axis(kept[batch], first, axis=1)[:, :, None]
            s = np.take_along_axis(near.vectors[batch], first[:, :, None], axis=1)
            moved[batch] = self._minimised(rows[batch], np.where(there, s, 0.0))
        return moved

    def _minimised(self, w: Floats, s: Vectors) -> Floats:
        """Return w_d, (m, d), for words w and the sets S, (m, n, d), where zero rows are none."""
        w = w.astype(np.float32)
        g = self.direction_.astype(np.float32)
        sizes = np.maximum(s.any(axis=2).sum(axis=1), 1).astype(np.float32)
        repelled = np.ascontiguousarray(s * np.float32(self.repulsion) / sizes[:, None, None])
        anchor = np.float32(self.attraction / 2) * w
        x, first, second = w.copy(), np.zeros_like(w), np.zeros_like(w)
        for step in range(1, self.epochs + 1):
            length = np.linalg.norm(x, axis=1, keepdims=True)
            u = x / length
            signs = np.sign(repelled @ u[:, :, None])
            pull = (signs.transpose(0, 2, 1) @ repelled)[:, 0] - anchor
            pull += np.float32(self.neutralisation) * np.sign(u @ g)[:, None] * g
            gradient = (pull - (pull * u).sum(axis=1, keepdims=True) * u) / length
            first += (1 - BETA1) * (gradient - first)
            second += (1 - BETA2) * (gradient**2 - second)
            rate = self.learning_rate * (1 - (step - 1) / self.epochs)
            corrected = np.sqrt(second / (1 - BETA2**step)) + EPSILON
            x -= np.float32(rate / (1 - BETA1**step)) * first / corrected
        return unit_rows(x)

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
    along_w = rows @ direction
    along_n = near.vectors.astype(np.float64) @ direction
    beside = np.sqrt(np.maximum((1 - along_w**2)[:, None] * (1 - along_n**2), 0.0))
    defined = (beside > 1e-6) & (np.abs(near.cosines) > 1e-6)
    rest = (near.cosines - along_w[:, None] * along_n) / np.where(defined, beside, 1.0)
    share = (near.cosines - rest) / np.where(defined, near.cosines, 1.0)
    return np.where(defined, share, np.nan)
