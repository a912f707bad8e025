"""The result of a recipe as plain data: what its tables and its JSON show.

`results` computes it from records, and `tables` makes texts of it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.results.record import Finite, IntervalPart, Part

Method = Literal["original", "subtract", "augment", "random"]
Group = Literal["bias", "retained", "usefulness"]
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
    """A row less the row that it is compared with, seed by seed."""

    n: int
    """Number of seeds that both have."""
    mean: Finite
    """Mean difference."""
    sd: Finite | None
    """Standard deviation of the differences."""
    low: Finite | None
    """Lower end of the 95 % interval by Student's t over the seeds, with n − 1 degrees of
    freedom."""
    high: Finite | None
    """Upper end."""
    p_value: Finite | None
    """Two-sided p-value of the same test."""
    p_holm: Finite | None
    """The p-value after Holm's correction: of a mean over the rows, of a task over all cells of its
    table."""
    percent: Finite | None
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
