"""What must be said beside a study's numbers: what lacks, what was bent, what is not shown.

Sentences only; the numbers are `cells`'.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from harness.study.cells import Cell
from harness.study.significance import Comparison
from harness.study.study_record import StudyPart, StudyRecord

TOLD = 10
"""Words that a note names before it counts the others."""
VERDICTS = {"better": "fairer", "worse": "less fair", "equal": "not told apart"}
"""Verdicts in the words of the statement."""


def notes(
    study: StudyPart,
    records: Sequence[StudyRecord],
    *,
    passed_over: int,
    tests: Iterable[Comparison],
) -> tuple[str, ...]:
    """Return what must be known to read the numbers, a line each.

    Parameters
    ----------
    study, records
        The study and those of its records that count.
    passed_over
        How many others there are of the same name.
    tests
        The comparisons with the baseline.
    """
    told = [*_lacking(study, records)]
    if rows := mixed(study, records):
        told.append(
            f"incomplete: {_listed(rows)} was set otherwise in some folds than in others; run the "
            "study again"
        )
    if passed_over:
        told.append(
            f"{passed_over} older records of the same name are not counted: they are of another "
            "version, set-up, row or model"
        )
    if study.protocol == "published":
        told.append(
            "protocol 'published': hyper-parameters were chosen on the fold that judges, which "
            "flatters whoever has most to choose, and the tests have the published code's "
            f"variance, s²/n (1 + 1/{study.folds}), which finds more than there is"
        )
    if missing := sorted({word for record in records for word in record.missing}):
        told.append(
            f"the model lacks {len(missing)} words of the study: {_listed(missing)}; "
            f"{study.items} pairs or sets were dealt out"
        )
    for row in study.rows:
        own = [record for record in records if record.row == row]
        if any(record.normalize not in (None, study.normalize) for record in own):
            lengths = "as they come" if study.normalize else "at length 1"
            told.append(f"'{row}' starts from vectors {lengths}, unlike the others")
        if overlap := sorted({text for record in own for text in record.overlap}):
            told.append(f"'{row}' was judged on what it was fitted on: {_listed(overlap)}")
        told += _undefined(study, row, own)
    reasons: dict[str, int] = {}
    for test in tests:
        if test.reason:
            reasons[test.reason] = reasons.get(test.reason, 0) + 1
    told += [f"without a test in {n} of the cells: {reason}" for reason, n in reasons.items()]
    return tuple(told)


def mixed(study: StudyPart, records: Sequence[StudyRecord]) -> list[str]:
    """Return the rows whose mitigator or grid was changed between folds."""
    found = []
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
            found.append(row)
    return found


def statement(study: StudyPart, cells: Sequence[Cell], family: int) -> tuple[str, ...]:
    """Return what can be told apart from the baseline, and what can not, in sentences."""
    compared = [cell for cell in cells if cell.comparison]
    if not compared:
        return ()
    if not family:
        return (f"Nothing can be compared with {study.baseline} yet.",)
    told = [
        f"Compared with {study.baseline}, after Holm's correction over {family} comparisons at "
        f"{study.alpha:g}:"
    ]
    for verdict, words in VERDICTS.items():
        told.append(f"{words}: {_those(study, [c for c in compared if c.verdict_holm == verdict])}")
    if any(cell.verdict_holm == "equal" for cell in compared):
        told.append("What is not told apart is not shown to be equal; the intervals tell how far.")
    if study.rope:
        level = 1 - study.alpha
        alike = [c for c in compared if c.posterior and c.posterior.rope >= level]
        told.append(
            f"within {study.rope:g} of it with a probability of at least {level:g}: "
            f"{_those(study, alike)}"
        )
    return tuple(told)


def _those(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return the rows of cells, each with where they lie."""
    rows = dict.fromkeys(cell.row for cell in cells)
    told = [f"{row} by {_where(study, [c for c in cells if c.row == row])}" for row in rows]
    return "; ".join(told) or "none"


def _where(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return which measures the cells of a row are of, and under which criteria."""
    by_measure: dict[str, list[str]] = {}
    for cell in cells:
        by_measure.setdefault(cell.measure, []).append(cell.criterion)
    whole = len(study.criteria)
    if len(by_measure) == len(study.measures) and all(len(c) == whole for c in by_measure.values()):
        return "every measure"
    return ", ".join(
        measure if len(c) == whole else f"{measure} (if chosen by {' or '.join(c)})"
        for measure, c in by_measure.items()
    )


def _lacking(study: StudyPart, records: Sequence[StudyRecord]) -> list[str]:
    there = {row: sum(record.row == row for record in records) for row in study.rows}
    whole = study.repeats * study.folds
    lacking = [f"'{row}' has {n}" for row, n in there.items() if n < whole]
    if not lacking:
        return []
    return [f"incomplete: of {whole} folds {', '.join(lacking)}; another run goes on from there"]


def _undefined(study: StudyPart, row: str, records: Sequence[StudyRecord]) -> list[str]:
    """Return what of a row has no value, how often and why; measures alike in it share a line."""
    judged: dict[tuple[int, str], list[str]] = {}
    inner: dict[tuple[int, str], list[str]] = {}
    fits = [one for record in records for one in record.inner]
    for measure in study.measures:
        undefined = [
            record
            for record in records
            if any(one.values[measure] is None for one in record.judged.values())
        ]
        if undefined:
            why = dict.fromkeys(one.reasons.get(measure, "no reason given") for one in undefined)
            judged.setdefault((len(undefined), "; ".join(why)), []).append(measure)
        lost = [one for one in fits if one.values[measure] is None]
        if lost and measure in study.criteria:
            settings = dict.fromkeys(_params(one.params) for one in lost)
            inner.setdefault((len(lost), ", ".join(settings)), []).append(measure)
    return [
        *(
            f"'{row}' has no value of {', '.join(measures)} in {n} of {len(records)} folds: {why}"
            for (n, why), measures in judged.items()
        ),
        *(
            f"'{row}' has no value of {', '.join(measures)} in {n} of {len(fits)} fits of inner "
            f"folds, so that {settings} could not be chosen there"
            for (n, settings), measures in inner.items()
        ),
    ]


def _params(params: object) -> str:
    return json.dumps(params, sort_keys=True)


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - TOLD} more" if len(words) > TOLD else ""
    return ", ".join(words[:TOLD]) + more
