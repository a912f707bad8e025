"""The records of an evaluation, as a sequence and as data frames."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, overload

from harness.errors import UnknownName, UsageError
from harness.results.frames import Framed
from harness.results.not_run import NotRun
from harness.results.record import Record


class Records(Framed[Record]):
    """Records of an evaluation.

    Parameters
    ----------
    records
        The records.
    not_run
        Tasks that were not run, with the reason.
    notices
        Facts that the user should know, a line each.
    texts
        Number of distinct texts that the computed records needed.
    encoded
        Number of texts that were encoded; the others were in the cache.
    seconds
        Time that encoding took; a record has the time of its metric.
    missed
        Tasks that were asked for by name and have no record.
    reused
        Number of records that were computed by an earlier run.

    Attributes
    ----------
    columns
        Columns of the data frames, with their types.
    """

    columns: ClassVar = {
        **dict.fromkeys(("model", "kind", "fingerprint", "mitigator", "mitigator_name"), str),
        **dict.fromkeys(("mitigator_params", "mitigator_concept"), str),
        "task": str,
        "version": int,
        **dict.fromkeys(("measures", "category", "concept", "scenario", "metric", "score"), str),
        "primary": bool,
        "value": float,
        "reason": str,
        "ideal": str,
        **dict.fromkeys(("p_value", "low", "high"), float),
        **dict.fromkeys(("n", "asked", "found", "seed", "limit"), int),
        "id": str,
    }

    def __init__(
        self,
        records: Iterable[Record],
        *,
        not_run: Iterable[NotRun] = (),
        notices: Iterable[str] = (),
        missed: Iterable[str] = (),
        texts: int = 0,
        encoded: int = 0,
        seconds: float = 0.0,
        reused: int = 0,
    ) -> None:
        self._records = tuple(records)
        self.not_run = tuple(not_run)
        self.notices, self.missed = tuple(notices), tuple(missed)
        self.texts, self.encoded, self.reused = texts, encoded, reused
        self.seconds = seconds

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Records: ...
    def __getitem__(self, index: int | slice) -> Record | Records:
        return self._of(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __repr__(self) -> str:
        return f"<{self._summary()}>"

    @property
    def skipped(self) -> tuple[NotRun, ...]:
        """Those of `not_run` that do not apply, or whose data is not available."""
        return tuple(entry for entry in self.not_run if not entry.failed)

    @property
    def failed(self) -> tuple[NotRun, ...]:
        """Those of `not_run` in which something went wrong."""
        return tuple(entry for entry in self.not_run if entry.failed)

    def select(
        self,
        *,
        model: str | Iterable[str] = (),
        mitigator: str | Iterable[str] = (),
        task: str | Iterable[str] = (),
        scenario: str | Iterable[str] = (),
        metric: str | Iterable[str] = (),
        all_scores: bool = False,
    ) -> Records:
        """Return some of the records; without arguments, the primary score of each task.

        Parameters
        ----------
        model, mitigator, task
            Names or globs; by default all. A mitigator is named by its label.
        scenario
            Scenarios, names or globs; by default the primary one of each task.
        metric
            Metrics, names or globs, with all their scores; by default the primary score.
        all_scores
            Whether to keep all scores of all scenarios, so far as the names match.

        Raises
        ------
        UnknownName
            If a name or glob matches no record.
        """
        primary = {r.task.name: r for r in self if r.primary}
        columns: dict[str, Callable[[Record], str]] = {
            "model": lambda record: record.model.name,
            "mitigator": lambda record: record.mitigator.label,
            "task": lambda record: record.task.name,
            "scenario": lambda record: record.scenario,
            "metric": lambda record: record.metric,
        }
        patterns = {
            "model": _tuple(model),
            "mitigator": _tuple(mitigator),
            "task": _tuple(task),
            "scenario": _tuple(scenario),
            "metric": _tuple(metric),
        }
        chosen = list(self)
        for name, column in columns.items():
            if patterns[name]:
                chosen = _matching(chosen, name, column, patterns[name])
        if not all_scores:
            chosen = [
                record
                for record in chosen
                if (first := primary.get(record.task.name)) is not None
                and (patterns["scenario"] or record.scenario == first.scenario)
                and (
                    patterns["metric"]
                    or (record.metric, record.score) == (first.metric, first.score)
                )
            ]
        return self._of(chosen)

    def over_seeds(self) -> Records:
        """Return the records with runs that differ only in a seed as one: their mean."""
        from harness.results.over_seeds import over_seeds

        return self._of(over_seeds(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per record; its keys are the columns of the data frames.

        `mitigator` is the label, with the options that differ from their defaults. `mitigator_name`
        is the name alone, and `mitigator_params` a JSON object of all hyper-parameters.
        `fingerprint` tells the weights and settings of models of one name apart.
        """
        return [
            {
                "model": record.model.name,
                "kind": record.model.kind,
                "fingerprint": record.model.fingerprint,
                "mitigator": record.mitigator.label,
                "mitigator_name": record.mitigator.name,
                "mitigator_params": json.dumps(record.mitigator.params, ensure_ascii=False),
                "mitigator_concept": record.mitigator.concept,
                "task": record.task.name,
                "version": record.task.version,
                "measures": record.task.measures,
                "category": record.category,
                "concept": record.concept,
                "scenario": record.scenario,
                "metric": record.metric,
                "score": record.score,
                "primary": record.primary,
                "value": record.value,
                "reason": record.reason,
                "ideal": str(record.ideal),
                "p_value": record.p_value,
                "low": record.interval.low if record.interval else None,
                "high": record.interval.high if record.interval else None,
                "n": record.n,
                "asked": record.coverage.asked,
                "found": record.coverage.found,
                "seed": record.seed,
                "limit": record.limit,
                "id": record.id,
            }
            for record in self
        ]

    def samples(self, folder: Path | str | None = None) -> list[dict[str, Any]]:
        """Return what each item contributes to each score, a flat row each.

        A column of a metric that has the name of a fact about the record, such as `score`, gets the
        name `sample_score`.

        Parameters
        ----------
        folder
            The results folder, if the records are in one.

        Raises
        ------
        UsageError
            If the folder is required, or if none of the records has samples.
        DiskError, InvalidFile
            If a file of samples is not in the folder, or is damaged.
        """
        rows: list[dict[str, Any]] = []
        for record in self:
            facts = {
                "model": record.model.name,
                "mitigator": record.mitigator.label,
                "task": record.task.name,
                "scenario": record.scenario,
                "metric": record.metric,
                "score": record.score,
                "id": record.id,
            }
            for row in record.read_samples(folder):
                own = {f"sample_{key}" if key in facts else key: row[key] for key in row}
                rows.append(facts | own)
        if not rows and any(record.value is not None for record in self):
            raise UsageError(
                "these records have no samples: evaluate with samples=True (or --samples); "
                "a metric may have none"
            )
        return rows

    def _repr_html_(self) -> str:
        from harness.results import html
        from harness.results.tables import sections

        parts = [html.of_sections(sections(record for record in self if record.primary))]
        return "".join([*parts, html.lines([self._summary(), *self.notices])])

    def _summary(self) -> str:
        """Return how many records there are, and how many tasks were not run."""
        n_models = len({record.model.name for record in self})
        facts = [f"{_counted(len(self), 'record')} of {_counted(n_models, 'model')}"]
        if self.not_run:
            n_tasks = len({(entry.model, entry.task) for entry in self.not_run})
            facts.append(f"not run: {n_tasks} (see .not_run), of these failed: {len(self.failed)}")
        return "; ".join(facts)

    def _of(self, records: Iterable[Record]) -> Records:
        """Return some of the records, with all that is known about their run."""
        part = copy.copy(self)
        part._records = tuple(records)
        return part


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _tuple(patterns: str | Iterable[str]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else tuple(patterns)


def _matching(
    records: Sequence[Record],
    name: str,
    column: Callable[[Record], str],
    patterns: Iterable[str],
) -> list[Record]:
    """Return the records whose value matches any pattern; each pattern must match one."""
    known = {column(record) for record in records}
    values: set[str] = set()
    for pattern in patterns:
        matches = {value for value in known if value == pattern or fnmatchcase(value, pattern)}
        if not matches:
            raise UnknownName(f"{name} in these records", pattern, known)
        values |= matches
    return [record for record in records if column(record) in values]
