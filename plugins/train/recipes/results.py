"""The result of a recipe: its finished steps and the records of its models, as plain data.

`run_recipe` runs what is left of a recipe and returns its `Summary`: the values of each row and
seed, tests paired by seed, and what the seeds alone give. `recipe_tables` makes texts of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeAlias

from pydantic import Field

from harness import folders, metrics
from harness.progress import Progress
from harness.registry.registry import Registry
from harness.results import jsonl, resampling
from harness.results.record import Finite, IntervalPart, Part, Record, samples_exist
from harness.results.tables import age
from harness.study.cells import RESOLUTION
from harness.study.significance import holm, summarised

from .recipe import (
    HUB,
    TASKS,
    Group,
    Method,
    Recipe,
    StepRecord,
    label,
)
from .steps import RESULTS, do_steps

CONFIDENCE = 0.95
"""Level of all intervals over seeds."""
EFFECT_SIZE = "effect_size"
MEASUREMENT = ("task", "scenario", "metric")
"""Parts of a record that are equal for all scores of one measurement."""
SCORES = ("accuracy", "spearman")
"""The score of training that tables show: the first that a model has."""
MEAN_D, MEAN_ABS, OVERALL = "mean d", "mean |d|", "overall"
"""Means over the bias tasks, with and without sign, and over the tasks of usefulness."""


class RowPart(Part):
    """A row: a corpus and what the encoders are built on."""

    row: str
    """Label of the row."""
    corpus: str
    """Name of its corpus: `original`, `sub90`, `aug90` …"""
    method: Method
    """How the corpus was made; `random` is a control of `subtract`."""
    percentile: float | None = None
    """Percentile of the bias score above which pairs were taken out or added."""
    base: str
    """Label of the model under the encoders."""
    mitigator: str = ""
    """Mitigator of the word vectors."""
    compared_with: str | None = None
    """The row that it is compared with; null if others are compared with it."""
    pairs: dict[str, int] = Field(default_factory=dict)
    """Number of pairs by part of the corpus: `train`, `dev`, `test`."""
    dev: tuple[Finite | None, ...] = ()
    """Score of training on the development part, by seed."""
    test: tuple[Finite | None, ...] = ()
    """Score of training on the test part, by seed."""
    models: tuple[str | None, ...] = ()
    """Fingerprint of each seed's model; its label in records is `ROW-seedSEED`."""


class MeasurePart(Part):
    """A column: an effect size or the primary score of a task, or a mean over tasks."""

    measure: str
    """Name of the task, or of the mean."""
    group: Group
    """What it measures."""
    score: str = ""
    """Name of the score of a task."""
    digest: str | None = None
    """Digest of the task with its data; null for a mean, and if no model has it."""
    tasks: tuple[str, ...] = ()
    """For a mean, the tasks that all models have."""

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean over tasks."""
        return bool(self.tasks)


class DifferencePart(Part):
    """A row less the row that it is compared with, seed by seed.

    Without an interval with one seed, and if all differences are equal but not 0: it would have no
    width. If all are 0, the interval is [0, 0] and p is 1.
    """

    n: int
    """Number of seeds that both have."""
    mean: Finite
    """Mean difference."""
    sd: Finite | None = None
    """Standard deviation of the differences."""
    low: Finite | None = None
    """Lower end of the 95 % interval by Student's t over the seeds, with n − 1 degrees of
    freedom."""
    high: Finite | None = None
    """Upper end."""
    p_value: Finite | None = None
    """Two-sided p-value of the same test."""
    p_holm: Finite | None = None
    """The p-value after Holm's correction: of a mean over the rows, of a task over all cells of its
    table."""
    percent: Finite | None = None
    """The mean difference in percent of the other row's mean; null if that mean is within its own
    spread."""
    items: IntervalPart | None = None
    """Interval over the words or texts of the task, for these very models."""


class CellPart(Part):
    """A row's values of a measure."""

    row: str
    """Label of the row."""
    measure: str
    """Name of the measure."""
    values: tuple[Finite | None, ...]
    """By seed."""
    mean: Finite | None
    """Mean over the seeds."""
    sd: Finite | None
    """Standard deviation over the seeds, with n − 1; null with one seed."""
    difference: DifferencePart | None = None
    """Its change."""


class RunsPart(Part):
    """How much two single runs differ that differ in nothing but chance."""

    sd: Finite
    """Standard deviation of their difference."""
    df: int
    """Its degrees of freedom."""
    chance: Finite | None = None
    """How often they differ by at least the change that the source claims."""

    def chance_of(self, difference: float) -> float:
        """Return how often they differ at least by this, in either direction."""
        if self.sd == 0:
            return float(difference == 0)
        return float(metrics.t_p_value(difference / self.sd, self.df))

    def smallest_change(self, n: int) -> float | None:
        """Return the mean change at which an interval over n seeds just excludes 0."""
        if n < 2:
            return None
        return float(metrics.t_quantile(CONFIDENCE, n - 1)) * self.sd / math.sqrt(n)


class NoisePart(Part):
    """What the seeds alone do to a mean, over the rows that have the first row's base."""

    measure: str
    """Name of the mean."""
    mean: Finite
    """Mean of the first row."""
    is_clear: bool
    """Whether that mean is beyond the noise, so that percents of it say something."""
    claimed: Finite | None = None
    """The change that the source claims, in percent of the mean."""
    other_seeds: RunsPart
    """Two runs on one corpus with different seeds."""
    one_seed: RunsPart | None = None
    """Two rows with the same seed, from the spread of their changes over the seeds."""
    smallest_change: Finite | None = None
    """Mean change at which the interval over this number of seeds just excludes 0."""


class Summary(Part):
    """The result of a recipe."""

    recipe: str
    """Name of the recipe."""
    version: int
    """Version of its file."""
    title: str
    """Its title."""
    source: str = ""
    """The paper that it repeats."""
    corpus: str
    """Label of the corpus."""
    scored_by: str
    """Label of the model whose bias scores chose the pairs."""
    training: dict[str, str | int | float | None]
    """Options of training that differ from their defaults."""
    seeds: tuple[int, ...]
    """Seeds of training."""
    rows: tuple[RowPart, ...]
    """The rows in order."""
    measures: tuple[MeasurePart, ...]
    """The columns in order, tasks before means."""
    cells: tuple[CellPart, ...]
    """Values of each row and measure."""
    noise: tuple[NoisePart, ...] = ()
    """What the seeds alone do to each mean."""
    notes: tuple[str, ...] = ()
    """Caveats, a line each."""

    def cell(self, row: str, measure: str) -> CellPart:
        """Return the cell of a row and a measure."""
        return next(cell for cell in self.cells if (cell.row, cell.measure) == (row, measure))

    def columns(self, group: Group) -> list[MeasurePart]:
        """Return the measures of a group."""
        return [measure for measure in self.measures if measure.group == group]


@dataclass(frozen=True)
class RecipeRun:
    """A recipe that has run: its result, its steps by name, and how many of them are new."""

    summary: Summary
    steps: Mapping[str, StepRecord]
    new: int
    notices: tuple[str, ...]

    @property
    def missed(self) -> dict[str, str]:
        """Tasks that did not run on some model, with the reason."""
        return _missed(self.steps)


def run_recipe(
    recipe: Recipe,
    folder: Path,
    *,
    registry: Registry,
    progress: Progress,
) -> RecipeRun:
    """Run a recipe, or what is left of it.

    Each finished step is noted in `steps.jsonl`. The same call goes on after an interruption of
    any kind. Rows, seeds and tasks may be added to the recipe later; finished steps are kept.

    Parameters
    ----------
    recipe
        The recipe.
    folder
        Where corpora, models, records and tables are written.
    registry
        Where names are looked up.
    progress
        Where progress is shown.

    Raises
    ------
    UsageError
        If a finished step in the folder was done with other settings, or the folder has files of
        something else.
    Unavailable
        If the extra `train` is not installed.
    HarnessError
        If a step fails. Finished steps are kept.
    """
    steps, new, notices = do_steps(recipe, folder, registry, progress)
    summary, about_records = summarise(recipe, steps, folder / RESULTS, registry)
    return RecipeRun(summary, steps, new, (*notices, *about_records))


def summarise(
    recipe: Recipe, steps: Mapping[str, StepRecord], folder: Path, registry: Registry
) -> tuple[Summary, tuple[str, ...]]:
    """Return the summary of a recipe whose steps are finished, and notices about its records.

    Parameters
    ----------
    recipe
        The recipe.
    steps
        Its finished steps by name.
    folder
        The results folder.
    registry
        Where names are looked up.
    """
    file, notices = recipe.file, list[str]()
    scores: Scores = {
        (row, seed): _newest(folder, label(row, seed), {*file.bias, *file.retained}, notices)
        for row in file.rows
        for seed in file.seeds
    }
    columns, scorer = _Columns(recipe, scores, folder), recipe.scored_by
    summary = Summary(
        recipe=file.name,
        version=file.version,
        title=file.title,
        source=file.source,
        corpus=recipe.corpus if recipe.corpus.startswith(HUB) else Path(recipe.corpus).name,
        scored_by=label(scorer, file.seeds[0]) if scorer else registry.models.label(file.scored_by),
        training=dict(file.training),
        seeds=file.seeds,
        rows=tuple(_row(recipe, row, steps, scores, registry) for row in file.rows),
        measures=tuple(columns.measures),
        cells=columns.cells,
        noise=columns.noise,
        notes=(*_notes(recipe, steps), *columns.notes),
    )
    return summary, tuple(notices)


def _newest(
    folder: Path, model: str, associations: Set[str], notices: list[str]
) -> dict[str, Record]:
    """Return the newest record of each task of a model: its primary score.

    For the tasks of `associations` it is the effect size of the same metric and scenario, if there
    is one: tables 6, 7 and 11 of the paper have effect sizes.
    """
    path = folder / f"{folders.safe_name(model)}.jsonl"
    records = list(jsonl.read(path, Record, notices)) if path.is_file() else []
    primary = {r.task.name: r for r in sorted(records, key=age) if r.primary}
    newest = dict(primary)
    for record in records:
        other = primary.get(record.task.name)
        if other is None or record.score != EFFECT_SIZE or record.task.name not in associations:
            continue
        if all(getattr(record, part) == getattr(other, part) for part in MEASUREMENT):
            newest[record.task.name] = record
    return newest


def _row(
    recipe: Recipe,
    row: str,
    steps: Mapping[str, StepRecord],
    scores: Scores,
    registry: Registry,
) -> RowPart:
    content = recipe.file.rows[row]
    trained = [steps[f"train {label(row, seed)}"].facts for seed in recipe.file.seeds]
    records = [next(iter(scores[row, seed].values()), None) for seed in recipe.file.seeds]
    other = recipe.compared_with(row)
    return RowPart(
        row=row,
        corpus=content.corpus,
        method=content.method,
        percentile=content.percentile,
        base=registry.models.label(recipe.base(row)),
        mitigator=content.mitigator,
        compared_with=None if other == row else other,
        pairs=trained[0].get("pairs", {}),
        dev=tuple(_score(facts, "dev") for facts in trained),
        test=tuple(_score(facts, "test") for facts in trained),
        models=tuple(record.model.fingerprint if record else None for record in records),
    )


def _score(facts: Mapping[str, Any], split: str) -> float | None:
    scores = facts.get("scores", {}).get(split, {})
    return next((float(scores[name]) for name in SCORES if name in scores), None)


def _counts(steps: Mapping[str, StepRecord]) -> list[str]:
    """Return how many pairs each fairer corpus lost or gained."""
    lines = []
    for record in steps.values():
        counts, name = record.facts.get("counts"), record.step.removeprefix("corpus ")
        if not counts:
            continue
        above = counts["above"]
        if record.settings["method"] != "augment":
            drawn = ", drawn at random" if record.settings["method"] == "random" else ""
            removed, entries = counts["removed"], counts["entries"]
            lines.append(f"{name}: {removed:,} of {entries:,} pairs removed{drawn}")
        else:
            share = f" ({100 * counts['added'] / above:.0f} %)" if above else ""
            lines.append(
                f"{name}: of {above:,} pairs above the percentile, {counts['added']:,}{share} have "
                "a gender word or a name and were added with genders swapped"
            )
    return lines


def _notes(recipe: Recipe, steps: Mapping[str, StepRecord]) -> list[str]:
    n = len(recipe.file.seeds)
    notes = [
        *_counts(steps),
        "the seeds change the first weights and the order of the pairs; all share the same "
        "corpora, so the spread does not have the chance in splits and in swapped names",
        "dev and test are parts of each row's own corpus, so rows differ in their pairs",
    ]
    if n == 1:
        notes.insert(0, "one seed: there is no spread, no interval and no test over seeds")
    elif n < 5:
        wide = float(metrics.t_quantile(CONFIDENCE, n - 1))
        notes.insert(
            0,
            f"with {n} seeds an interval reaches {wide:.1f} standard errors to each side: it "
            "excludes 0 only for changes that are large against the noise",
        )
    return notes + [f"{task} did not run: {reason}" for task, reason in _missed(steps).items()]


def _missed(steps: Mapping[str, StepRecord]) -> dict[str, str]:
    """Return the tasks that did not run on some model, with the reason."""
    missed: dict[str, str] = {}
    for record in steps.values():
        missed |= record.facts.get("not_run", {})
    return missed


Scores: TypeAlias = Mapping[tuple[str, int], Mapping[str, Record]]
"""The record of each task that counts, by row and seed and by the name of the task."""
Values: TypeAlias = dict[str, dict[str, tuple[float | None, ...]]]
"""By measure and row, a value for each seed."""
ByRow: TypeAlias = Mapping[str, Sequence[float | None]]
"""A value of a measure for each seed, by row."""


class _Columns:
    """The measures, cells and noise of a recipe, from its records and their samples in `folder`."""

    def __init__(self, recipe: Recipe, scores: Scores, folder: Path) -> None:
        self.recipe, self.scores, self.folder = recipe, scores, folder
        self.rows, self.seeds = tuple(recipe.file.rows), recipe.file.seeds
        self.notes: list[str] = []
        tasks = [
            self._measure(task, group) for group in TASKS for task in getattr(recipe.file, group)
        ]
        values: Values = {
            task.measure: {row: self._values(row, task.measure) for row in self.rows}
            for task in tasks
        }
        means = self._means(values)
        for mean in means:
            absolute = mean.measure == MEAN_ABS
            values[mean.measure] = {
                row: self._averages(values, row, mean.tasks, absolute=absolute) for row in self.rows
            }
        families = [
            [measure for measure in tasks if measure.group != "usefulness"],
            [measure for measure in tasks if measure.group == "usefulness"],
            *([mean] for mean in means),
        ]
        self.cells = tuple(cell for family in families for cell in self._cells(family, values))
        noise = (self._noise(mean, values[mean.measure]) for mean in means)
        self.noise = tuple(part for part in noise if part)
        self.measures = sorted([*tasks, *means], key=lambda measure: TASKS.index(measure.group))

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
            (row, measure.measure): paired(self._changes(row, values[measure.measure]))
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
        difference: DifferencePart | None,
        p_holm: float | None,
    ) -> CellPart:
        mean, sd = _spread(by_row[row])
        if difference is not None:
            other = self.recipe.compared_with(row)
            before, spread = _spread(by_row[other])
            is_clear = before is not None and abs(before) > (spread or 0.0)
            changes = {
                "p_holm": p_holm,
                "percent": 100 * difference.mean / abs(before) if before and is_clear else None,
                "items": None if measure.is_mean else self._items(row, other, measure.measure),
            }
            difference = difference.model_copy(update=changes)
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
        other_seeds = of_other_seeds(known[row] for row in alike)
        if other_seeds is None or not first:
            return None
        one_seed = of_one_seed(self._changes(row, by_row) for row in alike)
        mean = fmean(first)
        is_clear = abs(mean) > other_seeds.sd
        claimed = self.recipe.file.claimed_change if measure.group == "bias" else None

        def with_chance(runs: RunsPart) -> RunsPart:
            chance = runs.chance_of(claimed / 100 * mean) if claimed and is_clear else None
            return runs.model_copy(update={"chance": chance})

        return NoisePart(
            measure=measure.measure,
            mean=mean,
            is_clear=is_clear,
            claimed=claimed,
            other_seeds=with_chance(other_seeds),
            one_seed=with_chance(one_seed) if one_seed else None,
            smallest_change=one_seed.smallest_change(len(self.seeds)) if one_seed else None,
        )


def _spread(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return mean and standard deviation of the values that there are."""
    known = [value for value in values if value is not None]
    mean = fmean(known) if known else None
    return mean, stdev(known) if len(known) > 1 else None


def paired(differences: Sequence[float]) -> DifferencePart | None:
    """Return mean, interval and test of differences, one for each seed; None if there are none.

    The seeds are the only source of chance that the interval covers: it is about these corpora and
    these tests.

    Parameters
    ----------
    differences
        Value of a row less that of the row that it is compared with, for the same seed.
    """
    if not differences:
        return None
    d = summarised(differences, RESOLUTION)
    if d.n < 2:
        return DifferencePart(n=d.n, mean=d.mean)
    if d.sd == 0 and d.reason:
        return DifferencePart(n=d.n, mean=d.mean, sd=0)
    if d.sd == 0:
        return DifferencePart(n=d.n, mean=0, sd=0, low=0, high=0, p_value=1)
    error, df = d.sd / math.sqrt(d.n), d.n - 1
    margin = float(metrics.t_quantile(CONFIDENCE, df)) * error
    p_value = float(metrics.t_p_value(d.mean / error, df))
    low, high = d.mean - margin, d.mean + margin
    return DifferencePart(n=d.n, mean=d.mean, sd=d.sd, low=low, high=high, p_value=p_value)


def of_other_seeds(rows: Iterable[Sequence[float]]) -> RunsPart | None:
    """Return the noise between two runs on one corpus with different seeds.

    Parameters
    ----------
    rows
        The values of each row, one for each seed.

    Returns
    -------
    RunsPart or None
        None if no row has two seeds.
    """
    pooled = of_one_seed(rows)
    return pooled and RunsPart(sd=pooled.sd * math.sqrt(2), df=pooled.df)


def of_one_seed(changes: Iterable[Sequence[float]]) -> RunsPart | None:
    """Return the noise between two rows that share a seed, and so their first weights.

    Parameters
    ----------
    changes
        The changes of each row against another one, one for each seed.

    Returns
    -------
    RunsPart or None
        None if no row has two seeds.
    """
    squares, df = 0.0, 0
    for values in changes:
        if len(values) > 1:
            squares += (len(values) - 1) * stdev(values) ** 2
            df += len(values) - 1
    return RunsPart(sd=math.sqrt(squares / df), df=df) if df else None
