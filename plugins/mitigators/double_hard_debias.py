"""Double-hard debiasing (Wang et al. 2020): removes word frequency before the concept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder, Kind, Vocabulary, vocabulary_of
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator

from .fitting.subspaces import Solver, in_blocks, neutralized, project_out
from .fitting.vocabulary import scale, survey
from .fitting.words import find
from .hard_debias import HardDebias

STARTS = 3  # runs of k-means; the best is used


class DoubleHardDebias(Mitigator):
    """Project the direction of word frequency out of all vectors, then hard-debias.

    Removes the mean of the vocabulary, one of its first principal components, and the concept as
    hard debiasing does; keeps the rest. All words lose mean and component, including definitional
    ones: w' = (I − uuᵀ)(w − μ), with μ the mean and u the component; hard debiasing is fitted on
    w'.

    Frequency distorts the concept's direction, because definitional words differ in frequency. To
    find the component that carries it, each is removed in turn, followed by hard debiasing. The
    most biased words of either side are then clustered in two. The component with which the
    clusters agree least with the sides is chosen. These words are used for nothing else.

    The mean and the components do not depend on the concept; they are cached in the process
    (`vocabulary_survey`). The concept needs `definitional_pairs`.

    Parameters
    ----------
    k, normalize, equalize, solver
        As in `HardDebias`; `normalize` sets lengths before anything else.
    n_components
        Number of principal components to try, at least 1; by default 20.
    n_words
        Number of most biased words of each side that choose the component, at least 1; by default
        500. Words about the concept are skipped.
    seed
        Seed of k-means, and of the solvers as in `HardDebias`.
    published
        Whether w' = w − μ − uuᵀw, as in the paper and its code; all words then keep the same
        −uuᵀμ.

    Attributes
    ----------
    mean_
        (d,) mean μ of the vocabulary.
    frequency_
        (1, d) the component u.
    accuracies_
        (n_components,) share of the most biased words whose cluster agrees with their side, in
        [.5, 1], for each component; u has the lowest.
    hard_debias_
        The hard debiasing that is fitted on w'.
    missing_
        As in `HardDebias`.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Wang, Lin, Rajani, McCann, Ordonez and Xiong (2020), Double-hard debias: tailoring word
    embeddings for gender bias mitigation, algorithm 1.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("word",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs",)

    def __init__(
        self,
        k: int = 1,
        normalize: bool = True,
        equalize: bool = True,
        n_components: int = 20,
        n_words: int = 500,
        seed: int = 0,
        published: bool = False,
        solver: Solver = "full",
    ) -> None:
        self.k = k
        self.normalize = normalize
        self.equalize = equalize
        self.n_components = n_components
        self.n_words = n_words
        self.seed = seed
        self.published = published
        self.solver = solver

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words that hard debiasing is fitted on."""
        return HardDebias(k=self.k, equalize=self.equalize).fitting_texts(concept)

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        for name in ("n_components", "n_words"):
            if getattr(self, name) < 1:
                raise InvalidOption(
                    f"double-hard-debias: {name}={getattr(self, name)}; expected 1 or more"
                )

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the component of frequency, then the concept's subspace; return self.

        Raises
        ------
        InvalidOption
            If an option is out of its range.
        NotApplicable
            If the concept has no definitional pairs, or the embedder knows too few of them or has
            no vocabulary.
        """
        self.check_options()
        plain = self._hard_debias(embedder, concept, equalize=False)
        words = vocabulary_of(embedder)
        surveyed = survey(words, plain.subspace_[0], unit=self.normalize)
        self.mean_ = surveyed.mean
        components = surveyed.components[: self.n_components]
        biased, second = self._most_biased(surveyed.leanings, words, plain)
        vectors = embedder.encode(biased)
        accuracies = []
        for component in components:
            cleaned = self._cleaned(embedder, component[None])
            candidate = self._hard_debias(cleaned, concept, equalize=False)
            rows = neutralized(cleaned.change(vectors), candidate.subspace_, unit=self.normalize)
            accuracies.append(_cluster_accuracy(rows, second, self.seed))
        self.accuracies_ = np.array(accuracies)
        self.frequency_ = components[[self.accuracies_.argmin()]]
        cleaned = self._cleaned(embedder, self.frequency_)
        self.hard_debias_ = self._hard_debias(cleaned, concept, equalize=self.equalize)
        self.missing_ = self.hard_debias_.missing_
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors without frequency, hard-debiased according to their texts."""
        cleaned = without_frequency(
            vectors, self.mean_, self.frequency_, unit=self.normalize, published=self.published
        )
        return self.hard_debias_.transform(cleaned, texts)

    def _cleaned(self, embedder: Embedder, component: Floats) -> _Cleaned:
        return _Cleaned(
            embedder,
            partial(
                without_frequency,
                mean=self.mean_,
                frequency=component,
                unit=self.normalize,
                published=self.published,
            ),
        )

    def _hard_debias(
        self, embedder: Embedder, concept: Concept | None, *, equalize: bool
    ) -> HardDebias:
        hard_debias = HardDebias(
            k=self.k,
            normalize=self.normalize,
            equalize=equalize,
            solver=self.solver,
            seed=self.seed,
        )
        try:
            return hard_debias.fit(embedder, concept)
        except (InvalidOption, NotApplicable) as error:
            raise type(error)(str(error).replace("hard-debias", "double-hard-debias", 1)) from error

    def _most_biased(
        self, leanings: Floats, words: Vocabulary, plain: HardDebias
    ) -> tuple[list[str], npt.NDArray[np.bool_]]:
        """Return the most biased words of both sides, and whether each is of the second side."""
        order, half = np.argsort(leanings), len(leanings) // 2
        first = self._neutral(order[:half], words, plain)
        second = self._neutral(order[::-1][:half], words, plain)
        n = min(len(first), len(second))
        if n < 2:
            raise NotApplicable(
                "double-hard-debias needs 2 or more words of each side that are not about the "
                f"concept; the vocabulary of {len(words)} words has {n}"
            )
        return first[:n] + second[:n], np.repeat([False, True], n)

    def _neutral(
        self, order: npt.NDArray[np.intp], words: Vocabulary, plain: HardDebias
    ) -> list[str]:
        """Return the first `n_words` in `order` that are not about the concept."""
        neutral: list[str] = []
        for start in range(0, len(order), self.n_words):
            texts = [words.words[row] for row in order[start : start + self.n_words].tolist()]
            about = find(texts, plain.left_alone_, ignoring_case=plain.ignores_case_)
            neutral += [text for i, text in enumerate(texts) if i not in about]
            if len(neutral) >= self.n_words:
                break
        return neutral[: self.n_words]


def without_frequency(
    vectors: Reals, mean: Floats, frequency: Floats, *, unit: bool, published: bool = False
) -> Vectors:
    """Return w' = (I − uuᵀ)(w − μ) for the rows of `vectors`, (n, d), in float32, in blocks.

    Parameters
    ----------
    vectors
        (n, d).
    mean
        (d,) μ.
    frequency
        (1, d) u, of length 1.
    unit
        Whether to set each w to length 1 first.
    published
        Whether w' = w − μ − uuᵀw, as Wang et al. and their code have it: all words keep −uuᵀμ.
    """
    vectors = np.asarray(vectors)
    out = np.empty(vectors.shape, dtype=np.float32)
    centre, axis = mean.astype(np.float32), frequency.astype(np.float32)
    common = (frequency @ mean @ frequency).astype(np.float32)
    for start, rows in in_blocks(out):
        rows[:] = vectors[start : start + len(rows)]
        if unit:
            rows *= scale(rows)[:, None]
        rows -= centre
        project_out(rows, axis)
        if published:
            rows -= common
    return out


class _Cleaned:
    """An embedder without the direction of frequency."""

    def __init__(self, embedder: Embedder, change: Callable[[Reals], Vectors]) -> None:
        self.embedder, self.change, self.info = embedder, change, embedder.info

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self.change(self.embedder.encode(texts))


def _cluster_accuracy(rows: Vectors, second: npt.NDArray[np.bool_], seed: int) -> float:
    """Return the share of rows whose cluster, of two, agrees with their side, in [.5, 1]."""
    from sklearn.cluster import KMeans

    clusters = KMeans(2, n_init=STARTS, random_state=seed).fit_predict(rows)
    accuracy = float(np.mean((clusters == 1) == second))
    return max(accuracy, 1 - accuracy)
