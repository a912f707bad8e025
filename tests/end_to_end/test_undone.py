"""A difference that a mitigator takes away is gone; one that never was is not to be had."""

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
    """An embedder to which all texts about people are one."""

    info = dataclasses.replace(MockEmbedder("text", 8).info, name="blind", fingerprint="blind")

    def encode(self, texts):
        told = ["someone" if text.endswith(("in.", "spoke.")) else text for text in texts]
        return MockEmbedder("text", 8).encode(told)


@pytest.fixture
def effects(tmp_path):
    """Return the records of the effect size, by mitigator."""

    def run(model, *mitigators):
        path = tmp_path / "buildings.yaml"
        path.write_text(TASK.format(first=WOMEN, second=MEN), encoding="utf-8")
        records = evaluate(model, str(path), mitigators, cache=tmp_path / "cache")
        return {record.mitigator.name: record for record in records}

    return run


def test_a_mitigator_that_makes_attributes_alike_leaves_no_association(effects):
    found = effects(MockEmbedder("text", 8), "none", "swap-average")
    assert abs(found["none"].value) > 0.1
    assert found["swap-average"].value == 0
    assert found["swap-average"].reason is None
    assert found["swap-average"].p_value is None
    details = found["swap-average"].details
    assert details["undone"] == "all targets are equally associated with the attributes"
    assert details["before"] == pytest.approx(found["none"].value)


def test_attributes_that_the_model_itself_cannot_tell_apart_stay_void(effects):
    found = effects(Blind(), "none", "swap-average", "normalize")
    assert {record.value for record in found.values()} == {None}
    assert {record.reason for record in found.values()} == {
        "all targets are equally associated with the attributes"
    }
