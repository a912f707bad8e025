"""Caveats to print with a study's numbers.

Sentences only; the numbers are in `cells`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from harness.study.significance import Comparison
from harness.study.study_record import StudyPart, StudyRecord

LISTED = 10
"""Number of words that a note lists before it counts the others."""


def notes(
    study: StudyPart,
    records: Sequence[StudyRecord],
    *,
    ignored: int,
    tests: Iterable[Comparison],
    unit: str | None,
) -> tuple[str, ...]:
    """Return the caveats to print with a study's numbers, a line each.

    Parameters
    ----------
    study, records
        The study, and those of its records that count.
    ignored
        Number of other records of the same name.
    tests
        The comparisons with the baseline.
    unit
        The study's row of vectors at length 1; None if it is not known.
    """
    return (
        *_incomplete(study, records),
        *_ignored(ignored),
        *_without_unit_length(study, unit=unit),
        *_protocol(study),
        *_judging(study),
        *_missing_words(study, records),
        *(note for row in study.rows for note in _row(study, row, records)),
        *_without_test(tests),
    )


def mixed(study: StudyPart, records: Sequence[StudyRecord]) -> list[str]:
    """Return the rows whose mitigator or grid differs between folds."""
    rows = []
    for row in study.rows:
        settings = {
            (
                record.mitigator,
                frozenset(json.dumps(inner.params, sort_keys=True) for inner in record.inner),
            )
            for record in records
            if record.row == row
        }
        if len(settings) > 1:
            rows.append(row)
    return rows


def _incomplete(study: StudyPart, records: Sequence[StudyRecord]) -> list[str]:
    expected = study.repeats * study.folds
    counts = {row: sum(record.row == row for record in records) for row in study.rows}
    short = [f"'{row}' has {n}" for row, n in counts.items() if n < expected]
    lines = []
    if short:
        lines.append(
            f"incomplete: of {expected} folds, {', '.join(short)}; run the study again to add the "
            "others"
        )
    if rows := mixed(study, records):
        lines.append(
            f"incomplete: the mitigator or grid of {_listed(rows)} differs between folds; run the "
            "study again"
        )
    return lines


def _ignored(n: int) -> list[str]:
    if not n:
        return []
    return [
        f"{n} older records of the same name are ignored: their version, set-up, row or model "
        "differs"
    ]


def _without_unit_length(study: StudyPart, *, unit: str | None) -> list[str]:
    if unit is not None or not study.normalize:
        return []
    return [
        "changes are counted from 'none', vectors as they come, because no installed plugin has a "
        "mitigator of unit length: they include the change from setting vectors to length 1"
    ]


def _protocol(study: StudyPart) -> list[str]:
    if study.protocol != "published":
        return []
    return [
        "protocol 'published': hyper-parameters were chosen on the fold that judges, which favours "
        "rows with large grids; the tests use the published code's variance, "
        f"s²/n (1 + 1/{study.folds}), and find too many differences"
    ]


def _judging(study: StudyPart) -> list[str]:
    if study.judging == "pooled" or study.protocol == "published":
        return []
    return [
        "these records are of a version that compared the mean distances of single folds, which on "
        "few pairs cannot come near 0; run the study again to compare pooled scores"
    ]


def _missing_words(study: StudyPart, records: Sequence[StudyRecord]) -> list[str]:
    missing = sorted({word for record in records for word in record.missing})
    if not missing:
        return []
    return [
        f"the model lacks {len(missing)} words of the study: {_listed(missing)}; the folds have "
        f"{study.items} pairs or sets"
    ]


def _row(study: StudyPart, row: str, records: Sequence[StudyRecord]) -> list[str]:
    """Return the caveats of one row."""
    lines = []
    of_row = [record for record in records if record.row == row]
    if any(record.normalize not in (None, study.normalize) for record in of_row):
        lengths = "as they come" if study.normalize else "of length 1"
        lines.append(f"'{row}' starts from vectors {lengths}, unlike the other rows")
    if overlap := sorted({text for record in of_row for text in record.overlap}):
        lines.append(f"'{row}' was judged on texts that it was fitted on: {_listed(overlap)}")
    return lines + _undefined_outside(study, row, of_row) + _undefined_inside(study, row, of_row)


def _undefined_outside(study: StudyPart, row: str, records: Sequence[StudyRecord]) -> list[str]:
    """Return how often and why a row is undefined in outer folds, equal measures in one line."""
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
    """Return how often which settings are undefined in inner folds, equal measures in one line."""
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


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - LISTED} more" if len(words) > LISTED else ""
    return ", ".join(words[:LISTED]) + more
