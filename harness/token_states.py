"""The states of a text's tokens before pooling, and which of its words each token belongs to.

An embedder that offers `token_states` lets a measure ask how much each word of a text counts in
the text's vector. How a text is cut into words is the same for all embedders, so that words can be
compared and looked up in lists; how words are cut into tokens is each model's own. Weighs no word:
that is for who asks.
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
"""Stands for the word of a token that belongs to none: a special one, or one of a prompt."""
# A possessive is a word of its own, so that "woman's" is found as "woman"; punctuation is one too,
# since it takes part in pooling.
_WORD = re.compile(r"['’]s\b|[^\W_]+(?:(?:-|['’](?!s\b))[^\W_]+)*|\S")


class Word(NamedTuple):
    """A word in lower case, and where it stands in its text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class TokenStates:
    """The tokens of one text as its pooling sees them.

    Parameters
    ----------
    words
        The words of the text in their order, in lower case; punctuation marks are words too. One
        that lies behind the model's longest input has no token.
    word_of
        (T,) index in `words` of each token's word, -1 for special tokens and those of a prompt.
    states
        (T, d) float32 state of each token before pooling. For a model that leaves its prompt out
        of the pooling, the prompt's tokens are left out here.
    """

    words: tuple[str, ...]
    word_of: npt.NDArray[np.int64]
    states: Vectors

    def behind(self, n: int) -> TokenStates:
        """Return these without the first `n` tokens."""
        return TokenStates(self.words, self.word_of[n:], self.states[n:])


@runtime_checkable
class TokenStatesEmbedder(Protocol):
    """An embedder that shows its tokens' states."""

    @property
    def poolings(self) -> tuple[str, ...]:
        """How states become one vector: `mean`, `max`, `cls`, `lasttoken`, and so on.

        Several are joined one behind the other; none means that the model does not pool.
        """
        ...

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens, encoded as one batch."""
        ...


def words(text: str) -> list[Word]:
    """Return the words of a text.

    A word has letters and digits, with hyphens and apostrophes inside (mother-in-law, don't). A
    possessive ('s) and each other mark are words of their own.
    """
    return [Word(m.group().lower(), m.start(), m.end()) for m in _WORD.finditer(text)]


def words_of_tokens(
    found: Sequence[Word], offsets: npt.ArrayLike, *, shift: int = 0
) -> npt.NDArray[np.int64]:
    """Return (T,) the word that each token belongs to, -1 for those that belong to none.

    Parameters
    ----------
    found
        Words of the text.
    offsets
        (T, 2) where each token begins and ends, in characters; the same twice for special tokens.
    shift
        Characters before the text, of a prompt: tokens that end there belong to no word.

    Notes
    -----
    A token that lies over two words belongs to the first. One that lies over none, such as a space
    that some models make a token of, belongs to the word behind it, or to the last one.
    """
    spans: npt.NDArray[Any] = np.asarray(offsets, dtype=np.int64).reshape(-1, 2) - shift
    if not found:
        return np.full(len(spans), NO_WORD, dtype=np.int64)
    ends = np.array([word.end for word in found])
    first_behind = np.searchsorted(ends, np.maximum(spans[:, 0], 0), side="right")
    belongs = np.minimum(first_behind, len(found) - 1)
    empty = (spans[:, 0] == spans[:, 1]) | (spans[:, 1] <= 0)
    return np.where(empty, NO_WORD, belongs)
