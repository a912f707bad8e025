"""The studies of gender in 300 dimensions: two rows of the kept tables are computed again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.base import clone

from harness import folders, tasks
from harness.plugins.embedders.vectors import spacy_vectors
from harness.registry import discovery
from harness.registry.registry import Registry
from harness.study import bench, running
from harness.study.cells import pooled
from harness.study.folds import deal

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
    path = tmp_path_factory.mktemp("study") / "reduced.yaml"
    path.write_text(yaml.safe_dump(study))
    registry = Registry()
    model = registry.embedder("en-core-web-md")
    document = discovery.find_file(registry.study_files, path)
    prepared = bench.prepare(running.resolved(registry, document), model)
    file = prepared.study.file
    folds = deal(
        len(prepared.words),
        folds=file.folds,
        inner_folds=file.inner_folds,
        repeats=file.repeats,
        seed=file.seed,
        protocol=file.protocol,
    )
    means = {}
    for row in prepared.study.candidates:
        base = bench.Base(model, unit=prepared.study.starts_at_unit_length(row))
        judged = [prepared.judge(base, clone(row.chains[0]), fold.outer) for fold in folds]
        sizes, signed = zip(*((j.values["WEAT"], j.signed["WEAT"]) for j in judged), strict=True)
        means[row.label] = (np.mean(sizes), np.mean(pooled(signed)))
    return means


@pytest.mark.parametrize("row", ["hard-debias", "half-sibling-regression"])
def test_two_rows_have_the_effect_of_the_whole_run(row, weat, expected):
    table = expected("gender_300d.json")[NAME][TABLE]
    assert weat[row][1] - weat["none"][1] == pytest.approx(mean_of(table[row]["WEAT"]), abs=0.002)


def test_half_sibling_regression_lowers_weat_more_by_the_size_in_each_fold_alone(weat):
    # It spreads the pairs less. Pooled over the folds, both leave as much.
    half, hard = weat["half-sibling-regression"], weat["hard-debias"]
    assert hard[0] - half[0] == pytest.approx(0.043, abs=0.003)
    assert abs(hard[1] - half[1]) < 0.01
