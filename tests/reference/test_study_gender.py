"""The gender study on GloVe 6B 50d, reduced to hard debiasing: ten folds of 45 pairs.

As published, vectors keep their length, except after hard debiasing, which sets them to length 1.
Most of the gain of hard debiasing on RND, RIPA and RNSB is due to length. WEAT does not depend on
length; its gain is due to gender.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from harness import folders, tasks
from harness.plugins.embedders.vectors import glove
from harness.study import running
from harness.study.significance import corrected_t_test

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
    study["mitigators"] = {
        "hard-debias": {"normalize": True},
        "hard-debias-of-lengths": {"mitigator": "hard-debias?normalize=false"},
    }
    folder = tmp_path_factory.mktemp("study")
    path = folder / "reduced.yaml"
    path.write_text(yaml.safe_dump(study))
    by_key = {}
    for record in running.run_study(path, results=folder).records:
        for measure, value in record.judged["WEAT"].values.items():
            by_key.setdefault((record.row, measure), []).append(value)
    return {key: np.array(folds) for key, folds in by_key.items()}


@pytest.fixture(scope="module")
def gain(values):
    """Return a function: by how much a row lowers a measure, on average over folds."""
    return lambda row, measure: float((values["none", measure] - values[row, measure]).mean())


def test_hard_debiasing_lowers_weat_on_pairs_that_it_was_not_fitted_on(values):
    d = values["hard-debias", "WEAT"] - values["none", "WEAT"]
    tested = corrected_t_test(d, test_to_train=1 / 9)
    assert tested.mean == pytest.approx(-0.153, abs=0.005)
    assert tested.p_value < 0.001


@pytest.mark.parametrize("measure", LENGTH)
def test_unit_length_alone_gives_at_least_nine_tenths_of_the_gain_of_hard_debiasing(measure, gain):
    assert 0.9 <= gain("normalize", measure) / gain("hard-debias", measure) <= 1.02


def test_unit_length_does_not_change_weat(gain):
    assert gain("normalize", "WEAT") == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("measure", LENGTH)
def test_hard_debiasing_that_keeps_lengths_gains_less_than_half(measure, gain):
    assert gain("hard-debias-of-lengths", measure) < 0.5 * gain("hard-debias", measure)
