"""Association tests WEAT 1 and 2 from lists that speakers of a language wrote (CA-WEAT)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

from .mended_tests import INPUTS

TESTS = {
    1: ("FLOWERS", "INSECTS", "PLEASANT", "UNPLEASANT"),
    2: ("INSTRUMENTS", "WEAPONS", "PLEASANT", "UNPLEASANT"),
}
"""Columns of the four sets by number of the WEAT test."""
_LANGUAGE = re.compile("[a-z]+")
_COMMAS = re.compile("[,،，、]")


def native_tests(
    rows: Sequence[Mapping[str, Any]], *, language: str, most: int = 4
) -> list[dict[str, str]]:
    """Return a row for each list of WEAT 1 and 2 of the first speakers of a language.

    Parameters
    ----------
    rows
        A row for each speaker: `LANG`, such as `es1` or `de_AT1`; `TYPE`, of which only `original`
        counts; and the columns of the sets, words with commas between them.
    language
        The language, such as `de`, whatever its country.
    most
        Largest number of speakers.

    Returns
    -------
    list of dict
        `test`, such as `weat302` for WEAT 2 of the third speaker; `input`; `words`, separated by
        `|`, as the table maker `mended-tests` reads them.

    Raises
    ------
    InvalidOption
        If the rows have no such columns, or none is of the language.

    References
    ----------
    España-Bonet and Barrón-Cedeño (2022), The (Undesired) Attenuation of Human Biases by
    Multilinguality.
    """
    try:
        speakers = [
            row for row in rows if row["TYPE"] == "original" and _language(row["LANG"]) == language
        ]
        made = [
            {
                "test": f"weat{speaker * 100 + number}",
                "input": name,
                "words": "|".join(part.strip() for part in _COMMAS.split(row[column])),
            }
            for speaker, row in enumerate(speakers[:most], start=1)
            for number, columns in TESTS.items()
            for name, column in zip(INPUTS, columns, strict=True)
        ]
    except KeyError as error:
        raise InvalidOption(f"native-tests: no column {error}") from None
    if not made:
        raise InvalidOption(f"native-tests: no speaker of the language '{language}'")
    return made


def _language(code: str) -> str:
    match = _LANGUAGE.match(code)
    return match[0] if match else ""
