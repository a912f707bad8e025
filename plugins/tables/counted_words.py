"""Texts with how often words of two groups occur in them, such as words for women and men."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption
from harness.letters import words

from .named_texts import column_of


def counted_words(
    rows: Sequence[Mapping[str, Any]],
    *,
    columns: tuple[str, ...],
    words_1: tuple[str, ...],
    words_2: tuple[str, ...],
    first_words: int | None = None,
) -> list[dict[str, Any]]:
    """Return the rows with a text, and the numbers of words of two groups in it.

    The new columns are `passage`, the text of the columns in one line; `count_1` and `count_2`; and
    `group`: 0 if the text has more words of the first group, 1 of the second, 2 otherwise. Words
    are compared in lower case, and `she's` counts as `she`.

    Parameters
    ----------
    rows
        Rows of a table.
    columns
        Columns whose texts are joined.
    words_1, words_2
        Words of either group.
    first_words
        Number of words at the beginning that are kept; None for all.

    Raises
    ------
    InvalidOption
        If a column is missing, a word is in both groups, or `first_words` is below 1.
    """
    first, second = ({word.lower() for word in words} for words in (words_1, words_2))
    if both := first & second:
        raise InvalidOption(f"counted-words: '{min(both)}' is in 'words_1' and in 'words_2'")
    if first_words is not None and first_words < 1:
        raise InvalidOption(f"counted-words: first_words={first_words}: must be at least 1")
    cells = zip(*(column_of(rows, column, "counted-words") for column in columns), strict=True)
    made = []
    for row, texts in zip(rows, cells, strict=True):
        passage = " ".join(" ".join(texts).split()[:first_words])
        plain = re.sub(r"\d", " ", passage.lower().replace("’", "'"))
        found = [word.split("'")[0] for word in words(plain, "'")]
        count_1, count_2 = (sum(word in group for word in found) for group in (first, second))
        group = 2 if count_1 == count_2 else int(count_2 > count_1)
        made.append(
            {**row, "passage": passage, "count_1": count_1, "count_2": count_2, "group": group}
        )
    return made
