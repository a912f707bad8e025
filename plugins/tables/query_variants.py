"""Search queries in three variants, from a file that is one JSON object of objects of lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

GENDERS = {"F": "female", "M": "male"}


def query_variants(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each query: how it is put with no gender, with the one and with the other.

    Topics are the keys of the object, such as `4_M`: the number of the topic and the gender that
    it is a stereotype of. Each query is `[neutral, own, other]`: without a gender, with that of
    the stereotype, with the other.

    Parameters
    ----------
    rows
        Lines of the file, in the column `line`.

    Returns
    -------
    list of dict
        `topic`, its number, `stereotype` (`female` or `male`), `neutral`, `own`, `other`.

    Raises
    ------
    InvalidOption
        If the lines are no such object.
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
            "query-variants: expected lines of an object of topics such as '4_M', with lists of "
            f"three queries ({type(error).__name__}: {error})"
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
