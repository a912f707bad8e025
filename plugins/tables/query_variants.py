"""Search queries in three variants, from a JSON object of topics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

GENDERS = {"F": "female", "M": "male"}


def query_variants(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per query with its three variants.

    The keys of the JSON object are topics such as `4_M`: a number and the gender that the topic is
    a stereotype of. Each query is a list `[neutral, own, other]`: without a gender, with the
    gender of the stereotype, and with the other gender.

    Parameters
    ----------
    rows
        Lines of the JSON file, in the column `line`.

    Returns
    -------
    list of dict
        `topic`, its number; `stereotype`, `female` or `male`; `neutral`; `own`; `other`.

    Raises
    ------
    InvalidOption
        If the lines are no such JSON object, or the column `line` is missing.
    """
    try:
        topics = json.loads("\n".join(row["line"] for row in rows))
        return [
            _row(topic, variants)
            for topic, queries in topics.items()
            for variants in queries.values()
        ]
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise InvalidOption(
            "query-variants: the column 'line' must hold a JSON object of topics such as '4_M', "
            f"with lists of three queries ({type(error).__name__}: {error})"
        ) from None


def _row(topic: str, variants: Sequence[str]) -> dict[str, Any]:
    neutral, own, other = variants
    number, _, gender = topic.partition("_")
    return {
        "topic": int(number),
        "stereotype": GENDERS[gender],
        "neutral": neutral,
        "own": own,
        "other": other,
    }
