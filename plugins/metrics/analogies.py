"""Analogies of two seed words in a model, without ratings: what `harness analogies` prints.

a : x :: b : y asks for pairs x, y (equations 1 and 2 of Bolukbasi et al. 2016) or, for one word x,
for the words y.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.arrays import Floats, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, vocabulary_of
from harness.errors import InvalidOption, NotApplicable, UnknownName

from .statistics.analogy_search import (
    Repeats,
    distinct_rows,
    find_pairs,
    find_parallelograms,
)
from .word_analogies import EPSILON

LONGEST = 19  # letters of a word: the paper's words have fewer than 20 characters
SUGGESTED = 50_000  # frequent words that an unknown word is compared with
LISTED = 100  # analogies of each equation that are compared, as in figure 9
Equation = Literal[1, 2]
EQUATIONS: tuple[Equation, ...] = (2, 1)  # in the order of figure 9


@dataclass(frozen=True)
class Analogy:
    """The words x and y of a : x :: b : y, with the score of the equation or method."""

    first: str
    second: str
    score: float


class Words:
    """The frequent words of a model and two seed words a and b, all at length 1.

    Parameters
    ----------
    words
        The n words, the most frequent first; of words with equal vectors only the first is kept,
        and words without a direction are left out.
    vectors
        (n, d) vectors.
    seeds
        The words a and b.
    seed_vectors
        (2, d) vectors of the seeds.

    Raises
    ------
    NotApplicable
        If both seeds have the same vector.
    """

    def __init__(
        self,
        words: Sequence[str],
        vectors: Vectors,
        seeds: tuple[str, str],
        seed_vectors: Vectors,
    ) -> None:
        rows = distinct_rows(vectors)
        self.words = [words[i] for i in rows]
        self.units = unit_rows(vectors[rows])
        self.seeds = seeds
        self.a, self.b = unit_rows(seed_vectors)
        if not (self.a - self.b).any():
            raise NotApplicable(f"'{seeds[0]}' and '{seeds[1]}' have equal vectors")

    def pairs(
        self, equation: Equation, *, delta: float, top: int, unique: Repeats = "both"
    ) -> list[Analogy]:
        """Return the best analogies a : x :: b : y by an equation.

        Parameters
        ----------
        equation
            1 for cos(a − b, x − y) if ‖x − y‖ ≤ δ; 2 for the least ‖(a − b) − (x − y)‖.
        delta
            δ of equation 1, in (0, 2].
        top
            Largest number of analogies.
        unique
            `first`, as published: a word is x at most once; `both`: also y at most once.

        Raises
        ------
        InvalidOption
            If `delta` is not in (0, 2].
        """
        if not 0 < delta <= 2:
            raise InvalidOption(f"delta={delta}: must be above 0 and at most 2")
        difference = self.a - self.b
        if equation == 1:
            direction = difference / np.linalg.norm(difference)
            pairs = find_pairs(self.units, direction, delta=delta, top=top, repeats=unique)
        else:
            rows = {word: row for row, word in enumerate(self.words)}
            seeds = rows.get(self.seeds[0]), rows.get(self.seeds[1])
            pairs = find_parallelograms(
                self.units, difference, top=top, repeats=unique, seeds=seeds
            )
        rows_and_scores = zip(pairs.first, pairs.second, pairs.scores, strict=True)
        return [Analogy(self.words[x], self.words[y], float(s)) for x, y, s in rows_and_scores]

    def of_one_only(
        self, *, delta: float, top: int, unique: Repeats = "both"
    ) -> dict[Equation, list[Analogy]]:
        """Return figure 9: the first analogies of each equation that are not among the other's.

        The first 100 of each are compared.
        """
        listed = {e: self.pairs(e, delta=delta, top=LISTED, unique=unique) for e in EQUATIONS}
        pairs = {e: {(a.first, a.second) for a in listed[e]} for e in EQUATIONS}
        shared = pairs[1] & pairs[2]
        own = {e: [a for a in listed[e] if (a.first, a.second) not in shared] for e in EQUATIONS}
        return {e: analogies[:top] for e, analogies in own.items()}

    def answers(
        self, word: str, vector: Vectors, *, delta: float, top: int
    ) -> dict[str, list[Analogy]]:
        """Return the best words y of a : x :: b : y for one word x, by method; higher is better.

        `3CosAdd` is cos(y, x) − cos(y, a) + cos(y, b), which finds the same word as equation 2;
        `3CosMul` is s(y, x) s(y, b) / (s(y, a) + ε) with s = (1 + cos) / 2; `equation 1` is
        cos(a − b, x − y) if ‖x − y‖ ≤ δ and it is above 0. The three words are no answers.

        Parameters
        ----------
        word, vector
            The word x and its (d,) vector.
        delta, top
            As in `pairs`.
        """
        x = unit_rows(vector[None])[0]
        of_x, of_a, of_b = (self.units @ v for v in (x, self.a, self.b))
        differences = x - self.units
        lengths = np.linalg.norm(differences, axis=1)
        along = differences @ (self.a - self.b) / np.linalg.norm(self.a - self.b)
        with np.errstate(invalid="ignore", divide="ignore"):
            parallel = np.where((lengths > 0) & (lengths <= delta), along / lengths, -np.inf)
        parallel[parallel <= 0] = -np.inf
        scores: dict[str, Floats] = {
            "3CosAdd": of_x - of_a + of_b,
            "3CosMul": (1 + of_x) / 2 * (1 + of_b) / 2 / ((1 + of_a) / 2 + EPSILON),
            "equation 1": parallel,
        }
        seeds = {seed.lower() for seed in (word, *self.seeds)}
        allowed = np.array([known.lower() not in seeds for known in self.words], dtype=bool)
        return {
            name: self._best(word, np.where(allowed, of_words, -np.inf), top)
            for name, of_words in scores.items()
        }

    def _best(self, word: str, scores: Floats, top: int) -> list[Analogy]:
        order = np.argsort(-scores, kind="stable")[:top]
        known = [i for i in order if np.isfinite(scores[i])]
        return [Analogy(word, self.words[i], float(scores[i])) for i in known]


def words_of(
    embedder: Embedder, seeds: tuple[str, str], *, size: int, leave_out: Collection[str] = ()
) -> Words:
    """Return the `size` most frequent words of a word embedder, with two seed words.

    As in the paper, they are lower-case, have letters only and fewer than 20 characters; `_` joins
    the words of a phrase.

    Parameters
    ----------
    embedder
        The embedder, mitigated or not.
    seeds
        The words a and b.
    size
        Number of words.
    leave_out
        Words to leave out.

    Raises
    ------
    NotApplicable
        If the embedder has no vocabulary, or the seeds have equal vectors.
    UnknownName
        If it lacks a seed.
    """
    fitting = (
        word
        for word in vocabulary_of(embedder).words
        if len(word) <= LONGEST and word == word.lower() and word.replace("_", "").isalpha()
    )
    left_out = set(leave_out)
    words = [word for word in itertools.islice(fitting, size) if word not in left_out]
    seed_vectors = vectors_of(embedder, seeds)
    return Words(words, embedder.encode(words), seeds, seed_vectors)


def vectors_of(embedder: Embedder, words: Sequence[str]) -> Vectors:
    """Return the (n, d) vectors of words that a user typed.

    Raises
    ------
    UnknownName
        If the embedder lacks a word.
    NotApplicable
        If a word has the zero vector.
    """
    vectors = embedder.encode(words)
    for word, row in zip(words, vectors, strict=True):
        if not np.isfinite(row).all():
            frequent = vocabulary_of(embedder).words[:SUGGESTED]
            raise UnknownName("word", word, frequent, hint=f" ({embedder.info.name})")
        if not row.any():
            raise NotApplicable(f"the vector of '{word}' is zero")
    return vectors


def specific_words(concept: Concept) -> set[str]:
    """Return the words that a concept lists as its own, in lower case."""
    pairs = (*concept.definitional_pairs, *concept.equalize_sets)
    listed = itertools.chain(concept.specific_words, itertools.chain.from_iterable(pairs))
    return {word.lower() for word in listed}
