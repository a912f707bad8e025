"""The cells of a study's table: a row's change of a measure, and its test against the baseline.

Numbers from records; prints nothing. Changes are measured from a reference row: the original
vectors, which is `none`, or vectors at length 1.

Rows are compared by their distances from fair, fold by fold. A study compares them `pooled`, unless
its protocol is the published one. The absolute value of a score on four or five pairs cannot be
near 0, even for fair vectors. So a signed score is pooled: first its mean over all folds is
computed, then the absolute value. For any other score the absolute value in each fold is used,
minus its value with the sides of the pairs swapped at random. In simulated studies without a true
difference, in which one method only has a smaller spread of pairs, tests of absolute values reject
51 %, and tests of pooled scores 1 %. Pooled scores also find most true differences
(`tests/reference/test_study_floor.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.study.significance import (
    Comparison,
    Verdict,
    corrected_t_test,
    detectable,
    holm,
    verdict,
)
from harness.study.study_record import Judged, MeasurePart, StudyPart, StudyRecord

POWER = 0.8
"""Probability with which a difference of the size `Cell.detectable` is found."""
RESOLUTION = 1e-6
"""Differences of at most this size count as 0: vectors have the seven digits of float32."""


@dataclass(frozen=True)
class Cell:
    """A row's values of a measure, with hyper-parameters chosen by a criterion.

    Parameters
    ----------
    criterion, row, measure
        Place of the cell in the table.
    values
        (repeats × folds,) by repeat and fold, NaN where undefined: the distance from fair. If
        higher scores are fairer: the fair value minus this distance.
    mean, sd, n
        Of the change from the reference row, in the unit and direction of `values`, over the n
        folds where both are defined; sd with n − 1. NaN for the original vectors, which have no
        reference row.
    comparison
        Test of the distance from fair against the baseline's: a negative mean is fairer than the
        baseline, whatever the measure. None for the baseline and the reference rows.
    p_holm
        The p-value after Holm's correction over the table; NaN without a test.
    verdict, verdict_holm
        At the study's level, by the single test and after Holm's correction.
    detectable
        Smallest true difference from the baseline that the test finds with a probability of `POWER`
        at the first level of Holm's correction; NaN without a test.
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
    detectable: float = float("nan")


@dataclass(frozen=True)
class Cells:
    """All cells of a study on a model.

    Parameters
    ----------
    by_key
        The cells by criterion, row and measure, in the study's order.
    family
        Number of comparisons of Holm's family.
    chance
        By criterion and measure, the change at which the baseline's distance from fair is that of
        chance, in the unit and direction of `Cell.mean`; NaN if unknown.
    """

    by_key: Mapping[tuple[str, str, str], Cell]
    family: int
    chance: Mapping[tuple[str, str], float]


def cells(study: StudyPart, records: Sequence[StudyRecord]) -> Cells:
    """Return all cells of a study.

    Holm's family is all comparisons of the table. If neither a row nor the baseline has
    hyper-parameters to choose, all criteria give the same values, and count as one comparison.

    Parameters
    ----------
    study
        The study, as its records state it.
    records
        At most one for each row, repeat and fold.
    """
    return _Table(study, records).cells()


class _Table:
    """The distances of a study, and the cells computed from them."""

    def __init__(self, study: StudyPart, records: Sequence[StudyRecord]) -> None:
        self.study = study
        self._judged: dict[tuple[str, str], list[Judged | None]] = {
            (criterion, row): [None] * (study.repeats * study.folds)
            for criterion in study.criteria
            for row in study.rows
        }
        for record in records:
            place = record.repeat * study.folds + record.fold
            for criterion in study.criteria:
                self._judged[criterion, record.row][place] = record.judged[criterion]
        self.n_test = float(np.mean([len(record.held_out) for record in records]))
        self.n_train = float(np.mean([record.train for record in records]))
        self.choosing = {record.row for record in records if record.inner}

    def cells(self) -> Cells:
        tests = {key: self._test(key) for key in self._keys(self.study.contenders)}
        family = {self._hypothesis(key): test.p_value for key, test in tests.items()}
        adjusted = dict(zip(family, holm(list(family.values())).tolist(), strict=True))
        n_tests = sum(not np.isnan(p) for p in adjusted.values())
        by_key: dict[tuple[str, str, str], Cell] = {}
        for key in self._keys(self.study.rows):
            test = tests.get(key)
            p_holm = adjusted[self._hypothesis(key)] if test else float("nan")
            cell = self._cell(key, test, p_holm)
            if test and n_tests:
                smallest = detectable(test, level=self.study.alpha / n_tests, power=POWER)
                cell = replace(cell, detectable=smallest)
            by_key[key] = cell
        return Cells(by_key, n_tests, self._chance())

    def _chance(self) -> dict[tuple[str, str], float]:
        changes = {}
        for key in self._keys([self.study.baseline]):
            start = self.study.before(key.row)
            before = _mean(_finite(self._of(key._replace(row=start)))) if start else np.nan
            sign = -1 if self.study.measures[key.measure].rises else 1
            change = sign * (self._chance_of(key) - before)
            changes[key.criterion, key.measure] = float(change)
        return changes

    def _cell(self, key: Key, test: Comparison | None, p_holm: float) -> Cell:
        study, part = self.study, self.study.measures[key.measure]
        of, start = self._of, study.before(key.row)
        distances = of(key)
        changes = _finite(distances - of(key._replace(row=start)) if start else distances * np.nan)
        return Cell(
            *key,
            values=tuple(_as_shown(part, distances).tolist()),
            mean=(-1 if part.rises else 1) * _mean(changes),
            sd=float(changes.std(ddof=1)) if len(changes) > 1 else float("nan"),
            n=len(changes),
            comparison=test,
            p_holm=p_holm,
            verdict=verdict(test, alpha=study.alpha) if test else None,
            verdict_holm=verdict(test, alpha=study.alpha, p_value=p_holm) if test else None,
        )

    def _test(self, key: Key) -> Comparison:
        """Return the test of the distances from fair against the baseline's."""
        of = self._of
        return corrected_t_test(
            of(key) - of(key._replace(row=self.study.baseline)),
            test_to_train=self.n_test / self.n_train,
            confidence=1 - self.study.alpha,
            published_folds=None if self.study.pools else self.study.folds,
            resolution=RESOLUTION,
        )

    def _of(self, key: Key) -> Floats:
        """Return the (repeats × folds,) distances from fair; NaN where undefined.

        If pooled, their mean is the absolute pooled score, or the mean of the absolute values minus
        their floors; single folds may be below 0.
        """
        judged = self._judged[key.criterion, key.row]
        if self._is_pooled(key.measure):
            scores = (j.signed.get(key.measure) if j else None for j in judged)
            n = len(self.study.measures[key.measure].scenarios)
            return pooled([of_fold or (None,) * n for of_fold in scores])
        distances = np.array([j.values[key.measure] if j else None for j in judged], float)
        if self.study.pools:
            distances -= np.nan_to_num(self._floors(key))
        return distances

    def _chance_of(self, key: Key) -> float:
        """Return the mean distance for pairs with sides swapped at random.

        NaN if the records do not state it, or if the measure does not depend on sides.
        """
        floors = self._floors(key)
        if not np.isfinite(floors).any():
            return float("nan")
        if not self._is_pooled(key.measure):
            return 0.0 if self.study.pools else float(np.nanmean(floors))
        n = len(self.study.measures[key.measure].scenarios)
        spreads = [
            (j.spreads.get(key.measure) if j else None) or (None,) * n
            for j in self._judged[key.criterion, key.row]
        ]
        shape = (self.study.repeats, self.study.folds, n)
        return pooled_floor(np.array(spreads, dtype=np.float64).reshape(shape))

    def _is_pooled(self, measure: str) -> bool:
        return self.study.pools and self.study.measures[measure].signed

    def _floors(self, key: Key) -> Floats:
        """Return the (repeats × folds,) mean distances with the sides of pairs swapped."""
        judged = self._judged[key.criterion, key.row]
        return np.array([j.floors.get(key.measure) if j else None for j in judged], float)

    def _keys(self, rows: Iterable[str]) -> list[Key]:
        criteria, measures = self.study.criteria, self.study.measures
        return [Key(c, row, measure) for c in criteria for row in rows for measure in measures]

    def _hypothesis(self, key: Key) -> Key:
        """Return the key of a comparison in the family."""
        chosen = key.row in self.choosing or self.study.baseline in self.choosing
        return key if chosen else key._replace(criterion="")


def _as_shown(measure: MeasurePart, distances: Floats) -> Floats:
    """Return distances as figures show them."""
    if measure.ideal == "higher":
        return -distances
    return float(measure.ideal) - distances if measure.rises else distances


def _finite(changes: Floats) -> Floats:
    return changes[np.isfinite(changes)]


def _mean(changes: Floats) -> float:
    return float(changes.mean()) if len(changes) else float("nan")


class Key(NamedTuple):
    """The place of a cell in the table."""

    criterion: str
    row: str
    measure: str


def pooled(signed: Sequence[Sequence[float | None]]) -> Floats:
    """Return the contribution of each fold to the absolute pooled score.

    The mean of the result is the mean over scenarios of |mean of the signed scores over folds|.

    Parameters
    ----------
    signed
        (folds, scenarios) scores less their fair value; None where undefined.

    Returns
    -------
    Floats
        (folds,) NaN for a fold in which any scenario is undefined.
    """
    scores = np.asarray(signed, dtype=np.float64)
    defined = np.isfinite(scores).all(axis=1)
    directions = np.sign(scores[defined].sum(axis=0))
    return np.where(defined, (scores * directions).mean(axis=1), np.nan)


def pooled_floor(spreads: npt.ArrayLike) -> float:
    """Return the mean absolute pooled score for pairs with sides swapped at random.

    The mean over many folds is nearly normal, and the mean absolute value of a centred normal
    variable is √(2/π) of its standard deviation.

    Parameters
    ----------
    spreads
        (repeats, folds, scenarios) standard deviation of the scores with the sides of pairs
        swapped at random. Repeats judge the same pairs, so they do not lower the floor.
    """
    deviations = np.asarray(spreads, dtype=np.float64)
    folds = deviations.shape[1]
    of_mean = np.sqrt((deviations**2).sum(axis=1)) / folds
    return float(np.sqrt(2 / np.pi) * of_mean.mean())
