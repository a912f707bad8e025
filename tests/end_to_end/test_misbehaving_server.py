"""A hosted model whose server misbehaves: there is no score without a vector for each text.

The server speaks the real protocol on 127.0.0.1, through the real client. The kinds of faults of
single answers are in `tests/plugins/embedders/hosted`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from loopback import DIMENSIONS, Fault, Loopback, vector

from harness.errors import HarnessError
from harness.results.records import NotRunWarning
from harness.run.evaluation import evaluate

TEXTS = [f"{kind}{i}" for kind in "abcd" for i in range(10)]
TASK = f"""
name: tiny
version: 1
title: Forty texts
category: gender
inputs:
  targets_1: {{words: [{", ".join(TEXTS[:10])}]}}
  targets_2: {{words: [{", ".join(TEXTS[10:20])}]}}
  attributes_1: {{words: [{", ".join(TEXTS[20:30])}]}}
  attributes_2: {{words: [{", ".join(TEXTS[30:])}]}}
metrics:
  weat: {{options: {{permutations: 10}}}}
primary: {{metric: weat, score: effect_size}}
"""


SPOILT: dict[str, tuple[Callable[[str], Any], str]] = {
    "null for a text": (lambda text: [None] * DIMENSIONS if text == "c3" else None, "c3"),
    "NaN for a text": (lambda text: [float("nan")] * DIMENSIONS if text == "c3" else None, "c3"),
    "one vector for all texts": (lambda _: vector("a").tolist(), "all texts have the same vector"),
    "uint8 for all texts": (lambda text: list(sha256(text.encode()).digest()), "whole numbers"),
    "base64 for all texts": (lambda _: "AACAPwAAgD8=", "not a list of numbers"),
}


@pytest.mark.parametrize("habit", SPOILT)
def test_there_is_no_score_without_a_vector_for_each_text(
    habit: str, loopback: Loopback, tmp_path: Path
) -> None:
    embedding, fact = SPOILT[habit]

    def twist(answer: dict[str, Any]) -> None:
        for item, text in zip(answer["data"], loopback.requests[-1]["input"], strict=True):
            item["embedding"] = embedding(text) or item["embedding"]

    loopback.always = lambda _: Fault(twist=twist)
    task = tmp_path / "tiny.yaml"
    task.write_text(TASK)
    served = f"openai:toy?base_url={loopback.url}&retries=0&parallel=1"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotRunWarning)
        try:
            records = evaluate(served, task, results=None, cache=tmp_path / "cache")
        except HarnessError as error:
            lines = [str(error)]
        else:
            assert all(record.value is None for record in records)
            lines = [*records.notices, *(entry.reason for entry in records.not_run)]
            lines += [record.reason or "" for record in records]
    assert fact in "\n".join([*lines, *(str(warning.message) for warning in caught)])
