"""The summary of a study: its table with tests, the chosen hyper-parameters, and caveats.

Made from records alone, so that it can be made again at any time. `tables` prints it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from harness.registry.registry import Registry
from harness.results.record import ModelPart
from harness.study import notes
from harness.study.cells import Cell, cells
from harness.study.reference_rows import ReferenceRows
from harness.study.statement import statement
from harness.study.study_record import StudyPart, StudyRecord


@dataclass(frozen=True)
class Choice:
    """Hyper-parameters, and the number of folds in which they were chosen."""

    params: Mapping[str, Any]
    count: int


@dataclass(frozen=True)
class Summary:
    """The results of a study on one model.

    Parameters
    ----------
    study, model
        The study and the embedder.
    references
        The rows that changes are counted from.
    complete
        Whether every row was judged in every fold of every repeat.
    undefined
        Whether any value or test is undefined.
    cells
        By criterion, row and measure, in the study's order.
    chosen
        By row and criterion, the chosen hyper-parameters, the most frequent first; only rows that
        have hyper-parameters to choose.
    alike
        Whether every criterion led to the same values everywhere, so that one table shows all.
    family
        Number of comparisons of Holm's correction.
    chance
        By criterion and measure, the change that would leave the baseline's vectors with what
        chance alone shows; NaN if that is not known.
    test
        Name of the test; empty without one.
    overlap
        Texts that a row was both fitted and judged on.
    notes
        Caveats, a line each.
    statement
        Which rows differ from the baseline after Holm's correction, and which do not.
    """

    study: StudyPart
    model: ModelPart
    references: ReferenceRows
    complete: bool
    undefined: bool
    cells: Mapping[tuple[str, str, str], Cell]
    chosen: Mapping[tuple[str, str], tuple[Choice, ...]]
    alike: bool
    family: int
    chance: Mapping[tuple[str, str], float]
    test: str
    overlap: tuple[str, ...]
    notes: tuple[str, ...]
    statement: tuple[str, ...]

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria to print: one if all are alike."""
        return self.study.criteria[:1] if self.alike else self.study.criteria

    def detectable(self, criterion: str, measure: str) -> float:
        """Return the smallest difference from the baseline that the tests of a measure find.

        The median over rows of `Cell.detectable`; NaN without a test.
        """
        cells = (self.cells[criterion, row, measure] for row in self.contenders)
        sizes = [cell.detectable for cell in cells if math.isfinite(cell.detectable)]
        return median(sizes) if sizes else math.nan

    @property
    def contenders(self) -> tuple[str, ...]:
        """The rows that are compared with the baseline."""
        return self.references.contenders


def summarize(
    records: Iterable[StudyRecord], registry: Registry | None = None
) -> tuple[Summary, ...]:
    """Return a summary for each study and model.

    Parameters
    ----------
    records
        Of any studies, in any order. If those of one study on one model differ in what all rows
        share, or in the model's weights, only those like the newest record count.
    registry
        Where the mitigator of unit length is looked up; by default the installed plugins.
    """
    registry = registry or Registry()
    groups: dict[tuple[str, str], list[StudyRecord]] = {}
    for record in records:
        groups.setdefault((record.study.name, record.model.name), []).append(record)
    return tuple(_summary(group, registry) for group in groups.values())


def _summary(records: Sequence[StudyRecord], registry: Registry) -> Summary:
    newest = max(reversed(records), key=lambda record: record.created)
    study = newest.study
    kept = _latest(records, newest)
    references = ReferenceRows.of(study, registry)
    table = cells(references, kept)
    tests = [cell.comparison for cell in table.by_key.values() if cell.comparison]
    n_expected = len(study.rows) * study.repeats * study.folds
    return Summary(
        study=study,
        model=newest.model,
        references=references,
        complete=len(kept) == n_expected and not notes.mixed(study, kept),
        undefined=any(test.reason for test in tests) or any(map(_is_undefined, kept)),
        cells=table.by_key,
        chosen=_chosen(study, kept),
        alike=_alike(study, kept),
        family=table.family,
        chance=table.chance,
        test=tests[0].method if tests else "",
        overlap=tuple(sorted({text for record in kept for text in record.overlap})),
        notes=notes.notes(
            study, kept, ignored=len(records) - len(kept), tests=tests, unit=references.unit
        ),
        statement=statement(study, list(table.by_key.values()), table.family, chance=table.chance),
    )


def _latest(records: Sequence[StudyRecord], newest: StudyRecord) -> list[StudyRecord]:
    """Return the last record of each row and fold, of the same study and weights as `newest`."""
    latest: dict[tuple[str, int, int], StudyRecord] = {}
    for record in sorted(records, key=lambda record: record.created):
        if (
            record.study.digest == newest.study.digest
            and record.model.fingerprint == newest.model.fingerprint
            and record.row in newest.study.rows
        ):
            latest[record.row, record.repeat, record.fold] = record
    return list(latest.values())


def _is_undefined(record: StudyRecord) -> bool:
    return any(None in judged.values.values() for judged in record.judged.values())


def _chosen(
    study: StudyPart, records: Sequence[StudyRecord]
) -> dict[tuple[str, str], tuple[Choice, ...]]:
    chosen = {}
    for row in study.rows:
        of_row = [record.judged for record in records if record.row == row]
        if any(judged[criterion].params for judged in of_row for criterion in study.criteria):
            for criterion in study.criteria:
                params = (json.dumps(judged[criterion].params, sort_keys=True) for judged in of_row)
                counts = Counter(params).most_common()
                chosen[row, criterion] = tuple(Choice(json.loads(text), n) for text, n in counts)
    return chosen


def _alike(study: StudyPart, records: Sequence[StudyRecord]) -> bool:
    """Return whether each fold has the same values under every criterion."""
    return all(
        record.judged[criterion].values == record.judged[study.criteria[0]].values
        for record in records
        for criterion in study.criteria
    )
