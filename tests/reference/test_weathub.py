"""WEATHub on GloVe: the English task repeats three tests of WEAT."""

from __future__ import annotations

import pytest

from harness.plugins.validity import measuring


def test_glove_gives_the_mean_of_the_three_tests_of_weat(registry):
    rows = {
        row.task: row.value for row in measuring.recorded(registry) if row.model == "glove-6b-50d"
    }
    single = [rows[f"weat-{number}"] for number in (6, 7, 8)]
    assert rows["weathub-en"] == pytest.approx(sum(single) / 3, abs=1e-4)
