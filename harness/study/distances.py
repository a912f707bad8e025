"""The distances from fair, fold by fold, by which the rows of a study are compared.

A study judges `pooled` unless its protocol is the published one: see `pooling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.arrays import Floats
from harness.study.pooling import pooled, pooled_floor
from harness.study.study_record import Judged, StudyPart, StudyRecord


class Key(NamedTuple):
    """The place of a cell in the table."""

    criterion: str
    row: str
    measure: str


class Distances:
    """The distances from fair of all rows.

    Parameters
    ----------
    study
        The study, as its records state it.
    records
        At most one for each row, repeat and fold.
    """

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

    def of(self, key: Key) -> Floats:
        """Return the (repeats × folds,) distances from fair; NaN where undefined.

        Pooled, their mean is the size of the pooled scores, or the size in each fold above its
        floor; single folds may be below 0.
        """
        judged = self._judged[key.criterion, key.row]
        if self._is_pooled(key.measure):
            scores = (j.signed.get(key.measure) if j else None for j in judged)
            n = len(self.study.measures[key.measure].scenarios)
            return pooled([of_fold or (None,) * n for of_fold in scores])
        distances = _numbers([j.values[key.measure] if j else None for j in judged])
        if self.study.judging == "pooled":
            distances -= np.nan_to_num(self._floors(key))
        return distances

    def chance(self, key: Key) -> float:
        """Return the mean distance if the sides of held-out pairs had no meaning.

        NaN if records do not tell, or if the measure does not depend on sides.
        """
        floors = self._floors(key)
        if not np.isfinite(floors).any():
            return float("nan")
        if not self._is_pooled(key.measure):
            return 0.0 if self.study.judging == "pooled" else float(np.nanmean(floors))
        n = len(self.study.measures[key.measure].scenarios)
        spreads = [
            (j.spreads.get(key.measure) if j else None) or (None,) * n
            for j in self._judged[key.criterion, key.row]
        ]
        shape = (self.study.repeats, self.study.folds, n)
        return pooled_floor(np.array(spreads, dtype=np.float64).reshape(shape))

    def _is_pooled(self, measure: str) -> bool:
        return self.study.judging == "pooled" and self.study.measures[measure].signed

    def _floors(self, key: Key) -> Floats:
        """Return the (repeats × folds,) mean distances with the sides of pairs swapped."""
        judged = self._judged[key.criterion, key.row]
        return _numbers([j.floors.get(key.measure) if j else None for j in judged])


def _numbers(values: Sequence[float | None]) -> Floats:
    return np.array(values, dtype=np.float64)
