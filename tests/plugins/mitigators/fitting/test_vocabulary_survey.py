"""What a vocabulary is like, whatever the blocks, and that it is found out once."""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.plugins.mitigators.fitting import vocabulary_survey
from harness.plugins.mitigators.fitting.vocabulary_survey import survey
from harness.vocabulary import Vocabulary

ROWS = np.random.default_rng(0).standard_normal((300, 5)).astype(np.float32) * [5, 4, 3, 2, 1] + 1
ROWS[7] = 0
DIRECTION = np.array([0.6, 0.8, 0, 0, 0])


class Read(Vocabulary):
    """A vocabulary that counts how often it is read from its beginning to its end."""

    def __init__(self) -> None:
        self.times = 0
        super().__init__([f"w{i}" for i in range(len(ROWS))], self._rows)

    def _rows(self, start: int, stop: int):
        self.times += stop == len(ROWS)
        return ROWS[start:stop].astype(np.float32)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("size", [16, 4096])
def test_the_mean_and_the_components_are_those_of_all_words(unit, size, monkeypatch):
    monkeypatch.setattr(vocabulary_survey, "BLOCK", size)
    found = survey(Read(), DIRECTION, unit=unit)
    rows = unit_rows(ROWS) if unit else ROWS
    assert found.mean == pytest.approx(rows.mean(axis=0), abs=1e-6)
    wanted = np.linalg.svd(rows - rows.mean(axis=0))[2]
    assert np.abs((found.components * wanted).sum(axis=1)) == pytest.approx(1.0)


def test_what_does_not_depend_on_the_direction_is_found_once():
    words, before = Read(), ROWS.copy()
    once = {unit: survey(words, DIRECTION, unit=unit) for unit in (True, False)}
    assert words.times == 2
    for unit, first in once.items():
        again = survey(words, -DIRECTION, unit=unit)
        assert again.mean is first.mean
        assert again.components is first.components
        assert again.leanings == pytest.approx(-first.leanings)
    assert survey(Read(), DIRECTION, unit=True).mean is not once[True].mean
    assert (before == ROWS).all()


def test_a_word_leans_by_its_cosine_and_a_zero_vector_not_at_all():
    for unit in (True, False):
        found = survey(Read(), DIRECTION, unit=unit).leanings
        assert found == pytest.approx(unit_rows(ROWS) @ DIRECTION, abs=1e-6)
        assert found[7] == 0
