"""Paired comparison of two rows: of two models, two mitigators, or two runs of one.

Scores are paired by task, scenario, metric and score, and only if the task has the same content.
Over tasks it gives the mean difference of the distance to the ideal, with its interval.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.errors import UsageError
from harness.results import means, resampling, samples, scale
from harness.results.record import Record
from harness.results.record_parts import IntervalPart
from harness.results.tables import DIGITS, age

if TYPE_CHECKING:
    import polars as pl


Folders: TypeAlias = "tuple[Path | str | None, Path | str | None]"
Key = tuple[str, str, str, str]
"""Task, scenario, metric and score."""


@dataclass(frozen=True)
class Pair:
    """A score of both rows.

    Parameters
    ----------
    a, b
        The records.
    value_a, value_b
        Their values.
    interval
        Interval of the difference over paired items; None without samples.
    """

    a: Record
    b: Record
    value_a: float
    value_b: float
    interval: IntervalPart | None = None

    @property
    def difference(self) -> float:
        """The value of `b` less that of `a`."""
        return self.value_b - self.value_a

    @property
    def distances(self) -> tuple[float, float] | None:
        """What counts of both in a mean, such as the distance above the floor; None if neither."""
        a, b = self.a.counted, self.b.counted
        return None if a is None or b is None else (a, b)

    @property
    def nearer(self) -> str:
        """Which of the two is nearer to the ideal: `a`, `b`, or empty if neither."""
        loss_a = round(scale.loss(self.value_a, self.a.ideal, self.a.bounds), DIGITS)
        loss_b = round(scale.loss(self.value_b, self.a.ideal, self.a.bounds), DIGITS)
        return "" if loss_a == loss_b else "a" if loss_a < loss_b else "b"


@dataclass(frozen=True)
class Mean:
    """Means over families of what counts, such as distances above the floor.

    Parameters
    ----------
    measures
        `bias` or `usefulness`.
    n
        Number of scores that count in both rows.
    a, b
        Mean of each row.
    difference
        Mean of the paired differences, `b` less `a`: negative if `b` is nearer to the ideal.
    interval
        Interval of the difference over families; None with too few families.
    """

    measures: str
    n: int
    a: float
    b: float
    difference: float
    interval: IntervalPart | None = None


@dataclass(frozen=True)
class Comparison:
    """Two rows, score by score.

    Parameters
    ----------
    pairs
        Scores that both have.
    means
        Means over the pairs, for bias and for usefulness.
    left_out
        Scores of one row only, void ones, and those of different versions of a task: the name of
        the task, and why.
    """

    pairs: tuple[Pair, ...] = field(repr=False)  # whole records
    means: tuple[Mean, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per pair; its keys are the columns of the data frame."""
        return [
            {
                "model_a": pair.a.model.name,
                "mitigator_a": pair.a.mitigator.label,
                "model_b": pair.b.model.name,
                "mitigator_b": pair.b.mitigator.label,
                "task": pair.a.task.name,
                "measures": pair.a.task.measures,
                "scenario": pair.a.scenario,
                "metric": pair.a.metric,
                "score": pair.a.score,
                "ideal": str(pair.a.ideal),
                "a": pair.a.value,
                "b": pair.b.value,
                "difference": pair.difference,
                "low": pair.interval.low if pair.interval else None,
                "high": pair.interval.high if pair.interval else None,
                "distance_a": pair.distances[0] if pair.distances else None,
                "distance_b": pair.distances[1] if pair.distances else None,
                "nearer": pair.nearer,
            }
            for pair in self.pairs
        ]

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with one row per pair."""
        import polars as pl

        return pl.DataFrame(self.rows())


def compare(
    a: Iterable[Record],
    b: Iterable[Record],
    *,
    folder: Path | str | None = None,
    folder_b: Path | str | None = None,
) -> Comparison:
    """Compare two rows, score by score; of several records of a score the newest counts.

    Parameters
    ----------
    a, b
        Records of one model under one mitigator each, such as
        `records.select(mitigator="none")` of the records of one model.
    folder, folder_b
        The results folder, and that of `b` if it is another one. Where both records of a pair have
        samples there or in memory, the difference has an interval over items.

    Raises
    ------
    UsageError
        If a side has records of several models or mitigators.
    """
    left, right = _by_key(a), _by_key(b)
    folders = (folder, folder_b or folder)
    pairs: list[Pair] = []
    left_out: list[tuple[str, str]] = []
    for key in dict.fromkeys([*left, *right]):
        pair = _pair(left.get(key), right.get(key), folders)
        if isinstance(pair, str):
            left_out.append((key[0], pair))
        else:
            pairs.append(pair)
    both = [_mean(measures, pairs) for measures in ("bias", "usefulness")]
    return Comparison(tuple(pairs), tuple(mean for mean in both if mean), tuple(left_out))


def _by_key(records: Iterable[Record]) -> dict[Key, Record]:
    records = list(records)
    rows = {(record.model.name, record.mitigator.label) for record in records}
    if len(rows) > 1:
        raise UsageError(
            f"a side of a comparison is one model under one mitigator; here are {len(rows)} of "
            "them, and `select` chooses"
        )
    # Of several weights that had one name, those of the last run count: they are never mixed.
    runs = [(record.created, record.model.fingerprint) for record in records]
    latest = max(runs, default=("", ""))[1]
    newest: dict[Key, Record] = {}
    for record in records:
        if record.model.fingerprint != latest:
            continue
        key = (record.task.name, record.scenario, record.metric, record.score)
        if key not in newest or age(newest[key]) <= age(record):
            newest[key] = record
    return newest


def _pair(a: Record | None, b: Record | None, folders: Folders) -> Pair | str:
    """Return the pair of two records, or why they are none."""
    if a is None or b is None:
        return "only one of the two has it"
    if a.task.digest != b.task.digest:
        return "the versions or data of the task differ"
    if a.value is None or b.value is None:
        return "a value is void"
    rows = [_samples(record, folder) for record, folder in zip((a, b), folders, strict=True)]
    interval = resampling.over_items(*rows) if all(rows) else None
    return Pair(a, b, a.value, b.value, interval)


def _samples(record: Record, folder: Path | str | None) -> Sequence[Mapping[str, Any]]:
    """Return the samples of a record: those in its folder or in memory; none if it has none."""
    if folder is not None:
        is_there = samples.exist(Path(folder), record)
        return record.read_samples(folder) if is_there else ()
    with contextlib.suppress(UsageError):  # they are in a folder that the caller did not name
        return record.read_samples()
    return ()


def _mean(measures: str, pairs: Sequence[Pair]) -> Mean | None:
    lines = [{"a": pair.a, "b": pair.b} for pair in pairs if pair.a.task.measures == measures]
    families = list(means.by_family(lines, ("a", "b")).values())
    if not families:
        return None
    import numpy as np

    a, b = (np.array([fmean(v[side] for v in family) for family in families]) for side in "ab")
    return Mean(
        measures=measures,
        n=sum(map(len, families)),
        a=float(a.mean()),
        b=float(b.mean()),
        difference=float((b - a).mean()),
        interval=resampling.over_families(b - a),
    )
