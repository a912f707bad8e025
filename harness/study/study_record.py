"""The record of a study: the values of one mitigator in one outer fold. One JSON line.

It has no results of tests: these are computed from the records of all folds.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from harness import limits
from harness.digest import digest
from harness.metrics import Ideal
from harness.names import NONE
from harness.results.record import Count, Environment, Finite, Line, ModelPart, Part
from harness.study.study_file import Protocol

SCHEMA = 1
"""Version of the schema of a study's record."""

Values = dict[str, Finite | None]
"""Distance from fair by measure, averaged over scenarios; null where undefined."""
Scenarios = dict[str, tuple[Finite | None, ...]]
"""Numbers by measure, for each scenario; null where undefined."""


class MeasurePart(Part):
    """A measure of a study."""

    metric: str
    """Name of the metric."""
    score: str
    """Name of its score."""
    ideal: Ideal
    """The fair value."""
    rises: bool
    """Whether a higher score is fairer. Tables then show the score, and otherwise the distance from
    fair."""
    scenarios: tuple[str, ...]
    """Scenarios over which it is averaged."""
    signed: bool = False
    """Whether a score can be on both sides of its fair value."""


class StudyPart(Part):
    """The study of the record, with all that is needed to print it."""

    name: str
    """Name of the study."""
    version: Count
    """Version of its file."""
    digest: str
    """Hash of what all its rows share: concept, folds, measures with their data, seed, protocol."""
    title: str
    """Title in one line."""
    description: str = ""
    """The question, and how to read the answer."""
    concept: str
    """Name of the concept."""
    items: Count
    """Number of pairs (or sets) in the folds, without those that the model lacks."""
    folds: Annotated[int, Field(ge=1, le=limits.STUDY_FOLDS)]
    """Number of outer folds."""
    inner_folds: Count
    """Number of inner folds."""
    repeats: Annotated[int, Field(ge=1, le=limits.STUDY_FOLDS)]
    """Number of times that the pairs are divided into folds."""
    seed: Count
    """Seed of the study."""
    normalize: bool
    """Whether all vectors are set to length 1 first."""
    protocol: Protocol
    """How hyper-parameters are chosen."""
    alpha: Annotated[float, Field(gt=0, lt=1)]
    """Level of the tests."""
    baseline: str
    """Row that the others are tested against."""
    rows: tuple[str, ...]
    """Labels of the rows in order, with `none` and the row of unit length."""
    unit: str | None = None
    """Label of the row of vectors at length 1; null if no plugin has such a mitigator."""
    measures: dict[str, MeasurePart]
    """The columns in order."""
    criteria: tuple[str, ...]
    """Measures by which hyper-parameters are chosen."""

    @property
    def pools(self) -> bool:
        """Whether rows are compared by pooled scores, and not by the distances of single folds."""
        return self.protocol != "published"

    @property
    def start(self) -> str:
        """The row from which most changes are measured."""
        return self.unit if self.unit and self.normalize else NONE

    @property
    def contenders(self) -> tuple[str, ...]:
        """The rows that are compared with the baseline."""
        others = {self.baseline, NONE, self.start}
        return tuple(row for row in self.rows if row not in others)

    def before(self, row: str) -> str | None:
        """Return the row that a row's changes are measured from; None for the original vectors."""
        if row == NONE:
            return None
        return NONE if row == self.unit else self.start


class Inner(Part):
    """The values of one setting of the hyper-parameters in one inner fold."""

    params: dict[str, Any]
    """The hyper-parameters."""
    fold: int
    """The inner fold, from 0."""
    values: Values
    """Distance from fair by measure, on the inner fold's held-out pairs."""


class Judged(Part):
    """The hyper-parameters that one criterion chose, and their values on the outer fold."""

    params: dict[str, Any]
    """The chosen hyper-parameters."""
    values: Values
    """Distance from fair by measure, on the outer fold's held-out pairs."""
    signed: Scenarios = Field(default_factory=dict)
    """By measure with a sign, the score minus its fair value."""
    floors: Values = Field(default_factory=dict)
    """Distance from fair by measure with the sides of the held-out pairs swapped, averaged over
    assignments of sides; null if the measure does not depend on sides."""
    spreads: Scenarios = Field(default_factory=dict)
    """By measure with a sign, the standard deviation of the score over assignments of sides."""


class StudyRecord(Line):
    """One mitigator in one outer fold of one repeat."""

    run: str
    """Identifier of the run."""
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
    fingerprint: str
    """Hash of the mitigator and its grid."""
    normalize: bool | None = None
    """Whether vectors were set to length 1 before it; null for the study's setting."""
    repeat: int = Field(ge=0)
    """The repeat, from 0."""
    fold: int = Field(ge=0)
    """The outer fold, from 0."""
    train: Count
    """Number of pairs that it was fitted on."""
    held_out: tuple[tuple[str, ...], ...]
    """The pairs (or sets) that it was judged on."""
    missing: tuple[str, ...] = ()
    """Words of the study that the model lacks."""
    inner: tuple[Inner, ...] = ()
    """The results of all inner folds; empty where there is nothing to choose."""
    judged: dict[str, Judged]
    """By criterion, the chosen hyper-parameters and their values."""
    reasons: dict[str, str] = Field(default_factory=dict)
    """By measure, why a value is undefined."""
    seconds: Finite
    """Seconds that it took."""
    environment: Environment
    """Software and machine that it ran on."""

    @property
    def key(self) -> str:
        """Its id, which covers everything that the values depend on."""
        return self.id

    @model_validator(mode="after")
    def _agrees_with_its_study(self) -> Self:
        study = self.study
        results: list[Inner | Judged] = [*self.inner, *self.judged.values()]
        differing = {name for part in results for name in set(part.values) ^ set(study.measures)}
        for wrong, problem in (
            ({self.row, study.baseline} - set(study.rows), "not a row of the study"),
            (set(study.criteria) - set(study.measures), "not a measure of the study"),
            (set(study.criteria) ^ set(self.judged), "criteria and `judged` differ"),
            (differing, "values and the study's measures differ"),
        ):
            if wrong:
                raise ValueError(f"{problem}: '{min(wrong)}'")
        if self.fold >= study.folds or self.repeat >= study.repeats:
            raise ValueError(
                f"repeat {self.repeat}, fold {self.fold}: the study has {study.repeats} repeats of "
                f"{study.folds} folds"
            )
        return self


def identity(*, model: str, study: str, row: str, mitigator: str, repeat: int, fold: int) -> str:
    """Return a record's id. `model`, `study` and `mitigator` are fingerprints, `row` the label."""
    return digest([SCHEMA, "study", model, study, row, mitigator, repeat, fold])
