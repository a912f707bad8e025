"""Double-hard debiasing (Wang et al. 2020): word frequency is taken out before the concept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting import listed_words
from harness.plugins.mitigators.fitting.vocabulary_survey import scale, survey
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.subspaces.projection import Solver, in_blocks, neutralized, take_out
from harness.vocabulary import Vocabulary, vocabulary_of

STARTS = 3  # of k-means, whose best is taken


class DoubleHardDebias(Mitigator):
    """Take the direction of word frequency out of all vectors, then hard-debias.

    Frequency distorts the concept's direction, since the words that define it are of very
    different frequency. Which of the vocabulary's first principal components carries it shows
    when it is taken out before hard debiasing: the words that lean most to either side then fall
    worst into two clusters by their side. Those words only choose the component. What is
    debiased is whatever is asked for, definitional words included: w' = (I − uuᵀ)(w − μ), with μ
    the mean of the vocabulary and u the component, then hard debiasing fitted on w'.

    The mean and the components are those of the vocabulary, whatever the concept: they are found
    once in a process while it lives (`vocabulary_survey`).

    Parameters
    ----------
    k, normalize, equalize, solver
        As in `hard-debias`; vectors come to length 1 before anything else.
    n_components
        How many principal components are tried.
    n_words
        How many words of either side choose among them, of those that are not about the concept.
    seed
        Of the k-means clusterings, and as in `hard-debias`.
    published
        Whether w' = w − μ − uuᵀw, as the paper and its code have it, so that all words keep the
        same −uuᵀμ.

    Attributes
    ----------
    mean_
        (d,) mean μ of the vocabulary.
    frequency_
        (1, d) the component u.
    accuracies_
        (n_components,) share of the most biased words whose side k-means tells once the component
        and the concept are out, in [.5, 1]; u has the lowest.
    hard_debias_
        The hard debiasing fitted on w'.
    missing_
        As in `hard-debias`.

    References
    ----------
    Wang, Lin, Rajani, McCann, Ordonez and Xiong (2020), Double-hard debias: tailoring word
    embeddings for gender bias mitigation.
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
        """Return the texts that hard debiasing learns from."""
        return HardDebias(k=self.k, equalize=self.equalize).fitting_texts(concept)

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the direction of frequency, then the concept's subspace; return self.

        Raises
        ------
        InvalidOption
            If an option is none that there is.
        NotApplicable
            If the concept has no definitional pairs, or the embedder too few of them or no
            vocabulary.
        """
        for name in ("n_components", "n_words"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"double-hard-debias: {name}={getattr(self, name)}: 1 or more")
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
            tried = self._hard_debias(cleaned, concept, equalize=False)
            rows = neutralized(cleaned.change(vectors), tried.subspace_, unit=self.normalize)
            accuracies.append(_told_apart(rows, second, self.seed))
        self.accuracies_ = np.array(accuracies)
        self.frequency_ = components[[self.accuracies_.argmin()]]
        cleaned = self._cleaned(embedder, self.frequency_)
        self.hard_debias_ = self._hard_debias(cleaned, concept, equalize=self.equalize)
        self.missing_ = self.hard_debias_.missing_
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors without frequency and the concept, by what the text is."""
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
        made = HardDebias(
            k=self.k,
            normalize=self.normalize,
            equalize=equalize,
            solver=self.solver,
            seed=self.seed,
        )
        try:
            return made.fit(embedder, concept)
        except (InvalidOption, NotApplicable) as error:
            raise type(error)(str(error).replace("hard-debias", "double-hard-debias", 1)) from error

    def _most_biased(
        self, leanings: Floats, words: Vocabulary, plain: HardDebias
    ) -> tuple[list[str], npt.NDArray[np.bool_]]:
        """Return the words that lean most to either side, and which of them to the second."""
        order, half = np.argsort(leanings), len(leanings) // 2
        first = self._neutral(order[:half], words, plain)
        second = self._neutral(order[::-1][:half], words, plain)
        n = min(len(first), len(second))
        if n < 2:
            raise NotApplicable(
                "double-hard-debias needs a vocabulary of which 2 words or more lean to either "
                f"side and are not about the concept; of {len(words)} words {n} do"
            )
        return first[:n] + second[:n], np.repeat([False, True], n)

    def _neutral(
        self, order: npt.NDArray[np.intp], words: Vocabulary, plain: HardDebias
    ) -> list[str]:
        """Return the first `n_words` in `order` that are not about the concept."""
        found: list[str] = []
        for start in range(0, len(order), self.n_words):
            texts = [words.words[row] for row in order[start : start + self.n_words].tolist()]
            about = listed_words.find(texts, plain.left_alone_, ignoring_case=plain.ignores_case_)
            found += [text for i, text in enumerate(texts) if i not in about]
            if len(found) >= self.n_words:
                break
        return found[: self.n_words]


def without_frequency(
    vectors: Reals, mean: Floats, frequency: Floats, *, unit: bool, published: bool = False
) -> Vectors:
    """Return w' = (I − uuᵀ)(w − μ) of the rows of `vectors`, (n, d), in float32, in blocks.

    Parameters
    ----------
    vectors
        (n, d).
    mean
        (d,) μ.
    frequency
        (1, d) u, of length 1.
    unit
        Whether each w comes to length 1 first.
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
        take_out(rows, axis)
        if published:
            rows -= common
    return out


class _Cleaned:
    """An embedder without the direction of frequency."""

    def __init__(self, embedder: Embedder, change: Callable[[Reals], Vectors]) -> None:
        self.embedder, self.change, self.info = embedder, change, embedder.info

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self.change(self.embedder.encode(texts))


def _told_apart(rows: Vectors, second: npt.NDArray[np.bool_], seed: int) -> float:
    """Return the share of rows whose side two clusters tell, in [.5, 1]."""
    from sklearn.cluster import KMeans

    clusters = KMeans(2, n_init=STARTS, random_state=seed).fit_predict(rows)
    agreeing = float(np.mean((clusters == 1) == second))
    return max(agreeing, 1 - agreeing)
