"""What the study of gender says on GloVe 6B 50d, with hard debiasing alone: ten folds of 45 pairs.

As published: vectors as long as they come, but for hard debiasing, which sets all to length 1. Most
of what it seems to take out of RND, RIPA and RNSB is length; of WEAT, which sees none of that, it
is gender.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from harness import tasks
from harness.plugins.embedders import packages
from harness.plugins.embedders.vectors import glove
from harness.study import running
from harness.study.significance import corrected_t_test

TASKS = Path(tasks.__file__).parent
LENGTH = ("RND", "RIPA", "RNSB")
"""Measures that the length of vectors moves."""


@pytest.fixture(scope="module")
def values(data_folder, tmp_path_factory):
    """Return by row and measure the distance from fair in each fold."""
    if packages.folder(glove.PACKAGE) is None:
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
    found = {}
    for record in running.run(path, results=folder).records:
        for measure, value in record.judged["WEAT"].values.items():
            found.setdefault((record.row, measure), []).append(value)
    return {key: np.array(folds) for key, folds in found.items()}


@pytest.fixture(scope="module")
def gain(values):
    """Return what a row takes off a measure, of vectors as they come."""
    return lambda row, measure: float((values["none", measure] - values[row, measure]).mean())


def test_hard_debiasing_lowers_weat_on_pairs_that_it_was_not_fitted_on(values):
    d = values["hard-debias", "WEAT"] - values["none", "WEAT"]
    tested = corrected_t_test(d, test_to_train=1 / 9)
    assert tested.mean == pytest.approx(-0.153, abs=0.005)
    assert tested.p_value < 0.001


@pytest.mark.parametrize("measure", LENGTH)
def test_unit_length_alone_gives_nine_tenths_and_more_of_what_hard_debiasing_seems_to(
    measure, gain
):
    assert 0.9 <= gain("normalize", measure) / gain("hard-debias", measure) <= 1.02


def test_unit_length_gives_nothing_of_weat(gain):
    assert gain("normalize", "WEAT") == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("measure", LENGTH)
def test_with_lengths_kept_hard_debiasing_takes_little_of_what_length_moves(measure, gain):
    assert gain("hard-debias-of-lengths", measure) < 0.5 * gain("hard-debias", measure)
