"""Means over tasks, as on a leaderboard: each family of tasks has one vote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from harness.results.record import Record

NAMES = {"bias": "mean above the floor", "usefulness": "mean distance"}
"""Name of the mean of each kind of task."""
HELP = {
    "mean above the floor": "less what chance shows; 0 is no bias",
    "mean distance": "0 at the ideal, 1 at the farthest value",
}
"""What each mean is; the lower, the better."""


Values = dict[str, float]
"""What counts, by column."""


def by_family(
    lines: Sequence[Mapping[str, Record]], columns: Sequence[str]
) -> dict[str, list[Values]]:
    """Return by family what counts of each task that counts in all columns.

    Parameters
    ----------
    lines
        One line a task: its record of each column.
    columns
        The columns. A task counts if `Record.counted` has a value in each, and if either all
        records have a floor or none has, those `undone` aside: older versions wrote no floor.
    """
    families: defaultdict[str, list[Values]] = defaultdict(list)
    for line in lines:
        counted = {column: record.counted for column, record in line.items()}
        known = {column: value for column, value in counted.items() if value is not None}
        has_floor = {record.floor is not None for record in line.values() if not record.undone}
        if len(known) == len(columns) and len(has_floor) <= 1:
            families[next(iter(line.values())).family].append(known)
    return dict(families)


def over_families(
    lines: Sequence[Mapping[str, Record]], columns: Sequence[str]
) -> tuple[Values, int] | None:
    """Return the mean of each column over the tasks that count in all of them, and their number.

    None with fewer than two tasks that count. Parameters as in `by_family`.
    """
    families = by_family(lines, columns)
    n = sum(map(len, families.values()))
    if n < 2:
        return None
    means = {
        column: fmean(fmean(values[column] for values in family) for family in families.values())
        for column in columns
    }
    return means, n
