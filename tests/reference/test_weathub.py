"""WEATHub on GloVe and all-MiniLM-L6-v2: the figures of docs/tasks.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.plugins.validity import measuring

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "tasks.md").read_text("utf-8")
SECTION = PAGE[PAGE.index("### In other languages: WEATHub") :]
SECTION = " ".join(SECTION[: SECTION.index("\n## ")].split())


def test_the_page_has_the_recorded_values_and_planted_bias_of_english(registry):
    rows = {row.model: row for row in measuring.recorded(registry) if row.task == "weathub-en"}
    assert not any(row.failures or row.missing for row in rows.values())
    glove, minilm = rows["glove-6b-50d"], rows["all-MiniLM-L6-v2"]
    stated = re.search(r"`gender` is (\.\d+) in English.* in all-MiniLM-L6-v2 (\.\d+)\.", SECTION)
    assert [*map(float, stated.groups())] == pytest.approx([glove.value, minilm.value], abs=0.0006)
    planted = re.search(r"found: (\.\d+), (\.\d+) and (\.\d+) at amplitudes", SECTION)
    assert [*map(float, planted.groups())] == pytest.approx(
        [glove.planted[key] for key in ("0.25", "0.5", "1")], abs=0.0006
    )


def test_glove_gives_the_mean_of_the_three_tests_of_weat(registry):
    rows = {
        row.task: row.value for row in measuring.recorded(registry) if row.model == "glove-6b-50d"
    }
    single = [rows[f"weat-{number}"] for number in (6, 7, 8)]
    assert rows["weathub-en"] == pytest.approx(sum(single) / 3, abs=1e-4)
    stated = re.search(r"the mean of (\.\d+), (\.\d+) and (\.\d+) of", SECTION)
    assert [*map(float, stated.groups())] == pytest.approx(single, abs=0.0006)
