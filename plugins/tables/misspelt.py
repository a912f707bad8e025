"""Texts with as many misspelt words as another version of them has other words."""

from __future__ import annotations

import difflib
import string
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from .named_texts import column_of

FEWEST_LETTERS = 4
"""A word of so many letters has two inner ones that can change places."""


def misspelt(
    rows: Sequence[Mapping[str, Any]], *, column: str, like: str, into: str = "misspelt"
) -> list[dict[str, Any]]:
    """Return the rows with one more column: a text with a typing error in some of its words.

    It is an edit of the size of another one, such as into a dialect, that is no dialect. With k the
    number of words that differ between the two versions of a row, k words get an error: two
    neighbouring letters inside the word change places. Words and letters are chosen by a hash, so
    the edits are the same everywhere. Fewer words change only if fewer have four letters or more.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the texts that are edited.
    like
        Column with another version of each text, whose words are counted.
    into
        Name of the new column.

    Raises
    ------
    InvalidOption
        If a column is missing.

    References
    ----------
    Sidiropoulos and Kanoulas (2022), Analysing the robustness of dual encoders for dense retrieval
    against misspellings: two neighbouring letters that change places are one of their five errors.
    """
    pairs = zip(column_of(rows, column, "misspelt"), column_of(rows, like, "misspelt"), strict=True)
    texts = [_edited(text, words_changed(text, other)) for text, other in pairs]
    return [{**row, into: text} for row, text in zip(rows, texts, strict=True)]


def words_changed(first: str, second: str) -> int:
    """Return how many words are replaced, inserted or deleted between two texts.

    Of words that are replaced by more or fewer words, the larger number counts. Case and
    punctuation around a word do not count: many models do not see the one, and a typing error
    changes neither.
    """
    before, after = ([_bare(word) for word in text.split()] for text in (first, second))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return sum(
        max(i2 - i1, j2 - j1)
        for operation, i1, i2, j1, j2 in matcher.get_opcodes()
        if operation != "equal"
    )


def _bare(word: str) -> str:
    return word.strip(string.punctuation).casefold() or word


def _edited(text: str, number: int) -> str:
    words = text.split()
    places = [i for i, word in enumerate(words) if _swaps(word)]
    places.sort(key=lambda i: _hash(text, i))
    for i in places[:number]:
        swaps = _swaps(words[i])
        at = swaps[_hash(text, i) % len(swaps)]
        words[i] = words[i][:at] + words[i][at + 1] + words[i][at] + words[i][at + 2 :]
    return " ".join(words)


def _swaps(word: str) -> list[int]:
    """Return where two different letters inside a word may change places."""
    letters = [i for i, character in enumerate(word) if character.isalpha()]
    if len(letters) < FEWEST_LETTERS:
        return []
    return [
        i
        for i in range(letters[0] + 1, letters[-1] - 1)
        if word[i : i + 2].isalpha() and word[i] != word[i + 1]
    ]


def _hash(text: str, place: int) -> int:
    return int.from_bytes(sha256(f"{place} {text}".encode()).digest()[:8], "big")
