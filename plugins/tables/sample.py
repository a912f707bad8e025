"""Random sample of the rows of a table, because encoding many thousands of texts is slow."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from harness.errors import InvalidOption


def sample(
    rows: Sequence[Mapping[str, Any]],
    *,
    n: int | None = None,
    by: str = "",
    each: bool = False,
    seed: int = 0,
) -> list[Mapping[str, Any]]:
    """Return `n` random rows, in their original order.

    Rows are drawn without replacement by a hash of the seed and the cells of a row. The sample is
    therefore the same with all library versions and in any order of the rows. Of equal rows, the
    first ones are drawn.

    Parameters
    ----------
    rows
        Rows of a table.
    n
        Number of rows; None for all. A table with fewer rows is returned as it is.
    by
        Column to stratify by: each of its values keeps its share of the rows, to within one row.
    each
        Whether `n` is the number of rows of each value of `by`, instead of all rows.
    seed
        Seed of the sample.

    Raises
    ------
    InvalidOption
        If `n` is below 1, the column is missing, or `each` has no column.
    """
    if n is None or (n >= len(rows) and not each):
        return list(rows)
    if each and not by:
        raise InvalidOption("sample: each=true needs by=COLUMN, the column whose values count")
    if n < 1:
        raise InvalidOption(f"sample: n={n}: must be at least 1")
    if by and any(by not in row for row in rows):
        raise InvalidOption(f"sample: by={by}: the table has no column '{by}'")
    strata: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        strata[str(row[by]) if by else ""].append(i)
    hashes = [_hash(seed, row) for row in rows]
    chosen: list[int] = []
    if each:
        sizes = dict.fromkeys(strata, n)
    else:
        sizes = _shares({value: len(members) for value, members in strata.items()}, n)
    for value, members in strata.items():
        chosen += sorted(members, key=lambda i: hashes[i])[: sizes[value]]
    return [rows[i] for i in sorted(chosen)]


def _hash(seed: int, row: Mapping[str, Any]) -> bytes:
    content = json.dumps([seed, dict(row)], sort_keys=True, default=str)
    return sha256(content.encode()).digest()


def _shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Divide `n` among the values in proportion to their sizes, by largest remainder."""
    total = sum(sizes.values())
    exact = {value: n * size / total for value, size in sizes.items()}
    shares = {value: int(share) for value, share in exact.items()}
    largest = sorted(sizes, key=lambda value: (shares[value] - exact[value], value))
    for value in largest[: n - sum(shares.values())]:
        shares[value] += 1
    return shares
