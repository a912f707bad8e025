"""WEAT is 0 if a mitigator removes all differences, and void if the model had none."""

from __future__ import annotations

import dataclasses

import pytest

from harness import evaluate
from harness.embedder import MockEmbedder

TASK = """
name: buildings
version: 1
title: Whether buildings go with women
source: made for this test
measures: bias
category: gender
kinds: [text]
concept: gender
inputs:
  targets_1: {{words: [The house stood., The tower stood.]}}
  targets_2: {{words: [The boat sank., The ship sank.]}}
  attributes_1: {{words: [{first}]}}
  attributes_2: {{words: [{second}]}}
metrics:
  weat: {{}}
primary: {{metric: weat, score: effect_size}}
"""
WOMEN, MEN = "She came in., Her sister spoke.", "He came in., His brother spoke."


class Blind:
    """An embedder that gives all texts about people the same vector."""

    info = dataclasses.replace(MockEmbedder("text", 8).info, name="blind", fingerprint="blind")

    def encode(self, texts):
        texts_seen = ["someone" if text.endswith(("in.", "spoke.")) else text for text in texts]
        return MockEmbedder("text", 8).encode(texts_seen)


@pytest.fixture
def effects(tmp_path):
    """Return a function that gives the records of the effect size, by mitigator."""

    def run(model, *mitigators):
        path = tmp_path / "buildings.yaml"
        path.write_text(TASK.format(first=WOMEN, second=MEN), encoding="utf-8")
        records = evaluate(model, str(path), mitigators, cache=tmp_path / "cache")
        return {record.mitigator.name: record for record in records}

    return run


def test_a_mitigator_that_makes_attributes_equal_leaves_no_association(effects):
    records = effects(MockEmbedder("text", 8), "none", "swap-average")
    assert abs(records["none"].value) > 0.1
    assert records["swap-average"].value == 0
    assert records["swap-average"].reason is None
    assert records["swap-average"].p_value is None
    details = records["swap-average"].details
    assert "attributes" in details["undone"]
    assert details["before"] == pytest.approx(records["none"].value)


def test_the_effect_is_void_if_the_model_gives_equal_attributes(effects):
    records = effects(Blind(), "none", "swap-average", "normalize")
    assert {record.value for record in records.values()} == {None}
    (reason,) = {record.reason for record in records.values()}
    assert "attributes" in reason
