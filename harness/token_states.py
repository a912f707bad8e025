"""The states of a text's tokens before pooling, and the word that each token belongs to.

With an embedder that offers `token_states`, a measure can compute how much each word contributes
to the vector of a text. All embedders split a text into words in the same way, so that words can be
compared and looked up in lists; the tokens of a word depend on the model. This module computes no
weights of words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from harness.arrays import Vectors

NO_WORD = -1
"""The word index of a token that belongs to no word: a special token, or one of a prompt."""
# A possessive 's is a separate word, so that "woman's" is found as "woman". A punctuation mark is
# a word too, because it takes part in pooling.
_WORD = re.compile(r"['’]s\b|[^\W_]+(?:(?:-|['’](?!s\b))[^\W_]+)*|\S")


class Word(NamedTuple):
    """A word in lower case, and its position in the text: characters `start` to `end` − 1."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class TokenStates:
    """The tokens of one text that take part in its pooling.

    Parameters
    ----------
    words
        The words of the text in their order, in lower case, punctuation marks included. A word
        after the model's longest input has no token.
    word_of
        (T,) index in `words` of each token's word, -1 for special tokens and those of a prompt.
    states
        (T, d) float32 state of each token before pooling. If the model excludes its prompt from
        pooling, the prompt's tokens are excluded here.
    """

    words: tuple[str, ...]
    word_of: npt.NDArray[np.int64]
    states: Vectors

    def behind(self, n: int) -> TokenStates:
        """Return the states without the first `n` tokens."""
        return TokenStates(self.words, self.word_of[n:], self.states[n:])


@runtime_checkable
class TokenStatesEmbedder(Protocol):
    """An embedder that gives access to the states of its tokens."""

    @property
    def poolings(self) -> tuple[str, ...]:
        """How the states become one vector: `mean`, `max`, `cls`, `lasttoken`, and so on.

        The vectors of several poolings are concatenated. An empty tuple: the model does not pool.
        """
        ...

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens, encoded as one batch."""
        ...


def words(text: str) -> list[Word]:
    """Return the words of a text.

    A word consists of letters and digits; it may have hyphens and apostrophes inside
    (mother-in-law, don't). A possessive ('s) and any other mark are separate words.
    """
    return [Word(m.group().lower(), m.start(), m.end()) for m in _WORD.finditer(text)]


def words_of_tokens(
    text_words: Sequence[Word], offsets: npt.ArrayLike, *, shift: int = 0
) -> npt.NDArray[np.int64]:
    """Return (T,) the index of the word that each token belongs to, -1 for no word.

    Parameters
    ----------
    text_words
        Words of the text.
    offsets
        (T, 2) start and end of each token, in characters; equal for special tokens.
    shift
        Number of characters of a prompt before the text; the prompt's tokens belong to no word.

    Notes
    -----
    A token that overlaps two words belongs to the first. A token that overlaps no word (some models
    have tokens of spaces) belongs to the next word, or to the last word if no other follows.
    """
    spans: npt.NDArray[Any] = np.asarray(offsets, dtype=np.int64).reshape(-1, 2) - shift
    if not text_words:
        return np.full(len(spans), NO_WORD, dtype=np.int64)
    ends = np.array([word.end for word in text_words])
    first_after = np.searchsorted(ends, np.maximum(spans[:, 0], 0), side="right")
    word_of = np.minimum(first_after, len(text_words) - 1)
    empty = (spans[:, 0] == spans[:, 1]) | (spans[:, 1] <= 0)
    return np.where(empty, NO_WORD, word_of)
