"""Sentences about one gender, each beside its gender-swapped version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption


def gender_swaps(
    rows: Sequence[Mapping[str, Any]], *, column: str = "text", parts: int = 2
) -> list[Mapping[str, Any]]:
    """Return a row for each distinct sentence about one gender, with its swapped version.

    The columns are `female` and `male`, the two versions, and `part`, which deals the rows out by
    their order: 0, 1, 0, 1 … Sentences without gendered words, and those with as many female as
    male ones, are left out. The words and the rule are those of the bias score.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column of the sentences.
    parts
        Number of parts.

    Raises
    ------
    InvalidOption
        If the column is missing, or `parts` is below 1.
    """
    from ..bias_score.scorer import swapped

    if any(column not in row for row in rows):
        raise InvalidOption(f"gender-swaps: column={column}: the table has no column '{column}'")
    if parts < 1:
        raise InvalidOption(f"gender-swaps: parts={parts}: must be at least 1")
    pairs = swapped(str(row[column]) for row in rows)
    sides = [
        (first, second) if side > 0 else (second, first)
        for first, second, side in zip(*pairs, strict=True)
        if side
    ]
    return [
        {"female": female, "male": male, "part": i % parts}
        for i, (female, male) in enumerate(sides)
    ]
