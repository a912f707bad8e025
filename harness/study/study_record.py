"""The record of a study: what one mitigator gave in one outer fold. One JSON line.

Which differences count is no part of it: that is computed from the records, over all folds.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from harness.digest import digest
from harness.metrics import Ideal
from harness.results.record import Environment, Finite, Line, ModelPart, Part
from harness.study.study_file import Protocol

SCHEMA = 1
"""Version of the schema of a study's record."""

Values = dict[str, Finite | None]
"""Distance from fair by measure, averaged over scenarios; null where it is undefined."""


class MeasurePart(Part):
    """A measure of a study."""

    metric: str
    """Name of the metric."""
    score: str
    """Name of its score."""
    ideal: Ideal
    """Where fair lies."""
    rises: bool
    """Whether the score itself rises as it gets fairer: tables then show it as it is, and the
    distance from fair otherwise."""
    scenarios: tuple[str, ...]
    """Scenarios that it is averaged over."""


class StudyPart(Part):
    """The study that the record belongs to, with what is needed to print it."""

    name: str
    """Name of the study."""
    version: int
    """Version that its file states."""
    digest: str
    """Names what all its rows share: concept, folds, measures with their data, seed, protocol."""
    title: str
    """One line."""
    description: str = ""
    """What is asked."""
    concept: str
    """Name of the concept."""
    items: int
    """How many pairs (or sets) are dealt out, those that the model lacks left out."""
    folds: int
    """Outer folds."""
    inner_folds: int
    """Inner folds."""
    repeats: int
    """How often they are dealt out."""
    seed: int
    """Seed of the study."""
    normalize: bool
    """Whether vectors come to length 1 before all."""
    protocol: Protocol
    """How hyper-parameters are chosen."""
    alpha: float
    """Level of the tests."""
    rope: float | None = None
    """Half the width of the region of practical equivalence."""
    baseline: str
    """Row that others are tested against."""
    rows: tuple[str, ...]
    """Labels of the rows in order, `none` and `normalize` among them."""
    measures: dict[str, MeasurePart]
    """The columns in order."""
    criteria: tuple[str, ...]
    """Measures that hyper-parameters are chosen by."""


class Inner(Part):
    """What one set of hyper-parameters gave in one inner fold."""

    params: dict[str, Any]
    """The hyper-parameters."""
    fold: int
    """The inner fold, from 0."""
    values: Values
    """Distance from fair by measure, on the inner fold's held-out pairs."""


class Judged(Part):
    """What the hyper-parameters that one criterion chose gave on the outer fold."""

    params: dict[str, Any]
    """The hyper-parameters chosen."""
    values: Values
    """Distance from fair by measure, on the outer fold's held-out pairs."""


class StudyRecord(Line):
    """One mitigator in one outer fold of one repeat."""

    run: str
    """Identifies the run."""
    created: str
    """UTC time, ISO 8601."""
    study: StudyPart
    """The study."""
    model: ModelPart
    """The embedder."""
    row: str
    """Label of the mitigator."""
    mitigator: str
    """Its name as users type it."""
    normalize: bool | None = None
    """Whether vectors came to length 1 before it, if its row says so; null: as the study says."""
    repeat: int = Field(ge=0)
    """From 0."""
    fold: int = Field(ge=0)
    """The outer fold, from 0."""
    train: int
    """How many pairs it was fitted on."""
    held_out: tuple[tuple[str, ...], ...]
    """The pairs (or sets) that it was judged on."""
    missing: tuple[str, ...] = ()
    """Words of the study that the model lacks."""
    inner: tuple[Inner, ...] = ()
    """Every inner result; none where there is nothing to choose."""
    judged: dict[str, Judged]
    """By criterion, what it chose and what that gave."""
    reasons: dict[str, str] = Field(default_factory=dict)
    """By measure, why there is no value."""
    overlap: tuple[str, ...] = ()
    """Texts judged that the mitigator was fitted on too."""
    seconds: Finite
    """Time that it took."""
    environment: Environment
    """What it ran on."""

    @model_validator(mode="after")
    def _agrees_with_its_study(self) -> Self:
        study = self.study
        every = [*(one.values for one in self.inner), *(one.values for one in self.judged.values())]
        for wrong, told in (
            ({self.row, study.baseline} - set(study.rows), "no row of the study"),
            (set(study.criteria) - set(study.measures), "no measure of the study"),
            (set(study.criteria) ^ set(self.judged), "judged without being a criterion, or not"),
            ({name for one in every for name in set(one) ^ set(study.measures)}, "no measure"),
        ):
            if wrong:
                raise ValueError(f"{told}: '{min(wrong)}'")
        if self.fold >= study.folds or self.repeat >= study.repeats:
            raise ValueError(f"repeat {self.repeat}, fold {self.fold} is more than the study has")
        return self


def identity(*, model: str, study: str, row: str, mitigator: str, repeat: int, fold: int) -> str:
    """Return a record's id; `model`, `study` and `mitigator` are fingerprints, `row` the label."""
    return digest([SCHEMA, "study", model, study, row, mitigator, repeat, fold])
