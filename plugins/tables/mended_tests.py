"""Word lists of association tests, mended by stated rules: no word counts twice in a test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

INPUTS = ("targets_1", "targets_2", "attributes_1", "attributes_2")
FEWEST = 4
"""Words of a set: with three each, no permutation of the targets has a two-sided p below .1."""
_TEST = re.compile(r"weat(\d+)(b?)")

Lists = Mapping[str, Sequence[str]]
"""The words of a test by input."""


def mended_tests(
    rows: Sequence[Mapping[str, Any]],
    *,
    language: str = "",
    tests: tuple[str, ...] = (),
    corrections: tuple[tuple[str, str, str], ...] = (),
) -> list[dict[str, Any]]:
    """Return a row for each word of each test, mended.

    In this order: corrections are made; of words that are alike but for case the first is kept; a
    word that is in several lists of a test is taken out of all of them, because it says nothing of
    their difference; a test of which a list keeps fewer than four words is left out. Target lists
    of unequal length stay: neither the association nor its permutation test needs equal ones.

    Parameters
    ----------
    rows
        `test`, such as `weat7` or `weat12b`; `input`, such as `targets_1`; `words`, separated by
        `|`; with `language` also `language`.
    language
        Only rows of this language; all by default.
    tests
        Only these tests; all by default.
    corrections
        A test, a word of it, and the word to take in its place, or an empty text for none.

    Returns
    -------
    list of dict
        `test`; `number`, its number, with .5 for `b`; `input`; `text`.

    Raises
    ------
    InvalidOption
        If there are no such rows, a row has no such columns, a test lacks a list, or a correction
        names a word that its test does not have.
    """
    lists = word_lists(rows, language)
    if tests:
        if lacking := set(tests) - lists.keys():
            raise InvalidOption(f"mended-tests: no test {', '.join(sorted(lacking))}")
        lists = {test: lists[test] for test in tests}
    if unknown := {test for test, _, _ in corrections} - lists.keys():
        raise InvalidOption(f"mended-tests: no test {', '.join(sorted(unknown))} to correct")
    made = []
    for test, raw in lists.items():
        kept = _mended(_corrected(test, raw, corrections))
        if min(map(len, kept.values())) >= FEWEST:
            made += [
                {"test": test, "number": _number(test), "input": name, "text": word}
                for name in INPUTS
                for word in kept[name]
            ]
    if not made:
        raise InvalidOption(f"mended-tests: no test with {FEWEST} words in each list")
    return made


def word_lists(rows: Sequence[Mapping[str, Any]], language: str = "") -> dict[str, Lists]:
    """Return the lists of each test as they are, of one language or of all rows."""
    lists: dict[str, dict[str, Sequence[str]]] = {}
    try:
        for row in rows:
            if not language or row["language"] == language:
                words = [word.strip() for word in row["words"].split("|")]
                lists.setdefault(row["test"], {})[row["input"]] = [word for word in words if word]
    except (KeyError, AttributeError) as error:
        raise InvalidOption(f"mended-tests: no column {error}") from None
    if not lists:
        raise InvalidOption(f"mended-tests: no test of the language '{language}'")
    for test, of_test in lists.items():
        if set(of_test) != set(INPUTS):
            raise InvalidOption(f"mended-tests: {test} needs the inputs {', '.join(INPUTS)}")
    return dict(lists)


def _corrected(test: str, lists: Lists, corrections: Sequence[tuple[str, str, str]]) -> Lists:
    for of_test, word, instead in corrections:
        if of_test != test:
            continue
        if not any(word in words for words in lists.values()):
            raise InvalidOption(f"mended-tests: {test} has no word '{word}' to correct")
        lists = {
            name: [w for w in (instead if w == word else w for w in words) if w]
            for name, words in lists.items()
        }
    return lists


def _mended(lists: Lists) -> Lists:
    shared = _shared(lists)
    return {
        name: [word for key, word in _distinct(lists[name]) if key not in shared] for name in INPUTS
    }


def _distinct(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each word once, by its key: the first of those that are alike but for case."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(word.casefold(), word)
    yield from first.items()


def _shared(lists: Lists) -> set[str]:
    """Return the keys of the words that several lists of a test have."""
    counts = Counter(key for words in lists.values() for key, _ in _distinct(words))
    return {key for key, lists_with_it in counts.items() if lists_with_it > 1}


def _number(test: str) -> float:
    match = _TEST.fullmatch(test)
    if match is None:
        raise InvalidOption(f"mended-tests: expected a name such as 'weat7', but found '{test}'")
    return int(match[1]) + (0.5 if match[2] else 0.0)
