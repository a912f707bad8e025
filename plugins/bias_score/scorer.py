"""Scores of sentences with one model: combines token states, importance and direction.

Reads no corpus and writes no file. Token states are not kept in the store: a corpus of 500,000
sentences would need 10 GB, and each state is used once.
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
    """The scores of one sentence.

    Parameters
    ----------
    words
        (W,) its words in lower case, including punctuation marks.
    gendered
        (W,) whether a word is in the list of gendered words.
    score
        The scores; None if the model knows none of the words.
    cut
        Whether the model truncated the sentence.
    """

    words: tuple[str, ...]
    gendered: npt.NDArray[np.bool_]
    score: BiasScore | None
    cut: bool


class Scorer:
    """Scores sentences with one model.

    The vector of a word is the mean of its token states; its importance is the sum over its tokens.
    Special tokens and tokens of a prompt are ignored.

    Parameters
    ----------
    embedder
        A text encoder that gives token states, or word vectors.
    along
        The gender direction, in the space of `vectors` if they are set, else of the token states.
    importance
        Weight of each word.
    gendered
        Words that do not count as bias.
    vectors
        Word embedder that gives the vectors of words, as GloVe does for InferSent in the paper;
        None for the mean of their token states.

    Raises
    ------
    NotApplicable
        If the encoder gives no token states.
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
        """Return the scores of sentences, in the same order."""
        scores: dict[int, SentenceScore] = {}
        for batch in token_states.in_batches(self._embedder, texts):
            batch_texts = [texts[i] for i in batch]
            batch_states = self._states.token_states(batch_texts)
            for i, states, cut in zip(batch, batch_states, self._cut(batch_texts), strict=True):
                scores[i] = self._score(texts[i], states, cut)
        return [scores[i] for i in range(len(texts))]

    def _cut(self, texts: Sequence[str]) -> Sequence[bool]:
        truncated = getattr(self._embedder, "truncated", None)
        return truncated(texts) if truncated else [False] * len(texts)

    def _score(self, text: str, tokens: TokenStates, cut: bool) -> SentenceScore:
        n = len(tokens.words)
        gendered = self._gendered.mask(text)
        counted = tokens.word_of >= 0
        word_of = tokens.word_of[counted]
        if not counted.any():
            return SentenceScore(words=tokens.words, gendered=gendered, score=None, cut=cut)
        counts = np.bincount(word_of, minlength=n)
        shares = weights.shares(tokens.states, counted, self._importance)[counted]
        vectors = (
            _sums(tokens.states[counted], word_of, n) / np.maximum(counts, 1)[:, None]
            if self._vectors is None
            else token_states.word_vectors(
                self._vectors, [text[word.start : word.end] for word in words(text)]
            )
        )
        score = bias_score(
            np.nan_to_num(vectors),
            np.bincount(word_of, weights=shares, minlength=n).astype(np.float64),
            gendered,
            self._along.vector,
        )
        return SentenceScore(words=tokens.words, gendered=gendered, score=score, cut=cut)


def of_sentences(embedder: Embedder, pairs: SentencePairs, importance: Importance) -> Direction:
    """Return the direction between sentences and their gender-swapped versions.

    Sentence vectors are pooled by maximum for importance `max`, else by mean.

    Raises
    ------
    NotApplicable
        If the encoder gives no token states, or no pair has a difference.
    """
    return _between(embedder, pairs, importance, unit=False)


def of_words(
    embedder: Embedder, pairs: Sequence[tuple[str, str]], importance: Importance
) -> Direction:
    """Return the direction between pairs of words; the first of a pair is the positive side.

    For a word embedder, words and their differences are set to length 1, as in hard debiasing. A
    text encoder reads each word as a text.

    Raises
    ------
    NotApplicable
        If the encoder gives no token states, or no pair has a difference.
    """
    sides = SentencePairs([a for a, _ in pairs], [b for _, b in pairs], np.ones(len(pairs)))
    return _between(embedder, sides, importance, unit=embedder.info.kind == "word")


def _between(
    embedder: Embedder, pairs: SentencePairs, importance: Importance, *, unit: bool
) -> Direction:
    pooling = "max" if importance == "max" else "mean"
    states = token_states.of(embedder)
    first, second = (
        token_states.pooled(states, side, pooling) for side in (pairs.first, pairs.second)
    )
    return direction(first, second, orientation=pairs.orientation, unit=unit)


def _sums(states: npt.NDArray[np.floating[Any]], rows: npt.NDArray[np.int64], n: int) -> Floats:
    """Return (n, d) sums of the token states, (T, d), of each of n words."""
    belongs = rows[None, :] == np.arange(n)[:, None]
    sums: Floats = belongs.astype(np.float64) @ states
    return sums
