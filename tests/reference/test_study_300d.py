"""The studies of gender in 300 dimensions: two rows of the kept tables are computed again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from harness import folders, tasks
from harness.plugins.embedders.vectors import spacy_vectors
from harness.study import running

TASKS = Path(tasks.__file__).parent
NAME = "gender-hard-soft-300d"
TABLE = "changes chosen by WEAT"


def mean_of(cell):
    return float(cell.split(" ±")[0].replace("−", "-"))


def test_inner_folds_choose_the_alpha_of_table_v_by_every_criterion_but_ect(expected):
    chosen = expected("gender_300d.json")[NAME]["alpha of half-sibling-regression"]
    assert {criterion: alphas.get("0", 0) for criterion, alphas in chosen.items()} == {
        criterion: 0 if criterion == "ECT" else 10 for criterion in chosen
    }


@pytest.fixture(scope="module")
def weat(tmp_path_factory):
    """Return WEAT's mean distance from fair: the mean size over folds, and pooled, by row."""
    if folders.of_package(spacy_vectors.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    folder_of_studies = TASKS / "studies"
    study, queries = (
        yaml.safe_load((folder_of_studies / name).read_text("utf-8"))
        for name in ("gender-hard-soft.yaml", "_gender_pairs.yaml")
    )
    sets = [name for name in study["include"] if name.startswith("../wefe/")]
    study |= {
        "include": [str(folder_of_studies / name) for name in sets],
        "models": ["en-core-web-md"],
        "inputs": queries["inputs"],
        "scenarios": {
            name: queries["scenarios"][name] for name in queries["measures"]["WEAT"]["scenarios"]
        },
        "measures": {"WEAT": queries["measures"]["WEAT"]},
    }
    study["mitigators"] = {
        "hard-debias": {},
        "half-sibling-regression": {"mitigator": "half-sibling-regression?alpha=0"},
    }
    folder = tmp_path_factory.mktemp("study")
    path = folder / "reduced.yaml"
    path.write_text(yaml.safe_dump(study))
    run = running.run_study(path, results=folder)
    (summary,) = run.summaries
    sizes = {}
    for record in run.records:
        sizes.setdefault(record.row, []).append(record.judged["WEAT"].values["WEAT"])
    return {
        row: (np.mean(folds), np.mean(summary.cells["WEAT", row, "WEAT"].values))
        for row, folds in sizes.items()
    }


@pytest.mark.parametrize("row", ["hard-debias", "half-sibling-regression"])
def test_two_rows_have_the_effect_of_the_whole_run(row, weat, expected):
    table = expected("gender_300d.json")[NAME][TABLE]
    assert weat[row][1] - weat["none"][1] == pytest.approx(mean_of(table[row]["WEAT"]), abs=0.002)


def test_half_sibling_regression_lowers_weat_more_by_the_size_in_each_fold_alone(weat):
    # It spreads the pairs less. Pooled over the folds, both leave as much.
    half, hard = weat["half-sibling-regression"], weat["hard-debias"]
    assert hard[0] - half[0] == pytest.approx(0.043, abs=0.003)
    assert abs(hard[1] - half[1]) < 0.01
