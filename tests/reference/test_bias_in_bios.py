"""Bias in Bios on 280 biographies: the scores, and that they are at chance."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import harness
from harness import tasks

MITIGATORS = ("none", "hard-debias", "leace", "inlp")
SCORES = {
    "gap_rms": (0.298, 0.276, 0.276, 0.319),
    "gap_correlation": (0.603, 0.337, 0.337, 0.564),
    "accuracy": (0.414, 0.400, 0.411, 0.389),
}
"""By mitigator, of means of GloVe's word vectors. The regressions have converged: where
scikit-learn stops by default, one text of 280 is on the other side of a tie in two mitigators."""
TASK = """\
include: _bias_in_bios.yaml
name: bios-sample
version: 1
title: 280 biographies
licence: not stated
tables:
  all: {file: sample.jsonl}
  coded: {made_from: all, made_by: codes, options: {column: profession, into: profession}}
  biographies:
    made_from: coded
    made_by: codes
    options: {column: gender, values: [Male, Female], into: gender}
inputs:
  items: {column: text}
"""


@pytest.fixture(scope="module")
def records(fetched_data, tmp_path_factory):
    """Return the records of word vectors by mitigator and score."""
    sample = Path(os.environ["HARNESS_DATA"]) / "bias_in_bios" / "sample_28x10.jsonl"
    if not sample.is_file():
        pytest.skip("the sample of Bias in Bios states no licence and has no single address")
    folder = tmp_path_factory.mktemp("bios")
    shutil.copy(sample, folder / "sample.jsonl")
    shutil.copy(Path(tasks.__file__).parent / "bias_in_bios" / "_bias_in_bios.yaml", folder)
    (folder / "bios-sample.yaml").write_text(TASK)
    found = harness.evaluate(
        "bag-of-words:glove-6b-50d",
        str(folder / "bios-sample.yaml"),
        mitigators=MITIGATORS,
        cache=folder / "cache",
    )
    return {(record.mitigator.name, record.score): record for record in found}


@pytest.mark.parametrize("score", SCORES)
def test_the_scores_of_word_vectors_are_as_measured(records, score):
    values = [records[name, score].value for name in MITIGATORS]
    assert values == pytest.approx(SCORES[score], abs=0.0006)


def test_the_root_mean_square_is_at_its_floor_and_the_correlation_is_not(records):
    gap, correlation = records["none", "gap_rms"], records["none", "gap_correlation"]
    assert gap.floor.mean == pytest.approx(0.30, abs=0.006)
    assert gap.floor.sd == pytest.approx(0.05, abs=0.006)
    assert abs(gap.value - gap.floor.mean) < 2 * gap.floor.sd
    assert gap.details["above_chance"] == 0
    assert (gap.details["classes"], gap.details["left_out"]) == (15, 13)
    assert correlation.p_value == pytest.approx(0.008, abs=0.0006)
    assert np.sign(correlation.interval.low) != np.sign(correlation.interval.high)
