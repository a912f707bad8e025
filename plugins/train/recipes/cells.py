"""The columns of a recipe: values, tests paired by seed, and what the seeds alone give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeAlias

from harness.results import resampling
from harness.results.record import IntervalPart, Record, samples_exist
from harness.study.significance import holm

from . import over_seeds
from .recipe import TASKS, Recipe
from .summary import (
    MEAN_ABS,
    MEAN_D,
    OVERALL,
    CellPart,
    DifferencePart,
    Group,
    MeasurePart,
    NoisePart,
    RunsPart,
)

Scores: TypeAlias = Mapping[tuple[str, int], Mapping[str, Record]]
"""The record of each task that counts, by row and seed and by the name of the task."""
Values: TypeAlias = dict[str, dict[str, tuple[float | None, ...]]]
"""By measure and row, a value for each seed."""
ByRow: TypeAlias = Mapping[str, Sequence[float | None]]
"""A value of a measure for each seed, by row."""


@dataclass(frozen=True)
class Columns:
    """The columns of a recipe's tables, with their values, tests and notes."""

    measures: tuple[MeasurePart, ...]
    cells: tuple[CellPart, ...]
    noise: tuple[NoisePart, ...]
    notes: tuple[str, ...]


def columns(recipe: Recipe, scores: Scores, folder: Path) -> Columns:
    """Return the measures, cells and notes of a recipe.

    Parameters
    ----------
    recipe
        The recipe.
    scores
        The records.
    folder
        The results folder, which has the samples.
    """
    return _Columns(recipe, scores, folder).all()


class _Columns:
    def __init__(self, recipe: Recipe, scores: Scores, folder: Path) -> None:
        self.recipe, self.scores, self.folder = recipe, scores, folder
        self.rows, self.seeds = tuple(recipe.file.rows), recipe.file.seeds
        self.notes: list[str] = []

    def all(self) -> Columns:
        values: Values = {}
        measures: list[MeasurePart] = []
        for group in TASKS:
            for task in getattr(self.recipe.file, group):
                measures.append(self._measure(task, group))
                values[task] = {row: self._values(row, task) for row in self.rows}
        for mean in self._means(values):
            measures.append(mean)
            absolute = mean.measure == MEAN_ABS
            values[mean.measure] = {
                row: self._averages(values, row, mean.tasks, absolute=absolute) for row in self.rows
            }
        tasks = [measure for measure in measures if not measure.is_mean]
        families = [
            [measure for measure in tasks if measure.group != "usefulness"],
            [measure for measure in tasks if measure.group == "usefulness"],
            *([measure] for measure in measures if measure.is_mean),
        ]
        cells = tuple(cell for family in families for cell in self._cells(family, values))
        noise = [
            part
            for measure in measures
            if measure.is_mean and (part := self._noise(measure, values[measure.measure]))
        ]
        order = {group: i for i, group in enumerate(TASKS)}
        measures.sort(key=lambda measure: order[measure.group])
        return Columns(tuple(measures), cells, tuple(noise), tuple(self.notes))

    def _measure(self, task: str, group: Group) -> MeasurePart:
        record = next((of[task] for of in self.scores.values() if task in of), None)
        if record is None:
            return MeasurePart(measure=task, group=group)
        digests = {of[task].task.digest for of in self.scores.values() if task in of}
        if len(digests) > 1:
            self.notes.append(f"{task}: the models have different versions or data of this task")
        return MeasurePart(measure=task, group=group, score=record.score, digest=record.task.digest)

    def _values(self, row: str, task: str) -> tuple[float | None, ...]:
        records = [self.scores.get((row, seed), {}).get(task) for seed in self.seeds]
        return tuple(record.value if record else None for record in records)

    def _means(self, values: Values) -> list[MeasurePart]:
        parts: list[MeasurePart] = []
        groups: list[tuple[Group, tuple[str, ...]]] = [
            ("bias", (MEAN_D, MEAN_ABS)),
            ("usefulness", (OVERALL,)),
        ]
        for group, names in groups:
            tasks = getattr(self.recipe.file, group)
            complete = tuple(task for task in tasks if self._is_complete(values[task]))
            if left_out := [task for task in tasks if task not in complete]:
                listed = ", ".join(left_out)
                self.notes.append(f"{' and '.join(names)} without {listed}: not all models have it")
            if complete:
                parts += [MeasurePart(measure=name, group=group, tasks=complete) for name in names]
        return parts

    def _is_complete(self, by_row: ByRow) -> bool:
        return all(
            value is not None
            for row, by_seed in by_row.items()
            for seed, value in zip(self.seeds, by_seed, strict=True)
            if (row, seed) in self.scores
        )

    def _averages(
        self, values: Values, row: str, tasks: Sequence[str], *, absolute: bool
    ) -> tuple[float | None, ...]:
        averages: list[float | None] = []
        for i in range(len(self.seeds)):
            known = [value for task in tasks if (value := values[task][row][i]) is not None]
            known = [abs(value) for value in known] if absolute else known
            averages.append(fmean(known) if known else None)
        return tuple(averages)

    def _cells(self, measures: Sequence[MeasurePart], values: Values) -> list[CellPart]:
        """Return the cells of measures that Holm's correction takes as one family."""
        tests = {
            (row, measure.measure): over_seeds.paired(self._changes(row, values[measure.measure]))
            for measure in measures
            for row in self.rows
        }
        p_values = {key: t.p_value for key, t in tests.items() if t and t.p_value is not None}
        adjusted = dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))
        cells = []
        for measure in measures:
            for row in self.rows:
                key, by_row = (row, measure.measure), values[measure.measure]
                cells.append(self._cell(row, measure, by_row, tests[key], adjusted.get(key)))
        return cells

    def _changes(self, row: str, by_row: ByRow) -> list[float]:
        """Return the changes of a row, one for each seed; empty for one that is not compared."""
        other = self.recipe.compared_with(row)
        if other == row:
            return []
        pairs = zip(by_row[row], by_row[other], strict=True)
        return [a - b for a, b in pairs if a is not None and b is not None]

    def _cell(
        self,
        row: str,
        measure: MeasurePart,
        by_row: ByRow,
        test: over_seeds.Paired | None,
        p_holm: float | None,
    ) -> CellPart:
        mean, sd = _spread(by_row[row])
        difference = None
        if test is not None:
            other = self.recipe.compared_with(row)
            before, spread = _spread(by_row[other])
            is_clear = before is not None and abs(before) > (spread or 0.0)
            difference = DifferencePart(
                n=test.n,
                mean=test.mean,
                sd=test.sd,
                low=test.low,
                high=test.high,
                p_value=test.p_value,
                p_holm=p_holm,
                percent=100 * test.mean / abs(before) if before and is_clear else None,
                items=None if measure.is_mean else self._items(row, other, measure.measure),
            )
        return CellPart(
            row=row,
            measure=measure.measure,
            values=tuple(by_row[row]),
            mean=mean,
            sd=sd,
            difference=difference,
        )

    def _items(self, row: str, other: str, task: str) -> IntervalPart | None:
        """Return an interval over the items of a task, of contributions averaged over the seeds."""
        seeds = [self._seeds_with_samples(side, task) for side in (other, row)]
        if not seeds[0] or seeds[0] != seeds[1]:
            return None
        sides = [self._averaged_samples(side, task, seeds[0]) for side in (other, row)]
        return resampling.over_items(*sides) if all(sides) else None

    def _seeds_with_samples(self, row: str, task: str) -> list[int]:
        records = {seed: self.scores.get((row, seed), {}).get(task) for seed in self.seeds}
        return [
            seed
            for seed, record in records.items()
            if record and samples_exist(self.folder, record)
        ]

    def _averaged_samples(self, row: str, task: str, seeds: Sequence[int]) -> list[dict[str, Any]]:
        """Return samples with contributions averaged over seeds; none if their items differ."""
        by_seed = [self.scores[row, seed][task].read_samples(self.folder) for seed in seeds]
        if len({len(rows) for rows in by_seed}) > 1:
            return []
        averaged = []
        for same in zip(*by_seed, strict=True):
            parts = [row["contribution"] for row in same if row.get("contribution") is not None]
            mean = fmean(parts) if len(parts) == len(same) else None
            averaged.append({**same[0], "contribution": mean})
        return averaged

    def _noise(self, measure: MeasurePart, by_row: ByRow) -> NoisePart | None:
        known = {row: [v for v in values if v is not None] for row, values in by_row.items()}
        first = known[self.recipe.baseline]
        alike = [row for row in self.rows if self.recipe.has_base_of_first(row)]
        other_seeds = over_seeds.of_other_seeds(known[row] for row in alike)
        if other_seeds is None or not first:
            return None
        one_seed = over_seeds.of_one_seed(self._changes(row, by_row) for row in alike)
        mean = fmean(first)
        is_clear = abs(mean) > other_seeds.sd
        claimed = self.recipe.file.claimed_change if measure.group == "bias" else None

        def runs(noise: over_seeds.Noise) -> RunsPart:
            chance = noise.chance(claimed / 100 * mean) if claimed and is_clear else None
            return RunsPart(sd=noise.sd, df=noise.df, chance=chance)

        return NoisePart(
            measure=measure.measure,
            mean=mean,
            is_clear=is_clear,
            claimed=claimed,
            other_seeds=runs(other_seeds),
            one_seed=runs(one_seed) if one_seed else None,
            smallest_change=one_seed.smallest_change(len(self.seeds)) if one_seed else None,
        )


def _spread(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return mean and standard deviation of the values that there are."""
    known = [value for value in values if value is not None]
    mean = fmean(known) if known else None
    return mean, stdev(known) if len(known) > 1 else None
