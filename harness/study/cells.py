"""The cells of a study's table: a row's change of a measure, and its test against the baseline.

Numbers from records. Prints nothing, and says nothing about what lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats
from harness.study.significance import (
    Comparison,
    Posterior,
    Verdict,
    bayesian_correlated_t,
    corrected_t_test,
    holm,
    verdict,
)
from harness.study.study import RAW, UNIT
from harness.study.study_record import MeasurePart, StudyPart, StudyRecord

RESOLUTION = 1e-6
"""Differences no larger are 0: vectors have the seven digits of float32."""


@dataclass(frozen=True)
class Cell:
    """A row's values of a measure, its hyper-parameters chosen by a criterion.

    Parameters
    ----------
    criterion, row, measure
        Which cell it is.
    values
        (repeats × folds,) by repeat and fold, NaN where undefined: the score itself where it rises
        as it gets fairer, else its distance from fair.
    mean, sd, n
        Of the change against before, in the unit and direction of `values`, over the n folds
        where both are defined; sd with n − 1. NaN for the row that nothing comes before.
    comparison
        Test of the distance from fair against the baseline's: a negative mean is fairer than the
        baseline, whatever the measure. None for the baseline itself and for what is no contender.
    p_holm
        Its p-value after Holm's correction over the table; NaN without one.
    verdict, verdict_holm
        At the study's level, by the single test as published and after Holm's correction.
    posterior
        If the study has a region of practical equivalence: `left` is the probability of being
        fairer than the baseline by more than it.
    """

    criterion: str
    row: str
    measure: str
    values: tuple[float, ...]
    mean: float
    sd: float
    n: int
    comparison: Comparison | None = None
    p_holm: float = float("nan")
    verdict: Verdict | None = None
    verdict_holm: Verdict | None = None
    posterior: Posterior | None = None


def before(study: StudyPart, row: str) -> str | None:
    """Return the row that a row's change is counted from; None for vectors as they come."""
    if row == RAW:
        return None
    return UNIT if study.normalize and row != UNIT else RAW


def contenders(study: StudyPart) -> tuple[str, ...]:
    """Return the rows that are compared with the baseline."""
    besides = {study.baseline, RAW, UNIT} if study.normalize else {study.baseline, RAW}
    return tuple(row for row in study.rows if row not in besides)


def cells(
    study: StudyPart, records: Sequence[StudyRecord]
) -> tuple[dict[tuple[str, str, str], Cell], int]:
    """Return the cells by criterion, row and measure, and how many comparisons Holm's family has.

    The family is all comparisons of the table. What has nothing to choose is the same under every
    criterion: there it is one comparison if the baseline has no choice either.

    Parameters
    ----------
    study
        The study.
    records
        One for each row, repeat and fold at most; any may lack.
    """
    distances = _distances(study, records)
    n_test = float(np.mean([len(record.held_out) for record in records]))
    n_train = float(np.mean([record.train for record in records]))
    choosing = {record.row for record in records if record.inner}
    baseline = distances[study.rows.index(study.baseline)]
    tests: dict[tuple[str, str, str], Comparison] = {}
    family: dict[tuple[str, str, str], float] = {}
    for criterion, row, measure in _keys(study, contenders(study)):
        c, m = study.criteria.index(criterion), list(study.measures).index(measure)
        tested = corrected_t_test(
            (distances[study.rows.index(row)] - baseline)[c, m],
            test_to_train=n_test / n_train,
            confidence=1 - study.alpha,
            published=study.protocol == "published",
            folds=study.folds,
            resolution=RESOLUTION,
        )
        tests[criterion, row, measure] = tested
        family[_hypothesis(study, choosing, criterion, row, measure)] = tested.p_value
    adjusted = dict(zip(family, holm(list(family.values())).tolist(), strict=True))
    found = {}
    for criterion, row, measure in _keys(study, study.rows):
        c, m = study.criteria.index(criterion), list(study.measures).index(measure)
        own, start = distances[study.rows.index(row)][c, m], before(study, row)
        changes = own - distances[study.rows.index(start)][c, m] if start else own * np.nan
        changes = changes[np.isfinite(changes)]
        part = study.measures[measure]
        comparison = tests.get((criterion, row, measure))
        p_holm = float("nan")
        posterior = None
        if comparison:
            p_holm = adjusted[_hypothesis(study, choosing, criterion, row, measure)]
            if study.rope:
                posterior = bayesian_correlated_t(
                    own - baseline[c, m],
                    correlation=n_test / (n_test + n_train),
                    rope=study.rope,
                    resolution=RESOLUTION,
                )
        found[criterion, row, measure] = Cell(
            criterion=criterion,
            row=row,
            measure=measure,
            values=tuple(_as_shown(part, own).tolist()),
            mean=(-1 if part.rises else 1) * _mean(changes),
            sd=float(changes.std(ddof=1)) if len(changes) > 1 else float("nan"),
            n=len(changes),
            comparison=comparison,
            p_holm=p_holm,
            verdict=verdict(comparison, alpha=study.alpha) if comparison else None,
            verdict_holm=(
                verdict(comparison, alpha=study.alpha, p_value=p_holm) if comparison else None
            ),
            posterior=posterior,
        )
    return found, sum(not np.isnan(p) for p in adjusted.values())


def _distances(study: StudyPart, records: Sequence[StudyRecord]) -> Floats:
    """Return the (row, criterion, measure, repeat × fold) distances from fair, NaN where none."""
    shape = (len(study.rows), len(study.criteria), len(study.measures))
    distances = np.full((*shape, study.repeats * study.folds), np.nan)
    for record in records:
        row, place = study.rows.index(record.row), record.repeat * study.folds + record.fold
        for c, criterion in enumerate(study.criteria):
            judged = record.judged[criterion].values
            distances[row, c, :, place] = [
                np.nan if judged[measure] is None else judged[measure] for measure in study.measures
            ]
    return distances


def _keys(study: StudyPart, rows: Iterable[str]) -> list[tuple[str, str, str]]:
    return [(c, row, measure) for c in study.criteria for row in rows for measure in study.measures]


def _hypothesis(
    study: StudyPart, choosing: set[str], criterion: str, row: str, measure: str
) -> tuple[str, str, str]:
    """Return what names a comparison in the family."""
    chosen = row in choosing or study.baseline in choosing
    return criterion if chosen else "", row, measure


def _as_shown(measure: MeasurePart, distances: Floats) -> Floats:
    """Return distances as figures show them."""
    if measure.ideal == "higher":
        return -distances
    return float(measure.ideal) - distances if measure.rises else distances


def _mean(changes: Floats) -> float:
    return float(changes.mean()) if len(changes) else float("nan")
