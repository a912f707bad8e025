"""Scores of sentences with one model: combines token states, importance and direction.

Reads no corpus and writes no file. Token states are not kept in the store: a corpus of 500,000
sentences would need 10 GB, and each state is used once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors, cosines, has_direction, unit_rows
from harness.embedder import Embedder, TokenStates, TokenStatesEmbedder, words
from harness.errors import NotApplicable

from ..texts.swapping import PEOPLE, PRONOUNS, Swapper
from .gendered import Gendered

# The gender direction: what the differences of many pairs have in common.
#
# The pairs differ in gender alone: pairs of words for static vectors, of sentences for encoders.
# Any other concept with two sides works too. The first side of a pair is the positive one.


@dataclass(frozen=True)
class Direction:
    """A direction, and how much of the differences it explains.

    Parameters
    ----------
    vector
        (d,) of length 1.
    explained
        Share of the differences' sum of squares that lies along it, in [0, 1]; about 1/min(n, d)
        for random vectors.
    pairs
        Number of pairs with a difference.
    """

    vector: Floats
    explained: float
    pairs: int


def direction(
    first: Reals,
    second: Reals,
    *,
    orientation: Reals | None = None,
    unit: bool = False,
) -> Direction:
    """Return the first principal direction of the differences, without centring.

    Centring would remove what all differences share, which is the concept itself: the explained
    share falls from 78 % to 32 % (all-MiniLM-L6-v2, CrowS-Pairs and its swapped sentences).

    Parameters
    ----------
    first, second
        (n, d) vectors of the two sides of the pairs.
    orientation
        (n,) 1 where `first` is the positive side, −1 where `second` is, 0 where it is unknown; by
        default all 1. It decides only the sign of the direction.
    unit
        Whether to set each difference to length 1, as Bolukbasi et al. do for words.

    Raises
    ------
    NotApplicable
        If no pair has a difference.

    References
    ----------
    Sections 3.2 and 6 of the paper of the bias score; Bolukbasi et al. (2016).
    """
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    usable = has_direction(differences)
    differences = differences[usable]
    if not len(differences):
        raise NotApplicable("no pair has two different vectors, so there is no direction")
    if unit:
        differences = unit_rows(differences)
    _, s, vt = np.linalg.svd(differences, full_matrices=False)
    side = np.ones(len(differences)) if orientation is None else np.asarray(orientation)[usable]
    sign = -1.0 if side @ (differences @ vt[0]) < 0 else 1.0
    return Direction(sign * vt[0], float(s[0] ** 2 / (s**2).sum()), len(differences))


# BiasScore of a sentence: equations 1–3 of the paper of the bias score.
#
# Arrays in, numbers out. Does not know where the vectors, the importance and the list of gendered
# words come from.


@dataclass(frozen=True, kw_only=True)
class BiasScore:
    """The scores of one sentence, and the contribution of each word.

    Parameters
    ----------
    female
        BiasScore_F, equation 1, at least 0; fair is 0.
    male
        BiasScore_M, equation 2, at most 0; fair is 0.
    cosines
        (W,) cosines of the words' vectors with the gender direction.
    importance
        (W,) shares I_w.
    biases
        (W,) cos × I_w, 0 for gendered words.
    """

    female: float
    male: float
    cosines: Floats
    importance: Floats
    biases: Floats

    @property
    def absolute(self) -> float:
        """Abs-BiasScore, equation 3, at least 0; fair is 0."""
        return self.female - self.male


def bias_score(
    vectors: Reals,
    importance: Reals,
    gendered: npt.NDArray[np.bool_],
    direction: Reals,
) -> BiasScore:
    """Return the scores of a sentence of W words.

    BiasScore_F(s) = Σ over w ∈ s, w ∉ L, cos(w, g) > 0 of cos(w, g) × I_w
    BiasScore_M(s) = the same sum over cos(w, g) < 0
    Abs-BiasScore(s) = Σ over w ∈ s, w ∉ L of |cos(w, g) × I_w|

    Parameters
    ----------
    vectors
        (W, d) vectors of the words. A row of NaN or zeros is a word without a vector; it
        contributes 0.
    importance
        (W,) I_w, at least 0.
    gendered
        (W,) whether a word is in the list L; its gender does not count as bias.
    direction
        (d,) g, with the female side positive.
    """
    cos = np.nan_to_num(cosines(vectors, np.asarray(direction)[None])[:, 0])
    shares = np.asarray(importance, dtype=np.float64)
    biases = np.where(gendered, 0.0, cos * shares)
    return BiasScore(
        female=float(biases[biases > 0].sum()),
        male=float(biases[biases < 0].sum()),
        cosines=cos,
        importance=shares,
        biases=biases,
    )


# How much each token contributes to the vector of its text.
#
# Exact for encoders with max pooling; a generalisation for mean pooling; uniform for the rest.
# Knows tokens only: the importance of a word is the sum over its tokens.


Importance: TypeAlias = Literal["max", "mean", "mean-raw", "uniform"]
IMPORTANCES: tuple[Importance, ...] = get_args(Importance)

_BY_POOLING: dict[str, Importance] = {
    "max": "max",
    "mean": "mean",
    "mean_sqrt_len_tokens": "mean",  # the mean times a factor, which cancels in shares
}


def importance_shares(states: Reals, counted: npt.NDArray[np.bool_], kind: Importance) -> Floats:
    """Return (T,) the importance of each token; 0 for tokens that are not counted.

    Parameters
    ----------
    states
        (T, d) states of all tokens that are pooled, including special ones.
    counted
        (T,) whether a token belongs to a word.
    kind
        `max`, `mean`, `mean-raw` or `uniform`; see the functions below.
    """
    importance = np.zeros(len(states))
    if not counted.any():
        return importance
    if kind == "max":
        importance[counted] = by_maximum(states[counted])
    elif kind == "uniform":
        importance[counted] = 1 / counted.sum()
    else:
        importance[counted] = by_mean(states)[counted].clip(min=0)
        if kind == "mean" and (total := importance.sum()) > 0:
            importance /= total
    return importance


def by_maximum(states: Reals) -> Floats:
    """Return (T,) the share of dimensions in which each token has the maximum.

    Exact for encoders with max pooling. With the tokens of words alone, special tokens are ignored;
    they have the maximum in 5–33 % of the dimensions in all-MiniLM-L6-v2. In a tie the first token
    counts.

    References
    ----------
    Section 3.4 of the paper of the bias score, after Conneau et al. (2017).
    """
    counts = np.bincount(np.asarray(states).argmax(axis=0), minlength=len(states))
    result: Floats = counts / np.shape(states)[1]
    return result


def by_mean(states: Reals) -> Floats:
    """Return (T,) the share of each token in a mean-pooled vector, h_t·s̄ / (T‖s̄‖²).

    s̄ = (1/T) Σ h_t. The shares sum to 1 over all T tokens, including special ones. A token that
    points away from the mean has a negative share. If s̄ = 0, all shares are 0. This is our
    generalisation: the paper defines importance for max pooling only.
    """
    h = np.asarray(states, dtype=np.float64)
    mean = h.mean(axis=0)
    length = float(mean @ mean)
    result: Floats = h @ mean / (len(h) * length) if length > 0 else np.zeros(len(h))
    return result


def of_poolings(poolings: Sequence[str]) -> Importance:
    """Return the importance that belongs to the pooling of an encoder; `uniform` if none does.

    The share of a word is undefined for encoders that use the state of one token (`cls`,
    `lasttoken`) or concatenate several poolings.
    """
    return _BY_POOLING.get(poolings[0], "uniform") if len(poolings) == 1 else "uniform"


# Pairs of sentences that differ in gender alone, for the gender direction of an encoder.
#
# 125 pairs are built in: five subjects with 25 plain endings, none of which is a stereotype of
# women or men. Or sentences of the user, each paired with its gender-swapped version.


# After pairs of Bolukbasi et al. (2016), table 1, as subjects.
SUBJECTS = (
    ("She", "He"),
    ("The woman", "The man"),
    ("My mother", "My father"),
    ("That girl", "That boy"),
    ("Mary", "John"),
)
ENDS = (
    "is here.",
    "is there.",
    "is a person.",
    "is a friend of mine.",
    "is at home today.",
    "is waiting for the bus.",
    "is reading a book.",
    "is talking on the phone.",
    "is walking down the street.",
    "is sitting at the table.",
    "is looking out of the window.",
    "lives in a small town.",
    "likes music.",
    "went to the store.",
    "wrote a long letter.",
    "bought some bread.",
    "opened the door.",
    "took the train to the city.",
    "answered the question.",
    "told us a story.",
    "wants to learn a language.",
    "watched the rain.",
    "had breakfast early.",
    "moved to another country.",
    "was born in the spring.",
)
_FEMALE = {female for female, _ in (*PRONOUNS, *PEOPLE)} | {"her", "hers"}
_MALE = {male for _, male in (*PRONOUNS, *PEOPLE)} | {"him", "his"}


class SentencePairs(NamedTuple):
    """Sentences, their gender-swapped versions, and the gender of the first of each pair.

    `orientation` is 1 if the sentence in `first` is about women, −1 if about men, 0 if about both.
    """

    first: list[str]
    second: list[str]
    orientation: Floats


def shipped() -> SentencePairs:
    """Return the 125 built-in pairs, female first."""
    pairs = [(f"{she} {end}", f"{he} {end}") for she, he in SUBJECTS for end in ENDS]
    return SentencePairs([a for a, _ in pairs], [b for _, b in pairs], np.ones(len(pairs)))


def swapped(sentences: Iterable[str]) -> SentencePairs:
    """Return each sentence with its gender-swapped version; skip those without gendered words.

    Uses the words and the rule of `swapping.py`.
    """
    swap = Swapper().swap
    pairs = [(text, swap(text)) for text in dict.fromkeys(sentences)]
    pairs = [(text, other) for text, other in pairs if text != other]
    return SentencePairs(
        [text for text, _ in pairs],
        [other for _, other in pairs],
        np.sign([_side(text) for text, _ in pairs]),
    )


def _side(text: str) -> float:
    """Return the number of female words less that of male words."""
    return float(sum((word.text in _FEMALE) - (word.text in _MALE) for word in words(text)))


# Token states of any embedder: of a text encoder that gives them, or of word vectors.
#
# Batches hold texts of similar length, so that little time is lost on padding.


TOKENS = 4_096  # at most in a batch, including padding
TEXTS = 64  # at most in a batch


class States(Protocol):
    """Gives the token states of texts."""

    @property
    def poolings(self) -> tuple[str, ...]:
        """How token states are pooled into one vector."""
        ...

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the token states of each text."""
        ...


class WordStates:
    """Word vectors as token states: each word with a vector is one token; texts are their mean.

    Parameters
    ----------
    embedder
        An embedder of kind `word`.
    """

    poolings: tuple[str, ...] = ("mean",)

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the vectors of the words of each text; words without a vector have no token."""
        words_by_text = [tuple(word.text for word in words(text)) for text in texts]
        vectors = word_vectors(
            self._embedder, [text[w.start : w.end] for text in texts for w in words(text)]
        )
        known = np.asarray(np.isfinite(vectors).all(axis=1))
        states, start = [], 0
        for text_words in words_by_text:
            rows = slice(start, start + len(text_words))
            states.append(
                TokenStates(text_words, np.flatnonzero(known[rows]), vectors[rows][known[rows]])
            )
            start += len(text_words)
        return states


def of(embedder: Embedder) -> States:
    """Return an object that gives the token states of an embedder.

    Raises
    ------
    NotApplicable
        If a text encoder does not give token states; hosted ones cannot.
    """
    if embedder.info.kind == "word":
        return WordStates(embedder)
    if isinstance(embedder, TokenStatesEmbedder):
        return embedder
    raise NotApplicable(
        f"'{embedder.info.name}' gives no token states, which the importance of words needs; "
        "sentence-transformers:, last-token:, infersent: and word vectors give them"
    )


def word_vectors(embedder: Embedder, written: Sequence[str]) -> Vectors:
    """Return (n, d) vectors of words as written, else in lower case; NaN if neither is known."""
    if not written:
        return np.empty((0, embedder.info.dimensions or 0), dtype=np.float32)
    spellings = list(dict.fromkeys([*written, *(word.lower() for word in written)]))
    vectors = embedder.encode(spellings)
    row = {word: i for i, word in enumerate(spellings)}
    result: Vectors = vectors[[row[word] for word in written]]
    missing = np.asarray(~np.isfinite(result).all(axis=1))
    result[missing] = vectors[[row[w.lower()] for w, m in zip(written, missing, strict=True) if m]]
    return result


def in_batches(embedder: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the indices of texts in batches of similar length, longest first."""
    count_tokens = getattr(embedder, "lengths", None)
    lengths = np.asarray(
        count_tokens(texts) if count_tokens else [2 + len(text) // 4 for text in texts]
    )
    batches: list[list[int]] = []
    for i in np.argsort(-lengths, kind="stable").tolist():
        full = batches and (
            len(batches[-1]) >= TEXTS or (len(batches[-1]) + 1) * lengths[batches[-1][0]] > TOKENS
        )
        if not batches or full:
            batches.append([])
        batches[-1].append(i)
    return batches


def pooled(states: States, texts: Sequence[str], how: str) -> Floats:
    """Return (n, d) vectors of length 1: the mean or the maximum of the token states.

    Layers after pooling are not applied, because token states and the direction must lie in the
    same space. A text without token states gives a row of NaN.
    """
    rows: list[Floats] = [np.empty(0)] * len(texts)
    for batch in in_batches(states, texts):
        for i, result in zip(batch, states.token_states([texts[i] for i in batch]), strict=True):
            h = np.asarray(result.states, dtype=np.float64)
            if len(h):
                rows[i] = h.max(axis=0) if how == "max" else h.mean(axis=0)
            else:
                rows[i] = np.full(h.shape[1], np.nan)
    return unit_rows(np.array(rows))


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
        self._states = of(embedder)
        self._along = along
        self._importance: Importance = importance
        self._gendered = gendered
        self._vectors = vectors

    def score(self, texts: Sequence[str]) -> list[SentenceScore]:
        """Return the scores of sentences, in the same order."""
        scores: dict[int, SentenceScore] = {}
        for batch in in_batches(self._embedder, texts):
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
        shares = importance_shares(tokens.states, counted, self._importance)[counted]
        vectors = (
            _sums(tokens.states[counted], word_of, n) / np.maximum(counts, 1)[:, None]
            if self._vectors is None
            else word_vectors(self._vectors, [text[word.start : word.end] for word in words(text)])
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
    states = of(embedder)
    first, second = (pooled(states, side, pooling) for side in (pairs.first, pairs.second))
    return direction(first, second, orientation=pairs.orientation, unit=unit)


def _sums(states: npt.NDArray[np.floating[Any]], rows: npt.NDArray[np.int64], n: int) -> Floats:
    """Return (n, d) sums of the token states, (T, d), of each of n words."""
    belongs = rows[None, :] == np.arange(n)[:, None]
    sums: Floats = belongs.astype(np.float64) @ states
    return sums
