"""The survey of a vocabulary is independent of the block size, and cached."""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.embedder import Vocabulary
from harness.plugins.mitigators.fitting import vocabulary
from harness.plugins.mitigators.fitting.vocabulary import survey

ROWS = np.random.default_rng(0).standard_normal((300, 5)).astype(np.float32) * [5, 4, 3, 2, 1] + 1
ROWS[7] = 0
DIRECTION = np.array([0.6, 0.8, 0, 0, 0])


class CountingVocabulary(Vocabulary):
    """A vocabulary that counts how often it is read to its end."""

    def __init__(self) -> None:
        self.times = 0
        super().__init__([f"w{i}" for i in range(len(ROWS))], self._rows)

    def _rows(self, start: int, stop: int):
        self.times += stop == len(ROWS)
        return ROWS[start:stop].astype(np.float32)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("size", [16, 4096])
def test_the_mean_and_the_components_are_those_of_all_words(unit, size, monkeypatch):
    monkeypatch.setattr(vocabulary, "BLOCK", size)
    result = survey(CountingVocabulary(), DIRECTION, unit=unit)
    rows = unit_rows(ROWS) if unit else ROWS
    assert result.mean == pytest.approx(rows.mean(axis=0), abs=1e-6)
    expected = np.linalg.svd(rows - rows.mean(axis=0))[2]
    assert np.abs((result.components * expected).sum(axis=1)) == pytest.approx(1.0)


def test_the_mean_and_the_components_are_computed_once():
    words, before = CountingVocabulary(), ROWS.copy()
    surveys = {unit: survey(words, DIRECTION, unit=unit) for unit in (True, False)}
    assert words.times == 2
    for unit, first in surveys.items():
        again = survey(words, -DIRECTION, unit=unit)
        assert again.mean is first.mean
        assert again.components is first.components
        assert again.leanings == pytest.approx(-first.leanings)
    assert survey(CountingVocabulary(), DIRECTION, unit=True).mean is not surveys[True].mean
    assert (before == ROWS).all()


def test_leanings_are_cosines_and_0_for_a_zero_vector():
    for unit in (True, False):
        leanings = survey(CountingVocabulary(), DIRECTION, unit=unit).leanings
        assert leanings == pytest.approx(unit_rows(ROWS) @ DIRECTION, abs=1e-6)
        assert leanings[7] == 0
