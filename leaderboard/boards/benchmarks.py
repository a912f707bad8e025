"""Benchmarks of a board: what is ranked on each named set of its tasks.

`all` holds every ranked task of the board. Whether a row is usable was decided over all tasks of
the board, and is the same on each benchmark. Computes no effects of single rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

ALL = "all"
"""Name of the benchmark that holds every ranked task."""


@dataclass(frozen=True)
class Benchmark:
    """What is ranked on one named set of tasks of a board.

    Parameters
    ----------
    name
        `all`, or the name of a benchmark file.
    title, description, citation
        Of the file.
    version
        Of the file; null for `all`.
    tasks
        Names of its ranked tasks, in the order of `Board.tasks`. Tasks of the file without a
        record, of another version or without a rank are left out; `notices` names them.
    languages
        Of these tasks, sorted.
    ranks
        One line for each ranked model: `row`, `rank`, `rank_low`, `rank_high`, `usefulness_rank`,
        `usefulness_rank_low`, `usefulness_rank_high`, as in `Board.rows`, null where it is not
        ranked by this measure.
    mitigators
        Mitigators over models on these tasks, as `Board.mitigators`.
    findings
        One to three plain sentences for the first screen.
    notices
        What weakens the ranks on these tasks.
    """

    name: str
    title: str
    description: str
    citation: str
    version: int | None
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    ranks: pl.DataFrame
    mitigators: pl.DataFrame
    findings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
