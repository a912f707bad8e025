"""What two sentences share, and what only one of them has (CrowS-Pairs)."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

from harness.errors import InvalidOption
from harness.letters import words

from .named_texts import column_of

OF_MARKS = {"KATAKANA-HIRAGANA": "KATAKANA", "IDEOGRAPHIC": "CJK"}
"""Script of the marks that lengthen a vowel or repeat a character."""
Units: TypeAlias = Literal["words", "scripts"]


def shared_words(
    rows: Sequence[Mapping[str, Any]], *, first: str, second: str, units: Units = "words"
) -> list[dict[str, Any]]:
    """Return the rows with the units that two sentences share, and those that only one has.

    The new columns are `shared`, `only_first` and `only_second`, and `pair`, the same number for
    rows whose sentences differ in the same units, whichever sentence has which, in any case and
    without punctuation. Rows of which a part is empty are left out, such as those where one
    sentence only adds a word.

    Parameters
    ----------
    rows
        Rows of a table.
    first, second
        Columns with the sentences.
    units
        `words` are separated by spaces. `scripts` are runs of characters of one script, for
        Japanese, which has no spaces: kanji, hiragana and katakana alternate.

    Raises
    ------
    InvalidOption
        If a column is missing, `units` is unknown, or no row is left.
    """
    if units not in ("words", "scripts"):
        raise InvalidOption(f"shared-words: units={units}: must be 'words' or 'scripts'")
    joined = " " if units == "words" else ""
    split = str.split if units == "words" else _scripts
    pairs = zip(
        column_of(rows, first, "shared-words"), column_of(rows, second, "shared-words"), strict=True
    )
    found: list[dict[str, Any]] = []
    numbers: dict[frozenset[str], int] = {}
    for row, (text_1, text_2) in zip(rows, pairs, strict=True):
        parts = [joined.join(part) for part in _parts(split(text_1), split(text_2))]
        if all(any(map(str.isalnum, part)) for part in parts):
            key = frozenset(_plain(part) for part in parts[1:])
            number = numbers.setdefault(key, len(numbers))
            columns = dict(zip(("shared", "only_first", "only_second"), parts, strict=True))
            found.append({**row, **columns, "pair": number})
    if not found:
        raise InvalidOption("shared-words: no two sentences share a part and differ in another")
    return found


def _parts(first: Sequence[str], second: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return what two sequences share, and what only the first and only the second has."""
    shared: list[str] = []
    only_first: list[str] = []
    only_second: list[str] = []
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for tag, start_1, end_1, start_2, end_2 in matcher.get_opcodes():
        if tag == "equal":
            shared += first[start_1:end_1]
        else:
            only_first += first[start_1:end_1]
            only_second += second[start_2:end_2]
    return shared, only_first, only_second


def _scripts(text: str) -> list[str]:
    return ["".join(run) for _, run in itertools.groupby(text, key=_script)]


def _script(character: str) -> str:
    """Return the script of a character, such as `CJK`, by its Unicode name."""
    if not character.isalnum():
        return character
    script = unicodedata.name(character, "?").split()[0]
    return OF_MARKS.get(script, script)


def _plain(text: str) -> str:
    return " ".join(words(text.casefold()))
