"""Iterative nullspace projection (Ravfogel et al. 2020): no classifier finds the concept again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting.listed_words import look_up
from harness.plugins.mitigators.fitting.needed import needed
from harness.plugins.mitigators.hard_debias import Subspace
from harness.plugins.mitigators.sentences.contextualised import contexts, defining_sets
from harness.plugins.mitigators.subspaces.concept_subspace import fit_subspace, pair_words
from harness.vocabulary import vocabulary_of

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
Parts: TypeAlias = tuple[Floats, Floats, Codes, Codes]
"""Vectors to learn from, vectors to judge by, and the groups of either."""
HELD_OUT = 0.3  # share of words that judge a classifier, as in the paper's 49 / 21 / 30 split
ZERO = 1e-8


class Inlp(Mitigator):
    """Project out, one after another, the directions by which a linear classifier tells the groups.

    A linear support vector machine learns to tell the groups apart, its direction is projected out,
    and another one is trained on what is left, until it does no better on held-out texts than
    `stop_accuracy`. The projection P is onto the intersection of all nullspaces; it is
    orthogonal, P = Pᵀ = P². All texts are projected, also those about the concept.

    *Word embedders.* The words that lie farthest along the concept's direction are taken as those
    of its two sides.

    *Text encoders* have no vocabulary to take words from. There the words of the definitional sets
    (pairs, where there are no sets), each alone and in a dozen plain sentences, are the texts of
    the groups, of which there may be more than two. Texts to judge by have other words than those
    learnt from, else a classifier would know the words again. A few dozen words are soon used up:
    with all-MiniLM-L6-v2 it stops after two or three rounds for gender, when no classifier of those
    words holds for others, while one that learns from more sentences still tells them apart.

    Each round costs a dimension, or as many as there are groups if those are more than two: with
    few dimensions, what else the vectors know is lost too.

    Parameters
    ----------
    n_iterations
        Most classifiers to train, as the paper's 35.
    stop_accuracy
        Accuracy on held-out texts, in [0.5, 1], at or below which it stops; chance is 0.5. Of more
        than two groups the same distance from chance counts: 0.55 is 0.383 of three.
    n_words
        Words of each side; the paper has 5 % of its vocabulary. Of no account for text encoders.
    vocabulary_size
        Most frequent words of the vocabulary to choose them from; of no account likewise.
    normalize
        Whether to set all vectors to length 1 first.
    subspace
        How the concept's direction is found for words, as in hard-debias.
    seed
        Of the split into texts to learn from and to judge by, and of the classifier.

    Attributes
    ----------
    directions_
        (r, d) orthonormal rows that were projected out.
    projection_
        (d, d) P.
    accuracies_
        Accuracy on held-out texts before each projection, and after the last.
    missing_
        Words of the definitional pairs, or texts of the sets, that the embedder lacks.

    References
    ----------
    Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020), Null it out: guarding protected attributes
    by iterative nullspace projection.
    """

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
        """Return the words of the definitional pairs, and the sets in sentences for encoders."""
        words = (word for members in defining_sets(concept) for word in members)
        return list(dict.fromkeys([*pair_words(concept), *contexts(words)]))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find P from the pairs and the most biased words, or from sentences; return self.

        Raises
        ------
        InvalidOption
            If a number is out of its range.
        NotApplicable
            If the concept has no definitional pairs, or the embedder too few of them or of words.
        """
        self._check_options()
        told = "inlp needs a concept with definitional_pairs"
        concept = needed(concept, lambda given: given.definitional_pairs, told)
        if embedder.info.kind == "word":
            self._project_out(*self._biased_words(embedder, concept), groups=2)
        else:
            groups = max(map(len, defining_sets(concept)))
            self._project_out(*self._sentences(embedder, concept), groups=groups)
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) projected vectors P w; of length 1 before, less after it."""
        return (self._prepared(vectors) @ self.projection_).astype(np.float32)

    def _prepared(self, vectors: Reals) -> Floats:
        return unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)

    def _biased_words(self, embedder: Embedder, concept: Concept) -> Parts:
        """Return words to learn from and to judge by, and their sides."""
        from sklearn.model_selection import train_test_split

        hard = fit_subspace(
            "inlp", embedder, concept, subspace=self.subspace, normalize=self.normalize
        )
        self.missing_ = hard.missing_
        rows = self._prepared(vocabulary_of(embedder).head(self.vocabulary_size)[1])
        rows = rows[has_direction(rows)]
        if len(rows) < 2 * self.n_words:
            raise NotApplicable(
                f"inlp: n_words={self.n_words} of each side need {2 * self.n_words} words; the "
                f"vocabulary of '{embedder.info.name}' offers {len(rows)}: lower n_words"
            )
        order = np.argsort(rows @ hard.subspace_[0], kind="stable")
        ends = np.concatenate([order[: self.n_words], order[-self.n_words :]])
        sides = np.repeat([0, 1], self.n_words)
        learn, judge, y_learn, y_judge = train_test_split(
            rows[ends], sides, test_size=HELD_OUT, stratify=sides, random_state=self.seed
        )
        return learn, judge, y_learn, y_judge

    def _sentences(self, embedder: Embedder, concept: Concept) -> Parts:
        """Return sentences to learn from and to judge by, and the groups of their words."""
        groups: dict[str, int] = {}
        for members in defining_sets(concept):
            for group, word in enumerate(members):
                groups.setdefault(word, group)
        vectors = look_up(embedder, contexts(groups), unit=self.normalize)
        self.missing_ = sorted(set(contexts(groups)) - set(vectors))
        rng = np.random.default_rng(self.seed)
        learn: list[str] = []
        judge: list[str] = []
        for group in sorted(set(groups.values())):
            words = [word for word in groups if groups[word] == group]
            if len(words) < 2:
                raise NotApplicable(
                    f"inlp: group {group + 1} of concept '{concept.name}' has {len(words)} words: "
                    "one to learn from and one to judge by are needed"
                )
            words = [words[i] for i in rng.permutation(len(words))]
            held_out = max(1, round(HELD_OUT * len(words)))
            judge += words[:held_out]
            learn += words[held_out:]
        (x_learn, y_learn), (x_judge, y_judge) = (
            _labelled(part, groups, vectors) for part in (learn, judge)
        )
        return x_learn, x_judge, y_learn, y_judge

    def _project_out(
        self, learn: Floats, judge: Floats, y_learn: Codes, y_judge: Codes, *, groups: int
    ) -> None:
        """Set `directions_`, `accuracies_` and `projection_` from labelled texts."""
        from sklearn.svm import LinearSVC

        directions = np.zeros((0, learn.shape[1]))
        self.accuracies_: list[float] = []
        stop = self.stop_accuracy - 0.5 + 1 / groups
        while True:
            projection: Floats = np.eye(learn.shape[1]) - directions.T @ directions
            classifier = LinearSVC(dual=False, random_state=self.seed)
            classifier.fit(learn @ projection, y_learn)
            self.accuracies_.append(float(classifier.score(judge @ projection, y_judge)))
            if self.accuracies_[-1] <= stop or len(self.accuracies_) > self.n_iterations:
                break
            # The nullspaces' intersection is what is orthogonal to all directions at once.
            _, lengths, new = np.linalg.svd(classifier.coef_ @ projection, full_matrices=False)
            new = new[lengths > ZERO * np.linalg.norm(classifier.coef_)]
            if len(new) == 0:
                break
            new -= new @ directions.T @ directions  # twice is enough against rounding
            directions = np.vstack([directions, np.linalg.qr(new.T)[0].T])
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


def _labelled(
    words: Sequence[str], groups: Mapping[str, int], vectors: Mapping[str, Floats]
) -> tuple[Floats, Codes]:
    """Return the vectors of `words` in all contexts, and the group of each."""
    texts = [(text, groups[word]) for word in words for text in contexts([word]) if text in vectors]
    return np.array([vectors[t] for t, _ in texts]), np.array([group for _, group in texts])
