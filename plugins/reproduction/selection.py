"""What a row selects: one score of a task, or one cell of a study, with its defaults filled in."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.errors import UnknownName, UsageError
from harness.plugins.reproduction.schema import Row, ScoreAnswer, StudyAnswer
from harness.task.schema import DEFAULT_SCENARIO

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.results.record import Record
    from harness.study.summary import Summary


@dataclass(frozen=True)
class ScoreSelection:
    """One score of a task."""

    model: str
    mitigator: str
    task: str
    version: int
    scenario: str
    metric: str
    score: str
    field: str = "value"
    absolute: bool = False

    @property
    def command(self) -> str:
        """The command that gives it."""
        mitigator = f" --mitigator {shlex.quote(self.mitigator)}"
        return f"harness eval --model {shlex.quote(self.model)}{mitigator} --tasks {self.task}"

    @property
    def address(self) -> str:
        """What identifies it: a recorded value counts only for its address."""
        parts = (
            self.model,
            self.mitigator,
            f"{self.task}@{self.version}",
            self.scenario,
            self.metric,
            self.score,
            "absolute " * self.absolute + self.field,
        )
        return " / ".join(parts)

    def matches(self, record: Record) -> bool:
        """Return whether a record of this model and mitigator is the one."""
        place = (record.task.name, record.scenario, record.metric, record.score)
        return place == (self.task, self.scenario, self.metric, self.score)

    def value(self, record: Record) -> float | None:
        """Return the selected value of a record.

        Raises
        ------
        UsageError
            If the record has no such detail.
        """
        name, *keys = self.field.split(".")
        value: Any = getattr(record, name)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if keys and not isinstance(value, int | float):
            raise UsageError(
                f"a record of '{self.metric}' has no number '{self.field}'; its details are "
                f"{', '.join(record.details)}"
            )
        number: float | None = value
        return abs(number) if self.absolute and number is not None else number


@dataclass(frozen=True)
class StudySelection:
    """One cell of a study's tables."""

    model: str
    study: str
    version: int
    answer: StudyAnswer

    @property
    def command(self) -> str:
        """The command that gives it."""
        return f"harness study run {self.study}"

    @property
    def address(self) -> str:
        """What identifies it: a recorded value counts only for its address."""
        answer = self.answer
        column = f"parameter {answer.parameter}" if answer.parameter else answer.measure
        field = "" if answer.parameter else f" / {answer.field}"
        study = f"{self.model} / {self.study}@{self.version}"
        return f"{study} / {answer.criterion} / {answer.row} / {column}{field}"

    def value(self, summary: Summary) -> float | str | None:
        """Return the selected value of a study's summary on this model.

        Raises
        ------
        UsageError
            If the study has no such row, measure or parameter.
        """
        answer = self.answer
        if answer.parameter is not None:
            choices = summary.chosen.get((answer.row, answer.criterion), ())
            if not choices or answer.parameter not in choices[0].params:
                raise UsageError(f"{self.study} chose no '{answer.parameter}' of {answer.row}")
            value: float | str = choices[0].params[answer.parameter]
            return value
        cell = summary.cells.get((answer.criterion, answer.row, answer.measure or ""))
        if cell is None:
            raise UsageError(f"{self.study} has no cell '{self.address}'")
        if answer.field in ("mean", "sd", "p_holm", "verdict", "verdict_holm"):
            of_cell: float | str | None = getattr(cell, answer.field)
            return of_cell
        return cell.comparison.p_value if cell.comparison else None


Selection: TypeAlias = ScoreSelection | StudySelection


def of(row: Row, registry: Registry) -> Selection | None:
    """Return what a row selects; None for a row that states its answer.

    Raises
    ------
    UsageError
        If it selects what is not installed.
    """
    if row.score is not None and row.model is not None:
        return _of_score(row.score, row.model, registry)
    if row.study is not None and row.model is not None:
        file = registry.study_files.find(row.study.study)
        return StudySelection(row.model, row.study.study, file.data["version"], row.study)
    return None


def _of_score(answer: ScoreAnswer, model: str, registry: Registry) -> ScoreSelection:
    registry.mitigator(answer.mitigator)
    data = registry.task_files.find(answer.task).data
    primary = data["primary"]
    scenario = answer.scenario or primary.get("scenario", DEFAULT_SCENARIO)
    _check("scenario", scenario, data.get("scenarios") or [DEFAULT_SCENARIO])
    metric = answer.metric or primary["metric"]
    _check(f"metric of '{answer.task}'", metric, data["metrics"])
    scores = list(registry.metric(metric).scores)
    default = primary["score"] if metric == primary["metric"] else scores[0]
    score = answer.score or default
    _check(f"score of '{metric}'", score, scores)
    return ScoreSelection(
        model=model,
        mitigator=answer.mitigator,
        task=answer.task,
        version=data["version"],
        scenario=scenario,
        metric=metric,
        score=score,
        field=answer.field,
        absolute=answer.absolute,
    )


def _check(kind: str, name: str, known: Iterable[str]) -> None:
    known = list(known)
    if name not in known:
        raise UnknownName(kind, name, known)
