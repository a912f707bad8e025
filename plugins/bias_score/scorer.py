"""Scores of sentences with a model: states, importance and direction put together.

Reads no corpus and writes no file. Tokens' states are not kept in the store: a corpus of 500,000
sentences would need 10 GB of them, and each is asked for once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.embedder import Embedder
from harness.plugins.bias_score import importance as weights
from harness.plugins.bias_score import states as token_states
from harness.plugins.bias_score.direction import Direction, direction
from harness.plugins.bias_score.equations import BiasScore, bias_score
from harness.plugins.bias_score.gendered import Gendered
from harness.plugins.bias_score.importance import Importance
from harness.plugins.bias_score.sentence_pairs import SentencePairs
from harness.token_states import TokenStates, words


@dataclass(frozen=True, kw_only=True)
class SentenceScore:
    """What one sentence scores.

    Parameters
    ----------
    words
        (W,) its words in lower case, punctuation marks too.
    gendered
        (W,) which of them are in the list.
    score
        The scores; None where the model knows none of the words.
    cut
        Whether the model did not read the sentence to its end.
    """

    words: tuple[str, ...]
    gendered: npt.NDArray[np.bool_]
    score: BiasScore | None
    cut: bool


class Scorer:
    """Scores sentences with one model.

    A word's vector is the mean of its tokens' states, its importance their sum. Special tokens and
    those of a prompt count for nothing.

    Parameters
    ----------
    embedder
        A text encoder that shows its tokens' states, or word vectors.
    along
        The gender direction, in the space of the states, or of `vectors` if these are given.
    importance
        How words are weighed.
    gendered
        Words that give nothing.
    vectors
        A word embedder whose vectors stand for the words, as GloVe's do for InferSent in the
        paper; None for the states.

    Raises
    ------
    NotApplicable
        If the encoder does not show its tokens' states.
    """

    def __init__(
        self,
        embedder: Embedder,
        along: Direction,
        *,
        importance: Importance,
        gendered: Gendered,
        vectors: Embedder | None = None,
    ) -> None:
        self._embedder = embedder
        self._states = token_states.of(embedder)
        self._along = along
        self._importance: Importance = importance
        self._gendered = gendered
        self._vectors = vectors

    def score(self, texts: Sequence[str]) -> list[SentenceScore]:
        """Return the scores of sentences, in their order."""
        found: dict[int, SentenceScore] = {}
        for batch in token_states.in_batches(self._embedder, texts):
            asked = [texts[i] for i in batch]
            made = self._states.token_states(asked)
            for i, states, cut in zip(batch, made, self._cut(asked), strict=True):
                found[i] = self._scored(texts[i], states, cut)
        return [found[i] for i in range(len(texts))]

    def _cut(self, texts: Sequence[str]) -> Sequence[bool]:
        truncated = getattr(self._embedder, "truncated", None)
        return truncated(texts) if truncated else [False] * len(texts)

    def _scored(self, text: str, made: TokenStates, cut: bool) -> SentenceScore:
        n = len(made.words)
        gendered = self._gendered.found(text)
        counted = made.word_of >= 0
        of_words = made.word_of[counted]
        if not counted.any():
            return SentenceScore(words=made.words, gendered=gendered, score=None, cut=cut)
        tokens = np.bincount(of_words, minlength=n)
        shares = weights.shares(made.states, counted, self._importance)[counted]
        vectors = (
            _sums(made.states[counted], of_words, n) / np.maximum(tokens, 1)[:, None]
            if self._vectors is None
            else token_states.word_vectors(
                self._vectors, [text[word.start : word.end] for word in words(text)]
            )
        )
        score = bias_score(
            np.nan_to_num(vectors),
            np.bincount(of_words, weights=shares, minlength=n).astype(np.float64),
            gendered,
            self._along.vector,
        )
        return SentenceScore(words=made.words, gendered=gendered, score=score, cut=cut)


def of_sentences(embedder: Embedder, pairs: SentencePairs, importance: Importance) -> Direction:
    """Return the direction between sentences and their other gender.

    Their vectors are pooled as the importance has it: by maximum for `max`, else by mean.

    Raises
    ------
    NotApplicable
        If the encoder does not show its tokens' states, or no pair has a difference.
    """
    return _between(embedder, pairs, importance, unit=False)


def of_words(
    embedder: Embedder, pairs: Sequence[tuple[str, str]], importance: Importance
) -> Direction:
    """Return the direction between pairs of words, the first of which is the positive side.

    Of word vectors, words and their differences are taken at length 1, as for hard debiasing; an
    encoder reads each word as a text.

    Raises
    ------
    NotApplicable
        If the encoder does not show its tokens' states, or no pair has a difference.
    """
    sides = SentencePairs([a for a, _ in pairs], [b for _, b in pairs], np.ones(len(pairs)))
    return _between(embedder, sides, importance, unit=embedder.info.kind == "word")


def _between(
    embedder: Embedder, pairs: SentencePairs, importance: Importance, *, unit: bool
) -> Direction:
    how = "max" if importance == "max" else "mean"
    shown = token_states.of(embedder)
    first, second = (token_states.pooled(shown, side, how) for side in (pairs.first, pairs.second))
    return direction(first, second, orientation=pairs.orientation, unit=unit)


def _sums(states: npt.NDArray[np.floating[Any]], rows: npt.NDArray[np.int64], n: int) -> Floats:
    """Return (n, d) sums of the states, (T, d), of each word."""
    belongs = rows[None, :] == np.arange(n)[:, None]
    sums: Floats = belongs.astype(np.float64) @ states
    return sums
