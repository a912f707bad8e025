"""A smoke run (`--limit N`) cuts each set and table of a task to its first N items.

Every input that is made of a table gets the same rows of it, so aligned inputs stay aligned.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from harness.task.schema import TaskFile
from harness.task.table_files import Row


def first(rows: Sequence[Row], limit: int, labels: Sequence[str] = ()) -> Sequence[Row]:
    """Return the first `limit` rows, with every label among them where that is possible.

    Parameters
    ----------
    rows
        The rows of a table or set.
    limit
        Largest number of rows to return.
    labels
        Columns of numbers. If they have no more than `limit` different values, the first rows of
        each value are taken in turn; the rows stay in their order.
    """
    by_label: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        by_label.setdefault(tuple(str(row.get(column)) for column in labels), []).append(i)
    if len(by_label) > limit:
        return rows[:limit]
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*by_label.values()))
    chosen = itertools.islice((i for i in in_turn if i is not None), limit)
    return [rows[i] for i in sorted(chosen)]


def labels(file: TaskFile) -> dict[str, list[str]]:
    """Return the columns of each table that inputs of a task read as numbers."""
    columns: dict[str, list[str]] = {}
    for _, source in file.sources():
        known = columns.setdefault(source.table or "", [])
        if source.number and source.column not in known:
            known.append(source.column)
    return columns
