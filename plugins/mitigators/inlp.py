"""Iterative nullspace projection (Ravfogel et al. 2020): no classifier finds the concept again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.concept_subspace import fit_subspace, pair_words
from harness.plugins.mitigators.hard_debias import Subspace
from harness.vocabulary import vocabulary

HELD_OUT = 0.3  # share of words that judge a classifier, as in the paper's 49 / 21 / 30 split
ZERO = 1e-8


class Inlp(Mitigator):
    """Project out, one after another, the directions by which a linear classifier tells the groups.

    The words that lie farthest along the concept's direction are taken as those of its two sides.
    A linear support vector machine learns to tell them apart, its direction is projected out, and
    another one is trained on what is left, until it does no better on held-out words than
    `stop_accuracy`. The projection P is onto the intersection of all nullspaces; it is
    orthogonal, P = Pᵀ = P². All words are projected, also those about the concept.

    Each round costs a dimension: with few dimensions, what else the vectors know is lost too.

    Parameters
    ----------
    n_iterations
        Most classifiers to train, as the paper's 35.
    stop_accuracy
        Accuracy on held-out words, in [0.5, 1], at or below which it stops; chance is 0.5.
    n_words
        Words of each side; the paper has 5 % of its vocabulary.
    vocabulary_size
        Most frequent words of the vocabulary to choose them from.
    normalize
        Whether to set all vectors to length 1 first.
    subspace
        How the concept's direction is found, as in hard-debias.
    seed
        Of the split into words to learn from and to judge by, and of the classifier.

    Attributes
    ----------
    directions_
        (r, d) orthonormal rows that were projected out.
    projection_
        (d, d) P.
    accuracies_
        Accuracy on held-out words before each projection, and after the last.
    missing_
        Words of the definitional pairs that the embedder lacks.

    References
    ----------
    Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020), Null it out: guarding protected attributes
    by iterative nullspace projection.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("word",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs",)

    def __init__(
        self,
        n_iterations: int = 35,
        stop_accuracy: float = 0.55,
        n_words: int = 2500,
        vocabulary_size: int = 50_000,
        normalize: bool = True,
        subspace: Subspace = "centred-pairs",
        seed: int = 0,
    ) -> None:
        self.n_iterations = n_iterations
        self.stop_accuracy = stop_accuracy
        self.n_words = n_words
        self.vocabulary_size = vocabulary_size
        self.normalize = normalize
        self.subspace = subspace
        self.seed = seed

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of the definitional pairs, as written and lower-cased."""
        return pair_words(concept)

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find P from the pairs and the most biased words; return self.

        Raises
        ------
        InvalidOption
            If a number is out of its range.
        NotApplicable
            If the concept has no definitional pairs, or the embedder too few of them or of words.
        """
        self._check_options()
        hard = fit_subspace(
            "inlp", embedder, concept, subspace=self.subspace, normalize=self.normalize
        )
        self.missing_ = hard.missing_
        rows = self._prepared(vocabulary(embedder).head(self.vocabulary_size)[1])
        rows = rows[np.isfinite(rows).all(axis=1) & rows.any(axis=1)]
        if len(rows) < 2 * self.n_words:
            raise NotApplicable(
                f"inlp: n_words={self.n_words} of each side need {2 * self.n_words} words; the "
                f"vocabulary of '{embedder.info.name}' offers {len(rows)}: lower n_words"
            )
        order = np.argsort(rows @ hard.subspace_[0], kind="stable")
        ends = np.concatenate([order[: self.n_words], order[-self.n_words :]])
        self._project_out(rows[ends], np.repeat([0, 1], self.n_words))
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) projected vectors P w; of length 1 before, less after it."""
        return (self._prepared(vectors) @ self.projection_).astype(np.float32)

    def _prepared(self, vectors: Reals) -> Floats:
        return unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)

    def _project_out(self, rows: Floats, sides: np.ndarray) -> None:
        """Set `directions_`, `accuracies_` and `projection_` from labelled words."""
        from sklearn.model_selection import train_test_split
        from sklearn.svm import LinearSVC

        learn, judge, y_learn, y_judge = train_test_split(
            rows, sides, test_size=HELD_OUT, stratify=sides, random_state=self.seed
        )
        directions = np.zeros((0, rows.shape[1]))
        self.accuracies_: list[float] = []
        while True:
            projection: Floats = np.eye(rows.shape[1]) - directions.T @ directions
            classifier = LinearSVC(dual=False, random_state=self.seed)
            classifier.fit(learn @ projection, y_learn)
            self.accuracies_.append(float(classifier.score(judge @ projection, y_judge)))
            enough = self.accuracies_[-1] <= self.stop_accuracy
            if enough or len(directions) == self.n_iterations:
                break
            # The nullspaces' intersection is what is orthogonal to all directions at once.
            new = classifier.coef_ @ projection
            length = np.linalg.norm(new)
            if length <= ZERO * np.linalg.norm(classifier.coef_) or length == 0:
                break
            new = new / length
            new -= new @ directions.T @ directions  # twice is enough against rounding
            directions = np.vstack([directions, new / np.linalg.norm(new)])
        self.directions_, self.projection_ = directions, projection

    def _check_options(self) -> None:
        if self.n_iterations < 1:
            raise InvalidOption(f"inlp: n_iterations={self.n_iterations}: 1 or more are needed")
        if self.n_words < 5:
            raise InvalidOption(f"inlp: n_words={self.n_words}: 5 or more of a side are needed")
        if not 0.5 <= self.stop_accuracy <= 1:
            raise InvalidOption(f"inlp: stop_accuracy={self.stop_accuracy}: it lies in [0.5, 1]")
        if self.vocabulary_size < 1:
            raise InvalidOption(f"inlp: vocabulary_size={self.vocabulary_size}: it is at least 1")
