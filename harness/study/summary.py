"""The summary of a study: its table with tests, the conclusion in sentences, and caveats.

It needs only records, so it can be computed at any time. `study_tables` prints it; the numbers come
from `cells`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from statistics import median
from typing import Any

from harness.errors import listed
from harness.results.record import ModelPart
from harness.study.cells import POWER, Cell, cells
from harness.study.significance import Comparison
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
        By criterion and measure, the change at which the baseline's distance from fair is that of
        chance; NaN if unknown.
    test
        Name of the test; empty without one.
    notes
        Caveats, a line each.
    statement
        Which rows differ from the baseline after Holm's correction, and which do not.
    """

    study: StudyPart
    model: ModelPart
    complete: bool
    undefined: bool
    cells: Mapping[tuple[str, str, str], Cell]
    chosen: Mapping[tuple[str, str], tuple[Choice, ...]]
    alike: bool
    family: int
    chance: Mapping[tuple[str, str], float]
    test: str
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
        return _detectable([c for c in self.cells.values() if c.criterion == criterion], measure)


def summarize(records: Iterable[StudyRecord]) -> tuple[Summary, ...]:
    """Return a summary for each study and model.

    Parameters
    ----------
    records
        Records of any studies, in any order. If records of one study on one model differ in the
        settings that all rows share, or in the model's weights, only those that agree with the
        newest record count.
    """
    groups: dict[tuple[str, str], list[StudyRecord]] = {}
    for record in records:
        groups.setdefault((record.study.name, record.model.name), []).append(record)
    return tuple(_summary(group) for group in groups.values())


def _summary(records: Sequence[StudyRecord]) -> Summary:
    newest = max(reversed(records), key=lambda record: record.created)
    study = newest.study
    kept = _latest(records, newest)
    table = cells(study, kept)
    tests = [cell.comparison for cell in table.by_key.values() if cell.comparison]
    n_expected = len(study.rows) * study.repeats * study.folds
    return Summary(
        study=study,
        model=newest.model,
        complete=len(kept) == n_expected,
        undefined=any(test.reason for test in tests) or any(map(_is_undefined, kept)),
        cells=table.by_key,
        chosen=_chosen(study, kept),
        alike=_alike(study, kept),
        family=table.family,
        chance=table.chance,
        test=tests[0].method if tests else "",
        notes=notes(study, kept, ignored=len(records) - len(kept), tests=tests),
        statement=statement(study, list(table.by_key.values()), table.family, chance=table.chance),
    )


def _latest(records: Sequence[StudyRecord], newest: StudyRecord) -> list[StudyRecord]:
    """Return the last record of each row and fold: of the study and the weights of `newest`.

    All folds of a row have the mitigator and the grid of its newest record.
    """
    ordered = [
        record
        for record in sorted(records, key=lambda record: record.created)
        if record.study.digest == newest.study.digest
        and record.model.fingerprint == newest.model.fingerprint
        and record.row in newest.study.rows
    ]
    of_row = {record.row: record.fingerprint for record in ordered}
    latest = {
        (record.row, record.repeat, record.fold): record
        for record in ordered
        if record.fingerprint == of_row[record.row]
    }
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


VERDICTS = {"better": "fairer", "worse": "less fair", "equal": "not told apart"}
"""The words of the statement for each verdict."""


def statement(
    study: StudyPart,
    cells: Sequence[Cell],
    family: int,
    *,
    chance: Mapping[tuple[str, str], float],
) -> tuple[str, ...]:
    """Return which rows differ significantly from the baseline, and which do not, in sentences.

    Parameters
    ----------
    study, cells
        The study and all its cells.
    family
        Number of comparisons of Holm's family.
    chance
        By criterion and measure, the change of the floor.
    """
    compared = [cell for cell in cells if cell.comparison]
    if not compared:
        return ()
    if not family:
        return (f"Nothing can be compared with {study.baseline} yet.",)
    lines = [
        f"Compared with {study.baseline}, after Holm's correction over {family} comparisons at "
        f"{study.alpha:g}:"
    ]
    for verdict, words in VERDICTS.items():
        cells_of = [cell for cell in compared if cell.verdict_holm == verdict]
        lines.append(f"{words}: {_rows(study, cells_of)}")
    if any(cell.verdict_holm == "equal" for cell in compared):
        lines.append(
            "Rows that are not told apart are not shown to be equal; the intervals say how far "
            "they may differ."
        )
        lines.append(_power(study, compared))
        if measures := _without_room(study, cells, chance):
            lines.append(
                f"Less than that is left between {study.baseline} and the floor by "
                f"{', '.join(measures)}: a row at the floor would often be missed."
            )
    return tuple(lines)


def _power(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return a sentence about the smallest differences that the tests find."""
    sizes = {measure: _detectable(cells, measure) for measure in study.measures}
    shown = ", ".join(f"{size:.3g} by {name}" for name, size in sizes.items() if isfinite(size))
    return f"A difference of this size would be found with a probability of {POWER:.0%}: {shown}."


def _without_room(
    study: StudyPart, cells: Sequence[Cell], chance: Mapping[tuple[str, str], float]
) -> list[str]:
    """Return the measures whose tests find a row at the floor less often than `POWER`."""
    rooms: dict[str, list[float]] = {}
    for cell in cells:
        if cell.row == study.baseline:
            room = abs(chance[cell.criterion, cell.measure] - cell.mean)
            rooms.setdefault(cell.measure, []).append(room)
    return [name for name, of_name in rooms.items() if max(of_name) < _detectable(cells, name)]


def _detectable(cells: Sequence[Cell], measure: str) -> float:
    """Return the median over rows of the smallest difference that is found; NaN without a test."""
    sizes = [c.detectable for c in cells if c.measure == measure and isfinite(c.detectable)]
    return median(sizes) if sizes else nan


def _rows(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return the rows of cells, each with its measures."""
    rows = dict.fromkeys(cell.row for cell in cells)
    texts = [f"{row} by {_measures(study, [c for c in cells if c.row == row])}" for row in rows]
    return "; ".join(texts) or "none"


def _measures(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return the measures of a row's cells, with the criteria if it is not all of them."""
    criteria: dict[str, list[str]] = {}
    for cell in cells:
        criteria.setdefault(cell.measure, []).append(cell.criterion)
    n = len(study.criteria)
    if len(criteria) == len(study.measures) and all(len(names) == n for names in criteria.values()):
        return "every measure"
    return ", ".join(
        measure if len(names) == n else f"{measure} (if chosen by {' or '.join(names)})"
        for measure, names in criteria.items()
    )


LISTED = 10
"""Number of words that a note lists; the others are counted."""


def notes(
    study: StudyPart,
    records: Sequence[StudyRecord],
    *,
    ignored: int,
    tests: Iterable[Comparison],
) -> tuple[str, ...]:
    """Return the caveats to print with a study's numbers, a line each.

    Parameters
    ----------
    study, records
        The study, and its records that count.
    ignored
        Number of other records of the same name.
    tests
        The comparisons with the baseline.
    """
    return (
        *_incomplete(study, records),
        *_ignored(ignored),
        *_protocol(study),
        *_missing_words(study, records),
        *(note for row in study.rows for note in _row(study, row, records)),
        *_without_test(tests),
    )


def _incomplete(study: StudyPart, records: Sequence[StudyRecord]) -> list[str]:
    expected = study.repeats * study.folds
    counts = {row: sum(record.row == row for record in records) for row in study.rows}
    short = [f"'{row}' has {n}" for row, n in counts.items() if n < expected]
    if not short:
        return []
    return [
        f"incomplete: of {expected} folds, {', '.join(short)}; run the study again to add the rest"
    ]


def _ignored(n: int) -> list[str]:
    if not n:
        return []
    return [
        f"{n} older records of the same name are ignored: their version, set-up, row or model "
        "differs"
    ]


def _protocol(study: StudyPart) -> list[str]:
    if study.pools:
        return []
    return [
        "protocol 'published': hyper-parameters were chosen on the fold that judges, which favours "
        "rows with large grids; the tests use the published code's variance, "
        f"s²/n (1 + 1/{study.folds}), and find too many differences"
    ]


def _missing_words(study: StudyPart, records: Sequence[StudyRecord]) -> list[str]:
    missing = sorted({word for record in records for word in record.missing})
    if not missing:
        return []
    return [
        f"the model lacks {len(missing)} words of the study: {listed(missing, LISTED)}; "
        f"the folds have {study.items} pairs or sets"
    ]


def _row(study: StudyPart, row: str, records: Sequence[StudyRecord]) -> list[str]:
    """Return the caveats of one row."""
    lines = []
    of_row = [record for record in records if record.row == row]
    if any(record.normalize not in (None, study.normalize) for record in of_row):
        lengths = "as they come" if study.normalize else "of length 1"
        lines.append(f"'{row}' starts from vectors {lengths}, unlike the other rows")
    return lines + _undefined_outside(study, row, of_row) + _undefined_inside(study, row, of_row)


def _undefined_outside(study: StudyPart, row: str, records: Sequence[StudyRecord]) -> list[str]:
    """Return how often and why a row is undefined in outer folds; equal measures share a line."""
    measures: dict[tuple[int, str], list[str]] = {}
    for measure in study.measures:
        undefined = [
            record
            for record in records
            if any(judged.values[measure] is None for judged in record.judged.values())
        ]
        if undefined:
            reasons = dict.fromkeys(
                record.reasons.get(measure, "no reason given") for record in undefined
            )
            measures.setdefault((len(undefined), "; ".join(reasons)), []).append(measure)
    return [
        f"'{row}' is undefined by {', '.join(names)} in {n} of {len(records)} folds: {reason}"
        for (n, reason), names in measures.items()
    ]


def _undefined_inside(study: StudyPart, row: str, records: Sequence[StudyRecord]) -> list[str]:
    """Return how often settings are undefined in inner folds; equal measures share a line."""
    fits = [fit for record in records for fit in record.inner]
    measures: dict[tuple[int, str], list[str]] = {}
    for measure in study.criteria:
        undefined = [fit for fit in fits if fit.values[measure] is None]
        if undefined:
            settings = dict.fromkeys(json.dumps(fit.params, sort_keys=True) for fit in undefined)
            measures.setdefault((len(undefined), ", ".join(settings)), []).append(measure)
    return [
        f"'{row}' is undefined by {', '.join(names)} in {n} of {len(fits)} fits of inner folds; "
        f"{settings} could not be chosen there"
        for (n, settings), names in measures.items()
    ]


def _without_test(tests: Iterable[Comparison]) -> list[str]:
    reasons: dict[str, int] = {}
    for test in tests:
        if test.reason:
            reasons[test.reason] = reasons.get(test.reason, 0) + 1
    return [f"{n} of the cells have no test: {reason}" for reason, n in reasons.items()]
