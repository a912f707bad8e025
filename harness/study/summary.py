"""What a study says: its table with tests, what was chosen, and what must be said beside it.

From records alone, so that it can be told again at any time. How it is printed is for `tables`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.results.record import ModelPart
from harness.study import notes
from harness.study.cells import Cell, cells, contenders
from harness.study.study_record import StudyPart, StudyRecord


@dataclass(frozen=True)
class Choice:
    """Hyper-parameters, and in how many folds they were chosen."""

    params: Mapping[str, Any]
    count: int


@dataclass(frozen=True)
class Summary:
    """What a study says of one model.

    Parameters
    ----------
    study, model
        The study and the embedder.
    complete
        Whether every row was judged in every fold of every repeat.
    undefined
        Whether a value or a test is.
    cells
        By criterion, row and measure, in the study's order.
    chosen
        By row and criterion, what was chosen, the most often chosen first; of rows that have
        hyper-parameters.
    alike
        Whether every criterion led to the same values everywhere, so that one stands for all.
    family
        How many comparisons Holm's correction is over.
    test
        The test in words; empty without one.
    overlap
        Texts that a row was judged on and fitted on too.
    notes
        What must be known to read the numbers.
    statement
        What can be told apart from the baseline after Holm's correction, and what can not.
    """

    study: StudyPart
    model: ModelPart
    complete: bool
    undefined: bool
    cells: Mapping[tuple[str, str, str], Cell]
    chosen: Mapping[tuple[str, str], tuple[Choice, ...]]
    alike: bool
    family: int
    test: str
    overlap: tuple[str, ...]
    notes: tuple[str, ...]
    statement: tuple[str, ...]

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria to print: one if all are alike."""
        return self.study.criteria[:1] if self.alike else self.study.criteria

    @property
    def contenders(self) -> tuple[str, ...]:
        """The rows that are compared with the baseline."""
        return contenders(self.study)


def summarize(records: Iterable[StudyRecord]) -> tuple[Summary, ...]:
    """Return a summary for each study and model.

    Parameters
    ----------
    records
        Of any studies, in any order. Of one study on one model the last written are taken: if they
        differ in what all rows share, or in the model's weights, the others are passed over.
    """
    groups: dict[tuple[str, str], list[StudyRecord]] = {}
    for record in records:
        groups.setdefault((record.study.name, record.model.name), []).append(record)
    return tuple(_summary(group) for group in groups.values())


def _summary(written: Sequence[StudyRecord]) -> Summary:
    written = sorted(written, key=lambda record: record.created)
    last = written[-1]
    study = last.study
    latest: dict[tuple[str, int, int], StudyRecord] = {}
    for record in written:
        shared = (record.study.digest, record.model.fingerprint)
        if shared == (study.digest, last.model.fingerprint) and record.row in study.rows:
            latest[record.row, record.repeat, record.fold] = record
    kept = list(latest.values())
    found, family = cells(study, kept)
    tests = [cell.comparison for cell in found.values() if cell.comparison]
    told = notes.notes(study, kept, passed_over=len(written) - len(kept), tests=tests)
    return Summary(
        study=study,
        model=last.model,
        complete=len(kept) == len(study.rows) * study.repeats * study.folds
        and not notes.mixed(study, kept),
        undefined=any(test.reason for test in tests)
        or any(
            value is None
            for one in kept
            for j in one.judged.values()
            for value in j.values.values()
        ),
        cells=found,
        chosen=_chosen(study, kept),
        alike=_alike(study, kept),
        family=family,
        test=tests[0].method if tests else "",
        overlap=tuple(sorted({text for record in kept for text in record.overlap})),
        notes=told,
        statement=notes.statement(study, list(found.values()), family),
    )


def _chosen(
    study: StudyPart, records: Sequence[StudyRecord]
) -> dict[tuple[str, str], tuple[Choice, ...]]:
    chosen = {}
    for row in study.rows:
        own = [record.judged for record in records if record.row == row]
        if any(judged[criterion].params for judged in own for criterion in study.criteria):
            for criterion in study.criteria:
                found = (json.dumps(judged[criterion].params, sort_keys=True) for judged in own)
                counts = Counter(found).most_common()
                chosen[row, criterion] = tuple(Choice(json.loads(one), n) for one, n in counts)
    return chosen


def _alike(study: StudyPart, records: Sequence[StudyRecord]) -> bool:
    """Return whether each fold has the same values under every criterion."""
    return all(
        record.judged[criterion].values == record.judged[study.criteria[0]].values
        for record in records
        for criterion in study.criteria
    )
