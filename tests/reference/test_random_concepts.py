"""A mitigator that is fitted on random words has no effect on bias: that is chance."""

from __future__ import annotations

import pytest

from tests.random_concepts import METHODS, effects

DRAWS = 60


@pytest.mark.parametrize("method", METHODS[:3])
def test_at_most_7_percent_of_fits_on_random_words_are_called_less_biased(method):
    found = effects("all-MiniLM-L6-v2", method, DRAWS)
    share = found["less"] / DRAWS
    # Two standard errors of such a share are .07.
    assert share <= 0.07 + 2 * (0.07 * 0.93 / DRAWS) ** 0.5
