"""Texts of an association test, from a JSON object of four sets (sent-bias)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

INPUTS = {
    "targ1": "targets_1",
    "targ2": "targets_2",
    "attr1": "attributes_1",
    "attr2": "attributes_2",
}
"""Input of the metric `weat` by key of the JSON object."""


def association_tests(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return one row per text of the four sets.

    Each value of the JSON object is an object with `category`, the name of the set, and
    `examples`, its texts.

    Parameters
    ----------
    rows
        Lines of the JSON file, in the column `line`.

    Returns
    -------
    list of dict
        `input`, such as `targets_1`; `category`; `text`.

    Raises
    ------
    InvalidOption
        If the lines are no such JSON object, or the column `line` is missing.

    References
    ----------
    May, Wang, Bordia, Bowman and Rudinger (2019), On measuring social biases in sentence encoders.
    """
    try:
        sets = json.loads("\n".join(row["line"] for row in rows))
        return [
            {"input": name, "category": sets[key]["category"], "text": text}
            for key, name in INPUTS.items()
            for text in sets[key]["examples"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidOption(
            f"association-tests: the column 'line' must hold a JSON object with {', '.join(INPUTS)}"
            f", each with 'category' and 'examples' ({type(error).__name__}: {error})"
        ) from None
