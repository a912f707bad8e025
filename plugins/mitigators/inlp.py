"""Iterative nullspace projection (Ravfogel et al. 2020): hides a concept from classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, vocabulary_of
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Affine, Map, Mitigator, Step

from .fitting.concept_subspace import fit_subspace, pair_words
from .fitting.sentences import BY_LANGUAGE, defining_sets, template_texts
from .fitting.words import look_up, require
from .hard_debias import Subspace

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
Parts: TypeAlias = tuple[Floats, Floats, Codes, Codes]
"""Training vectors, held-out vectors, and the groups of either."""
HELD_OUT = 0.3  # share of words, as in the paper's 49 / 21 / 30 split
ZERO = 1e-8  # share of a coefficient's length that is rounding error


class Inlp(Mitigator):
    """Project out, one after another, the directions of linear classifiers that predict the group.

    Removes the directions by which a linear support vector machine predicts the group of a text: it
    is trained, its direction is projected out, and the next one is trained on the rest, until its
    accuracy on held-out texts falls to `stop_accuracy`. Keeps everything orthogonal to these
    directions. The projection P is onto the intersection of all nullspaces, and orthogonal: P = Pᵀ
    = P². All texts are projected, including those about the concept.

    **Word embedders.** The groups are the words that lie farthest along the concept's direction, on
    either side.

    **Text encoders** have no vocabulary. The groups are the words of the definitional sets (of the
    pairs, if there are no sets), alone and in twelve sentences; there may be more than two groups.
    Held-out texts have other words than training texts, otherwise the classifier would recognise
    the words. A few dozen words are soon used up: with all-MiniLM-L6-v2 and gender, it stops after
    two or three rounds, when no classifier generalises to other words; one trained on more
    sentences still predicts the gender.

    Each round removes one dimension, or one for each group if there are more than two. With few
    dimensions, other information is lost too. The concept needs `definitional_pairs`.

    Parameters
    ----------
    n_iterations
        Number of classifiers at most, at least 1; by default 35, as in the paper.
    stop_accuracy
        Accuracy on held-out texts, in [0.5, 1], at which it stops; chance is 0.5. With more than
        two groups the same distance from chance counts: 0.55 means 0.383 for three groups.
    n_words
        Number of words of each side, at least 5; by default 2500, which is 5 % of
        `vocabulary_size` as in the paper. Ignored for text encoders.
    vocabulary_size
        Number of most frequent words from which they are chosen, at least 1. Ignored for text
        encoders.
    normalize
        Whether to set all vectors to length 1 first.
    subspace
        Definition of the concept's direction for word embedders, as in `HardDebias`.
    seed
        Seed of the split into training and held-out texts, and of the classifier.

    Attributes
    ----------
    directions_
        (r, d) orthonormal rows that were projected out.
    projection_
        (d, d) P.
    accuracies_
        Accuracy on held-out texts before each projection, and after the last.
    missing_
        Words of the definitional pairs, or texts of the sets, that the embedder does not know.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020), Null it out: guarding protected attributes
    by iterative nullspace projection, algorithm 1.
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
        """Return the words of the definitional pairs, and of the sets in template sentences."""
        words = (word for members in defining_sets(concept) for word in members)
        language = concept.language if concept else "en"
        sentences = template_texts(words, language) if language in BY_LANGUAGE else []
        return list(dict.fromkeys([*pair_words(concept), *sentences]))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find P from the pairs and the most biased words, or from sentences; return self.

        Raises
        ------
        InvalidOption
            If an option is out of its range.
        NotApplicable
            If the concept has no definitional pairs, or the embedder knows too few of them or has
            too few words.
        """
        self.check_options()
        requirement = "inlp needs a concept with definitional_pairs"
        concept = require(concept, lambda concept: concept.definitional_pairs, requirement)
        if embedder.info.kind == "word":
            self._project_out(*self._biased_words(embedder, concept), groups=2)
        else:
            groups = max(map(len, defining_sets(concept)))
            self._project_out(*self._sentences(embedder, concept), groups=groups)
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) projected vectors P w."""
        return (self._prepared(vectors) @ self.projection_).astype(np.float32)

    def as_map(self) -> Map:
        """Return the projection P as a map."""
        unit: tuple[Step, ...] = ("unit",) if self.normalize else ()
        return Map((*unit, Affine(self.projection_.T)))

    def _prepared(self, vectors: Reals) -> Floats:
        return unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)

    def _biased_words(self, embedder: Embedder, concept: Concept) -> Parts:
        """Return training and held-out words, and their sides."""
        from sklearn.model_selection import train_test_split

        hard = fit_subspace(
            "inlp", embedder, concept, subspace=self.subspace, normalize=self.normalize
        )
        self.missing_ = hard.missing_
        rows = self._prepared(vocabulary_of(embedder).head(self.vocabulary_size)[1])
        rows = rows[has_direction(rows)]
        if len(rows) < 2 * self.n_words:
            raise NotApplicable(
                f"inlp: n_words={self.n_words} needs {2 * self.n_words} words; the vocabulary of "
                f"'{embedder.info.name}' has {len(rows)}; set a lower n_words"
            )
        order = np.argsort(rows @ hard.subspace_[0], kind="stable")
        ends = np.concatenate([order[: self.n_words], order[-self.n_words :]])
        sides = np.repeat([0, 1], self.n_words)
        train, held_out, y_train, y_held_out = train_test_split(
            rows[ends], sides, test_size=HELD_OUT, stratify=sides, random_state=self.seed
        )
        return train, held_out, y_train, y_held_out

    def _sentences(self, embedder: Embedder, concept: Concept) -> Parts:
        """Return training and held-out sentences, and the groups of their words."""
        groups: dict[str, int] = {}
        for members in defining_sets(concept):
            for group, word in enumerate(members):
                groups.setdefault(word, group)
        texts = {word: template_texts([word], concept.language) for word in groups}
        listed = list(dict.fromkeys(text for of_word in texts.values() for text in of_word))
        vectors = look_up(embedder, listed, unit=self.normalize)
        self.missing_ = sorted(set(listed) - set(vectors))
        rng = np.random.default_rng(self.seed)
        train: list[str] = []
        held_out: list[str] = []
        for group in sorted(set(groups.values())):
            words = [word for word in groups if groups[word] == group]
            if len(words) < 2:
                raise NotApplicable(
                    f"inlp: group {group + 1} of concept '{concept.name}' has {len(words)} words; "
                    "2 or more are required, for training and as held-out words"
                )
            words = [words[i] for i in rng.permutation(len(words))]
            n_held_out = max(1, round(HELD_OUT * len(words)))
            held_out += words[:n_held_out]
            train += words[n_held_out:]
        x_train, y_train = _labelled(train, groups, texts, vectors)
        x_held_out, y_held_out = _labelled(held_out, groups, texts, vectors)
        return x_train, x_held_out, y_train, y_held_out

    def _project_out(
        self,
        train: Floats,
        held_out: Floats,
        y_train: Codes,
        y_held_out: Codes,
        *,
        groups: int,
    ) -> None:
        """Set `directions_`, `accuracies_` and `projection_` from labelled texts."""
        from sklearn.svm import LinearSVC

        directions = np.zeros((0, train.shape[1]))
        self.accuracies_: list[float] = []
        stop = self.stop_accuracy - 0.5 + 1 / groups
        while True:
            projection: Floats = np.eye(train.shape[1]) - directions.T @ directions
            classifier = LinearSVC(dual=False, random_state=self.seed)
            classifier.fit(train @ projection, y_train)
            self.accuracies_.append(float(classifier.score(held_out @ projection, y_held_out)))
            if self.accuracies_[-1] <= stop or len(self.accuracies_) > self.n_iterations:
                break
            # The intersection of the nullspaces is orthogonal to all directions.
            _, lengths, new = np.linalg.svd(classifier.coef_ @ projection, full_matrices=False)
            new = new[lengths > ZERO * np.linalg.norm(classifier.coef_)]
            if len(new) == 0:
                break
            new -= new @ directions.T @ directions  # projecting twice removes the rounding error
            directions = np.vstack([directions, np.linalg.qr(new.T)[0].T])
        self.directions_, self.projection_ = directions, projection

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if self.n_iterations < 1:
            raise InvalidOption(f"inlp: n_iterations={self.n_iterations}; expected 1 or more")
        if self.n_words < 5:
            raise InvalidOption(f"inlp: n_words={self.n_words}; expected 5 or more")
        if not 0.5 <= self.stop_accuracy <= 1:
            raise InvalidOption(f"inlp: stop_accuracy={self.stop_accuracy}; expected 0.5 to 1")
        if self.vocabulary_size < 1:
            raise InvalidOption(f"inlp: vocabulary_size={self.vocabulary_size}; expected 1 or more")


def _labelled(
    words: Sequence[str],
    groups: Mapping[str, int],
    texts: Mapping[str, Sequence[str]],
    vectors: Mapping[str, Floats],
) -> tuple[Floats, Codes]:
    """Return the vectors of `words` in all templates, and the group of each."""
    known = [(text, groups[word]) for word in words for text in texts[word] if text in vectors]
    return np.array([vectors[text] for text, _ in known]), np.array([group for _, group in known])
