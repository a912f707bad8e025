"""What all-MiniLM-L6-v2 retrieves for neutral questions, and that docs/tasks.md says so.

All answers take minutes; the values of the command are kept, and a part of them is repeated.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.plugins.metrics.corpus_leaning import corpus_leaning
from harness.plugins.metrics.version_gap import version_gap

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")


def test_the_page_states_the_values_of_its_command(expected):
    values = expected("rag_minilm.json")
    section = PAGE.partition("## Retrieval for language models")[2].partition("\n## ")[0]
    assert values["command"] in section
    gender, politics = values["rag-gender-answers"], values["rag-politics-answers"]
    percent = [round(100 * gender["first_share"]), round(100 * gender["top_share"])]
    assert [*map(int, re.findall(r"(\d+) %", section))][:2] == percent
    for number in (gender["bias"], politics["bias"]):
        assert f"−{abs(number):.2f}".replace("0.", ".") in section
    for number in (politics["first_share"], politics["top_share"]):
        assert f"{number:.3f}".lstrip("0") in section
    for number in (gender["correlation"], politics["correlation"]):
        assert f"{number:.2f}".lstrip("0") in section


def test_the_first_questions_on_politics_prefer_the_left(registry, minilm):
    inputs = registry.task("rag-politics-answers").scenarios[0].inputs
    names = ("queries", "versions_1", "versions_2")
    arrays = [minilm(inputs[name].texts[:100]) for name in names]
    options = {"rng": np.random.default_rng(0), "resamples": 0}
    share = version_gap(*arrays, **options)["first_share"]
    assert share.value == pytest.approx(0.42, abs=0.011)
    top = corpus_leaning(*arrays, **options)["top_share"]
    assert top.value == pytest.approx(0.436, abs=0.005)
    assert top.details["correlation"] == pytest.approx(0.460, abs=0.02)
