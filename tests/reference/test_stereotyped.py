"""StereoSet and CrowS-Pairs on all-MiniLM-L6-v2: the figures of docs/tasks.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.plugins.metrics.related_choice import related_choice
from harness.plugins.metrics.stereotype_choice import stereotype_choice
from harness.plugins.validity import measuring

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Stereotypes and their opposites")[2].partition("\n## ")[0]
PROSE = " ".join(SECTION.split())
PRINTED = {
    "religion": r"score is (\.\d+) over religions",
    "nationality": r"(\.\d+) over nationalities",
    "physical-appearance": r"(\.\d+) over appearances",
    "gender": r"(\.\d+) over genders",
    "race-color": r"(\.\d+) over races",
    "age": r"(\.\d+) over ages",
    "socioeconomic": r"(\.\d+) over ages and over social classes",
    "sexual-orientation": r"(\.\d+) over sexual orientations",
}
FIRST = 12
"""Contexts that are encoded again here."""


@pytest.fixture(scope="module")
def recorded(registry):
    return {row.task: row.value for row in measuring.recorded(registry)}


def test_the_page_has_the_recorded_score_of_each_ranked_type(recorded):
    types = {name.removeprefix("crows-pairs-") for name in recorded if "crows" in name}
    assert types == set(PRINTED)
    for of_type, pattern in PRINTED.items():
        printed = float(re.search(pattern, PROSE)[1])
        assert printed == pytest.approx(recorded[f"crows-pairs-{of_type}"], abs=0.0006), of_type


def test_the_page_has_the_recorded_score_of_each_ranked_domain(recorded):
    domains = {name.removeprefix("stereoset-") for name in recorded if "stereoset" in name}
    assert domains == {"gender", "profession", "race"}
    for domain in domains:
        printed = float(re.search(rf"\| {domain} \| (\.\d+) \|", SECTION)[1])
        assert printed == pytest.approx(recorded[f"stereoset-{domain}"], abs=0.0006), domain


def test_the_scores_of_the_page_fit_each_other():
    """Both kinds have 140 contexts; ICAT is the related score times the distance from 1 or 0."""
    rows = re.findall(r"\| (gender|profession|race) \|" + r" (\.\d+) \|" * 5, SECTION)
    assert len(rows) == 3
    for _, *cells in rows:
        score, between, within, related, icat = map(float, cells)
        assert score == pytest.approx((between + within) / 2, abs=0.001)
        assert icat == pytest.approx(2 * related * min(score, 1 - score), abs=0.002)


def test_the_first_contexts_of_a_domain(registry, minilm):
    inputs = registry.task("stereoset-gender").scenarios[1].inputs
    names = ("contexts", "stereotyped", "anti_stereotyped", "unrelated")
    arrays = [minilm(inputs[name].texts[:FIRST]) for name in names]
    options = {"rng": np.random.default_rng(0), "resamples": 0}
    cosines = [np.sum(arrays[0] * part, axis=1) for part in arrays[1:]]
    share = stereotype_choice(*arrays[:3], **options)
    assert share.value == np.mean(cosines[0] > cosines[1])
    scores = related_choice(*arrays, **options)
    expected = np.mean([cosines[0] > cosines[2], cosines[1] > cosines[2]])
    assert scores["related_score"].value == pytest.approx(expected)
    assert scores["related_score"].value >= 0.8, "the model understands the contexts"
