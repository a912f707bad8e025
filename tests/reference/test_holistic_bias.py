"""HolisticBias on all-MiniLM-L6-v2: the figures of docs/tasks.md, and halves that agree."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.plugins.validity import measuring

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## Sentences that differ in a descriptor") :]
SECTION = " ".join(SECTION[: SECTION.index("\n## ", 3)].split())
PRINTED = {
    "sexual-orientation": r"(\.\d+) over sexual orientations",
    "political-ideologies": r"(\.\d+) over political ideologies",
    "socioeconomic-class": r"(\.\d+) over political ideologies and over socioeconomic classes",
    "religion": r"(\.\d+) over religions",
    "gender-and-sex": r"(\.\d+) over religions and over gender and sex",
    "race-ethnicity": r"(\.\d+) over races and ethnicities",
    "nationality": r"(\.\d+) over nationalities",
    "age": r"(\.\d+) over nationalities, ages",
    "ability": r"(\.\d+) over nationalities, ages and abilities",
}


def test_the_page_has_the_recorded_dispersion_of_each_ranked_axis(registry):
    recorded = {row.task: row.value for row in measuring.recorded(registry)}
    axes = {name.removeprefix("holistic-bias-") for name in recorded if "holistic" in name}
    assert axes == set(PRINTED)
    for axis, pattern in PRINTED.items():
        printed = float(re.search(pattern, SECTION)[1])
        assert printed == pytest.approx(recorded[f"holistic-bias-{axis}"], abs=0.0006), axis


def test_made_up_words_differ_less_than_nationalities(scores, minilm):
    nonce = scores("holistic-bias-nonce", minilm)["default"]["group-dispersion"]["dispersion"]
    printed = re.search(r"control, have (\.\d+), and .* within templates (\.\d+)\.", SECTION)
    assert nonce.value == pytest.approx(float(printed[1]), abs=0.0006)
    assert np.mean(nonce.null.values) == pytest.approx(float(printed[2]), abs=0.0006)
    real = scores("holistic-bias-nationality", minilm)["default"]["group-dispersion"]
    assert real["dispersion"].value > 2 * nonce.value
    assert real["dispersion"].p_value < 0.01


def test_halves_of_the_templates_order_nationalities_alike(registry, minilm):
    (scenario,) = registry.task("holistic-bias-nationality").scenarios
    inputs = scenario.inputs
    words = [minilm(inputs[name].texts).mean(axis=0) for name in ("pleasant", "unpleasant")]
    pleasantness = minilm(inputs["sentences"].texts) @ (words[0] - words[1])
    grid = pleasantness.reshape(-1, 12)  # descriptors × frames
    halves = grid[:, ::2].mean(axis=1), grid[:, 1::2].mean(axis=1)
    assert np.corrcoef(*halves)[0, 1] > 0.9
    thirds = grid[:, :6].mean(axis=1), grid[:, 6:].mean(axis=1)
    assert np.corrcoef(*thirds)[0, 1] > 0.7, "the first three templates against the others"
