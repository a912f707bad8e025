"""A record: one score of one embedder under one mitigator on one task and scenario.

One JSON line with everything that is needed to trust and repeat the score. It never holds NaN or
infinity: the value is null then, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr, field_validator

from harness import folders
from harness.digest import digest
from harness.errors import UsageError
from harness.results import samples as sample_files
from harness.results import scale
from harness.results.record_parts import (
    Count,
    Coverage,
    Environment,
    Finite,
    FloorPart,
    IntervalPart,
    Label,
    Line,
    MitigatorPart,
    ModelPart,
    Probability,
    TaskPart,
    Time,
)
from harness.scores import Bounds, is_within

SCHEMA = 1
"""Version of the schema of a record: its field `schema`."""
STARS = "* p < .05, ** p < .01, *** p < .001"
"""Legend of `stars`."""


class Record(Line):
    """One score."""

    run: Label
    """Identifies the run."""
    created: Time
    """UTC time, ISO 8601."""
    model: ModelPart
    mitigator: MitigatorPart
    task: TaskPart
    concept: Label | None = None
    """Concept of the task."""
    category: Label
    """Column group of the leaderboard."""
    language: Label
    """ISO 639-1 code of the texts."""
    scenario: Label
    """Variant of the task's texts."""
    metric: Label
    """Name of the metric."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric, defaults included."""
    score: Label
    """Name of the score."""
    primary: bool
    """Whether this score stands for the task in rankings."""
    value: Finite | None
    """The number."""
    reason: str | None = None
    """Why there is no number."""
    ideal: Finite | Literal["higher", "lower"]
    """The fair value: a number, or `higher` or `lower` is better."""
    bounds: tuple[Finite | None, Finite | None]
    """Lowest and highest possible value."""
    p_value: Probability | None = None
    """Probability under the null hypothesis of a value at least as extreme."""
    interval: IntervalPart | None = None
    """Confidence interval of the value."""
    floor: FloorPart | None = None
    """What the score shows by chance; null if its metric has no such value."""
    unit: Finite | None = None
    """What counts as 1 on a board; null for the greatest distance within the bounds."""
    n: Count | None = None
    """Number of items that the score is computed from."""
    clusters: Count | None = None
    """Number of words, templates or texts that items share; intervals resample these."""
    details: dict[str, Any] = Field(default_factory=dict)
    """Further values of the metric."""
    tables: dict[str, str] = Field(default_factory=dict)
    """Path of each table beside the record, by name, relative to the results folder."""
    figures: dict[str, str] = Field(default_factory=dict)
    """Path of each figure's page beside the record, by name, relative to the results folder."""
    samples: str | None = None
    """Path of the file with what each item contributes, relative to the results folder; null
    unless `--samples` asked for it."""
    coverage: Coverage
    overlap: tuple[str, ...] = ()
    """The task's texts that the mitigator was fitted on."""
    seed: Count
    """Seed of the run."""
    limit: Count | None = None
    """In a smoke run, the number of items that each set or table was cut to. Such a record is never
    ranked."""
    seconds: Finite
    """Time that the metric took."""
    environment: Environment
    _rows: Mapping[str, Sequence[Mapping[str, Any]]] = PrivateAttr(default_factory=dict)
    _drawings: Mapping[str, Mapping[str, Any]] = PrivateAttr(default_factory=dict)
    _sample_rows: Sequence[Mapping[str, Any]] | None = PrivateAttr(default=None)

    @field_validator("bounds")
    @classmethod
    def _are_ordered(cls, bounds: Bounds) -> Bounds:
        low, high = bounds
        if low is not None and high is not None and low > high:
            raise ValueError(f"the lower bound {low} is above the upper bound {high}")
        return bounds

    def model_post_init(self, context: Any) -> None:
        """Fill in the id."""
        if not self.id:
            object.__setattr__(self, "id", self.identity())

    def keeping(
        self,
        rows: Mapping[str, Sequence[Mapping[str, Any]]],
        drawings: Mapping[str, Mapping[str, Any]],
        samples: Sequence[Mapping[str, Any]] | None,
    ) -> Record:
        """Return the record with tables, figures and samples, to be written when it is written."""
        tables = {name: f"tables/{self.id}-{folders.safe_name(name)}.tsv" for name in rows}
        figures = {name: f"figures/{self.id}-{folders.safe_name(name)}.html" for name in drawings}
        path = None if samples is None else sample_files.path_of(self.id)
        update = {"tables": tables, "figures": figures, "samples": path}
        record = self.model_copy(update=update)
        record._rows, record._drawings, record._sample_rows = dict(rows), dict(drawings), samples
        return record

    @property
    def family(self) -> str:
        """Return the category and the family of methods, which together have one vote."""
        return f"{self.category}/{self.task.family or self.metric}"

    @property
    def counted(self) -> float | None:
        """Return what counts in means over tasks: how far the value is above its floor.

        For bias 0 is what chance shows; for usefulness 0 is the ideal. None if the task is not
        ranked, if the mitigator was fitted on texts that it judges, if the value is outside its
        bounds, or if the score has neither bounds nor a unit.
        """
        is_leak = self.task.measures == "bias" and bool(self.overlap)
        if self.value is None or self.task.unranked or is_leak:
            return None
        if not is_within(self.value, self.bounds):
            return None
        floor = None if self.floor is None else self.floor.mean
        return scale.counted(
            self.value, self.task.measures, self.ideal, self.bounds, floor=floor, unit=self.unit
        )

    @property
    def undone(self) -> bool:
        """Whether the mitigator left no difference to measure: then there is nothing to shuffle."""
        return "undone" in self.details

    @property
    def rows(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of each table by name; empty in a record that was read from a file."""
        return self._rows

    @property
    def drawings(self) -> Mapping[str, Mapping[str, Any]]:
        """Plotly's description of each figure by name; empty in a record that was read."""
        return self._drawings

    def read_samples(self, folder: Path | str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return what each item contributes to the score, a row each; none without `--samples`.

        `folder` is the results folder; a record that was just computed and not written needs none.
        """
        if self.samples is None or self._sample_rows is not None:
            return self._sample_rows or ()
        if folder is None:
            raise UsageError("the samples of this record are in a file: name its results folder")
        return sample_files.read(Path(folder), self)

    def write_samples(self, folder: Path) -> None:
        """Write the samples to a results folder, and drop them from memory: they may be many."""
        if self._sample_rows is not None:
            sample_files.write(folder, self, self._sample_rows)
            self._sample_rows = None

    def identity(self) -> str:
        """Return the id."""
        return identity(
            model=self.model.fingerprint,
            mitigator=self.mitigator.fingerprint,
            task=self.task.digest,
            scenario=self.scenario,
            metric=self.metric,
            score=self.score,
            seed=self.seed,
        )


def identity(
    *, model: str, mitigator: str, task: str, scenario: str, metric: str, score: str, seed: int
) -> str:
    """Return the id of a record: a digest of what was measured, not of when or where.

    `model` and `mitigator` are fingerprints, so that the spelling of a name does not matter.
    """
    return digest([SCHEMA, model, mitigator, task, scenario, metric, score, seed])


def finite(value: float | None) -> float | None:
    """Return `value`, or None if it is NaN or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def stars(p: float | None) -> str:
    """Return the stars of a p-value, as most papers of the field print them."""
    return "" if p is None else "*" * sum(p < level for level in (0.05, 0.01, 0.001))
