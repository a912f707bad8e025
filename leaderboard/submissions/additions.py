"""The new rows of a submission, with two reference models: the numbers for a maintainer.

The references are the two models of the base with most tasks, or else the shipped models of random
and of constant vectors. All numbers are in the units of a board. The mean of a model is over its
own tasks that count; its difference from a reference is over the tasks that count in both. That of
a mitigated row is the mean of its model and its change, if the records of the model are there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness import names
from harness.results.folder import read
from harness.results.record import Record
from harness.results.resampling import TaskMeans, task_means

from ..boards import references
from .submission import Base

COUNTED = ("bias", "usefulness")
"""What has a mean."""
FEWEST = 2
"""Fewest tasks of both that a reference is shown for."""


@dataclass(frozen=True)
class Row:
    """A model under a mitigator.

    Parameters
    ----------
    model, mitigator
        Labels.
    primary
        Its primary records by task.
    records
        Number of all its records.
    fingerprint
        Fingerprint of the model.
    """

    model: str
    mitigator: str
    primary: dict[str, Record]
    records: int
    fingerprint: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it has no mitigator."""
        return self.mitigator == names.NONE

    @property
    def label(self) -> str:
        """The model, and the mitigator unless it is `none`."""
        return self.model if self.is_plain else f"{self.model} + {self.mitigator}"


@dataclass(frozen=True)
class Mean:
    """The mean of a new row, and its difference from that of a reference.

    Parameters
    ----------
    measures
        `bias` or `usefulness`.
    value
        The mean of the new row, over its tasks that count.
    tasks, of
        Number of its tasks that count, and of all.
    reference
        Label of the reference; of a mitigated row its model.
    difference
        The mean difference, the new row less the reference, over the tasks that count in both.
    shared
        Number of these tasks.
    """

    measures: str
    value: float
    tasks: int
    of: int
    reference: str
    difference: float
    shared: int


@dataclass(frozen=True)
class Addition:
    """A new row with its references.

    Parameters
    ----------
    row
        The row.
    references
        Two rows of the same kind of embedder, or fewer where there are none.
    plain
        The row of its model without a mitigator; None if it is not known, or is this row.
    """

    row: Row
    references: tuple[Row, ...]
    plain: Row | None = None

    @property
    def means(self) -> tuple[Mean, ...]:
        """The means of bias and of usefulness: with each reference that shares two tasks.

        A mitigated row has the mean of its model and its change, as on a board.
        """
        beside = self.references if self.plain is None else (self.plain,)
        return tuple(
            mean
            for measures in COUNTED
            for reference in beside
            for mean in self._means(measures, reference)
        )

    def _means(self, measures: str, reference: Row) -> Iterator[Mean]:
        own, both = (_task_means(measures, self.row, *rows) for rows in ((), (reference,)))
        value, difference = own.mean(_LABELS[0]), both.change(_LABELS[1], _LABELS[0])
        if reference is self.plain and difference is not None:
            before = _task_means(measures, reference).mean(_LABELS[0])
            value = None if before is None else before + difference
        if value is not None and difference is not None and both.n >= FEWEST:
            yield Mean(measures, value, own.n, own.of, reference.label, difference, both.n)

    def lines(self) -> list[tuple[str, str, tuple[Record | None, ...]]]:
        """Return a line for each task: its name, its score, and the record of each row.

        Tasks of bias come first, then those of usefulness, then controls.
        """
        rows = (self.row, *self.references)
        return [
            (task, record.score, tuple(row.primary.get(task) for row in rows))
            for task, record in sorted(
                self.row.primary.items(), key=lambda item: (_ORDER[item[1].task.measures], item[0])
            )
        ]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {
            "model": self.row.model,
            "mitigator": self.row.mitigator,
            "records": self.row.records,
            "references": [row.label for row in self.references],
            "means": [vars(mean) for mean in self.means],
            "tasks": [
                {
                    "task": task,
                    "score": score,
                    "values": [record and record.value for record in of_rows],
                    "measures": [record and measure(record) for record in of_rows],
                    "leaks": [bool(record and record.is_leak) for record in of_rows],
                }
                for task, score, of_rows in self.lines()
            ],
        }


_LABELS = ("new", "reference")
_ORDER = {"bias": 0, "usefulness": 1, "control": 2}


def _task_means(measures: str, *rows: Row) -> TaskMeans:
    """Return what counts of the tasks of a row, and of a reference if there is one."""
    lines = [
        {
            label: row.primary[task]
            for label, row in zip(_LABELS, rows, strict=False)
            if task in row.primary
        }
        for task, record in rows[0].primary.items()
        if record.task.measures == measures
    ]
    return task_means(lines, _LABELS[: len(rows)])


def measure(record: Record) -> float | None:
    """Return what a board shows of a score.

    Of bias it is the gap over the yardstick, 0 is fair; of usefulness 1 less the distance to the
    ideal, 1 is the ideal; of a control the score itself. None if the score has no such number.
    """
    if record.task.measures == "bias":
        return None if record.ratio is None else record.ratio.value
    if record.task.measures == "usefulness":
        return None if record.distance is None else 1 - record.distance
    return record.value


def additions(records: Sequence[Record], base: Base) -> list[Addition]:
    """Return each new row of a submission, with two references of its kind; models come first.

    Parameters
    ----------
    records
        The new records.
    base
        The repository that they join.
    """
    by_kind: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_kind[record.model.kind].append(record)
    return [
        Addition(row, references, None if row.is_plain else plain.get(row.fingerprint))
        for kind, of_kind in by_kind.items()
        for prints in [{r.model.fingerprint for r in of_kind}]
        for references in [_references(base, kind, prints)]
        for rows in [_rows(of_kind)]
        for plain in [
            {row.fingerprint: row for row in (*_known(base, prints), *rows) if row.is_plain}
        ]
        for row in sorted(rows, key=lambda row: not row.is_plain)
    ]


def _known(base: Base, prints: set[str]) -> tuple[Row, ...]:
    """Return the rows that the base has of some models without a mitigator."""
    import polars as pl

    frame = base.claims.frame.select(pl.col("fingerprint", "file").cast(pl.String))
    files = frame.filter(pl.col("fingerprint").is_in(list(prints)))["file"].drop_nulls().unique()
    return _rows(_plain(_of_files(files.sort()), base.ids)) if len(files) else ()


def _references(base: Base, kind: str, new: set[str]) -> tuple[Row, ...]:
    """Return the two models of the base with most tasks, or else the shipped ones."""
    import polars as pl

    if base.tree is not None:
        frame = base.claims.frame.select(
            pl.col("kind", "fingerprint", "label", "file").cast(pl.String), "primary"
        ).filter(
            (pl.col("kind") == kind) & (pl.col("label") == names.NONE) & pl.col("primary"),
            ~pl.col("fingerprint").is_in(list(new)),
            pl.col("file").is_not_null(),
        )
        most = frame.group_by("fingerprint").agg(pl.len(), pl.col("file").unique())
        chosen = most.sort("len", "fingerprint", descending=[True, False]).head(2)
        if len(chosen) == 2:
            files = [file for files in chosen["file"].to_list() for file in files]
            return _rows(_plain(_of_files(files), base.ids))
    return _rows(record for record in references.shipped() if record.model.kind == kind)


def _of_files(files: Iterable[str]) -> list[Record]:
    from pathlib import Path

    return list(read([Path(file) for file in files]).records)


def _plain(records: Iterable[Record], ids: frozenset[str]) -> list[Record]:
    return [r for r in records if r.mitigator.label == names.NONE and r.id in ids]


def _rows(records: Iterable[Record]) -> tuple[Row, ...]:
    """Return the rows of records, in the order in which they come."""
    primary: defaultdict[tuple[str, str, str], dict[str, Record]] = defaultdict(dict)
    counts: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        key = record.model.name, record.model.fingerprint, record.mitigator.label
        counts[key] += 1
        if record.primary:
            primary[key][record.task.name] = record
    return tuple(Row(key[0], key[2], primary[key], n, key[1]) for key, n in counts.items())
