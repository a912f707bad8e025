"""Some rows of a table in place of all: encoding tens of thousands of texts takes long."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from harness.errors import InvalidOption


def sample(
    rows: Sequence[Mapping[str, Any]], *, n: int | None = None, by: str = "", seed: int = 0
) -> list[Mapping[str, Any]]:
    """Return `n` of the rows, in their order.

    Which ones is decided by a hash of the seed and of what is in the row, so that it is the same
    with every version of every library, whatever the order of the rows. Rows are drawn without
    replacement; equal rows are drawn in their order.

    Parameters
    ----------
    rows
        Rows of a table.
    n
        How many; none for all of them. A table that has fewer is left whole.
    by
        A column: each of its values keeps its share of the rows, to within one row.
    seed
        Another seed gives another sample.

    Raises
    ------
    InvalidOption
        If `n` is not positive, or there is no such column.
    """
    if n is None or n >= len(rows):
        return list(rows)
    if n < 1:
        raise InvalidOption(f"sample: n={n}: 1 row or more")
    if by and any(by not in row for row in rows):
        raise InvalidOption(f"sample: by={by}: the table has no column '{by}'")
    strata: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        strata[str(row[by]) if by else ""].append(i)
    lots = [_lot(seed, row) for row in rows]
    chosen: list[int] = []
    sizes = _shares({value: len(members) for value, members in strata.items()}, n)
    for value, members in strata.items():
        chosen += sorted(members, key=lambda i: lots[i])[: sizes[value]]
    return [rows[i] for i in sorted(chosen)]


def _lot(seed: int, row: Mapping[str, Any]) -> bytes:
    written = json.dumps([seed, dict(row)], sort_keys=True, default=str)
    return sha256(written.encode()).digest()


def _shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Return how many of `n` fall to each value, in proportion, by largest remainder."""
    total = sum(sizes.values())
    exact = {value: n * size / total for value, size in sizes.items()}
    shares = {value: int(share) for value, share in exact.items()}
    largest = sorted(sizes, key=lambda value: (shares[value] - exact[value], value))
    for value in largest[: n - sum(shares.values())]:
        shares[value] += 1
    return shares
