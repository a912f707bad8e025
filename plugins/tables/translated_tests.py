"""Association tests in another language, from English word lists and a list of translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption


def translated_tests(
    rows: Sequence[Mapping[str, Any]],
    *,
    tests: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> list[dict[str, str]]:
    """Return a row for each list of each test, with its words translated.

    A word without a translation is left out; `mended-tests` says which tests then remain.

    Parameters
    ----------
    rows
        `english` and `word`, the translation, which may be empty.
    tests
        English words by input, by test.

    Returns
    -------
    list of dict
        `test`, `input` and `words`, separated by `|`, as the table maker `mended-tests` reads them.

    Raises
    ------
    InvalidOption
        If the rows have no such columns, or no word of a list is translated.
    """
    try:
        word_of = {row["english"].strip(): row["word"].strip() for row in rows}
    except (KeyError, AttributeError) as error:
        raise InvalidOption(f"translated-tests: no column {error}") from None
    made = []
    for test, lists in tests.items():
        for name, english in lists.items():
            words = [word_of[word] for word in english if word_of.get(word)]
            if not words:
                raise InvalidOption(f"translated-tests: {test} has no translated word in {name}")
            made.append({"test": test, "input": name, "words": "|".join(words)})
    return made
