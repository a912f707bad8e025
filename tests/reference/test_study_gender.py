"""The gender study on GloVe 6B 50d, reduced to hard debiasing: ten folds of 45 pairs.

As published, vectors keep their length, except after hard debiasing, which sets them to length 1.
Most of the gain of hard debiasing on RND, RIPA and RNSB is due to length.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.base import clone

from harness import folders, tasks
from harness.plugins.embedders.vectors import glove
from harness.registry import discovery
from harness.registry.registry import Registry
from harness.study import bench, running
from harness.study.folds import deal

TASKS = Path(tasks.__file__).parent
LENGTH = ("RND", "RIPA", "RNSB")
"""Measures that depend on the length of vectors."""


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    """Return the distance from the fair value in each fold, by row and measure."""
    if folders.of_package(glove.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    study = yaml.safe_load((TASKS / "studies" / "gender-hard-soft-published.yaml").read_text())
    study["include"] = [str(TASKS / "studies" / name) for name in study["include"]]
    study["mitigators"] = {"hard-debias": {"normalize": True}}
    path = tmp_path_factory.mktemp("study") / "reduced.yaml"
    path.write_text(yaml.safe_dump(study))
    registry = Registry()
    model = registry.embedder("glove-6b-50d")
    prepared = bench.prepare(
        running.resolved(registry, discovery.find_file(registry.study_files, path)), model
    )
    folds = deal(45, folds=10, inner_folds=5, repeats=1, seed=42, protocol="published")
    by_key = {}
    for row in prepared.study.candidates:
        base = bench.Base(model, unit=prepared.study.starts_at_unit_length(row))
        for fold in folds:  # without floors, which take seven eighths of the time
            judged = prepared.judge(base, clone(row.chains[0]), fold.outer)
            for measure, value in judged.values.items():
                by_key.setdefault((row.label, measure), []).append(value)
    return {key: np.array(values) for key, values in by_key.items()}


@pytest.fixture(scope="module")
def gain(values):
    """Return a function: by how much a row lowers a measure, on average over folds."""
    return lambda row, measure: float((values["none", measure] - values[row, measure]).mean())


@pytest.mark.parametrize("measure", LENGTH)
def test_unit_length_alone_gives_at_least_nine_tenths_of_the_gain_of_hard_debiasing(measure, gain):
    assert 0.9 <= gain("normalize", measure) / gain("hard-debias", measure) <= 1.02
