"""`harness.Debiaser`: mitigators as transformers of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import harness
from harness.arrays import unit_rows
from harness.errors import NotApplicable
from harness.plugins.mitigators.leace import Leace

N, D = 120, 10
GROUPS = np.random.default_rng(1).permutation(np.repeat(["f", "m"], N // 2))
VECTORS = np.random.default_rng(0).normal(size=(N, D))
VECTORS[GROUPS == "f", :3] += 2
LABELLED = ["leace", "inlp", "sent-debias", "hard-debias", "multiclass-hard-debias"]


@pytest.mark.parametrize(
    "mitigator", [*LABELLED, "normalize", "whitening", "half-sibling-regression", "whitening+leace"]
)
def test_it_works_in_a_pipeline_and_a_clone_gives_the_same(mitigator):
    pipeline = make_pipeline(harness.Debiaser(mitigator), LogisticRegression())
    pipeline.fit(VECTORS, GROUPS)
    debiaser = pipeline[0]
    assert debiaser.transform(VECTORS).shape == (N, D)
    again = clone(debiaser).fit(VECTORS, GROUPS)
    np.testing.assert_array_equal(again.transform(VECTORS), debiaser.transform(VECTORS))


@pytest.mark.parametrize("mitigator", LABELLED)
def test_the_groups_are_harder_to_find(mitigator):
    def accuracy(name):
        pipeline = make_pipeline(harness.Debiaser(name), LogisticRegression())
        return pipeline.fit(VECTORS, GROUPS).score(VECTORS, GROUPS)

    assert accuracy("normalize") > 0.9
    assert accuracy(mitigator) < 0.75


def test_leace_keeps_its_guarantee_on_groups_of_unlike_sizes():
    groups = np.where(np.arange(N) % 3 == 0, 1.0, 0.0)
    groups[:10] = np.nan
    debiaser = harness.Debiaser("leace").fit(VECTORS, groups)
    after, known = debiaser.transform(VECTORS), ~np.isnan(groups)
    means = [after[known & (groups == group)].mean(axis=0) for group in (0, 1)]
    np.testing.assert_allclose(means[0], means[1], atol=1e-6)


def test_groups_may_be_passed_beside_what_a_later_step_predicts():
    y = np.arange(N) % 2
    pipeline = make_pipeline(harness.Debiaser(), LogisticRegression())
    pipeline.fit(VECTORS, y, debiaser__groups=GROUPS)
    expected = harness.Debiaser().fit(VECTORS, GROUPS).transform(VECTORS)
    np.testing.assert_array_equal(pipeline[0].transform(VECTORS), expected)


def test_a_grid_search_chooses_mitigators_and_their_options():
    pipeline = make_pipeline(harness.Debiaser(), LogisticRegression())
    search = GridSearchCV(pipeline, {"debiaser__mitigator": ["leace", "normalize"]}, cv=3)
    assert search.fit(VECTORS, GROUPS).best_params_ == {"debiaser__mitigator": "normalize"}
    pipeline = make_pipeline(harness.Debiaser(Leace()), LogisticRegression())
    search = GridSearchCV(pipeline, {"debiaser__mitigator__shrinkage": [0.0, 0.5]}, cv=3)
    assert "debiaser__mitigator__shrinkage" in search.fit(VECTORS, GROUPS).best_params_


def test_it_passes_the_checks_of_scikit_learn():
    failed = [
        check["check_name"]
        for check in check_estimator(harness.Debiaser("normalize"), on_fail=None)
        if check["status"] == "failed"
    ]
    assert failed == []


def test_rows_are_treated_as_neutral_texts():
    debiaser = harness.Debiaser("hard-debias").fit(VECTORS, GROUPS)
    after = debiaser.transform(VECTORS[:5])
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1)
    (projection, unit) = debiaser.map_.steps
    assert unit == "unit"
    np.testing.assert_allclose(after, unit_rows(VECTORS[:5] @ projection.matrix.T), atol=1e-12)


def test_what_cannot_be_a_transformer_says_why():
    for mitigator, why in {
        "anonymize": "rewrites texts",
        "ran": "no map",
        "context-injection": "contexts",
        "leacer": "leacer",
    }.items():
        with pytest.raises(harness.HarnessError, match=why):
            harness.Debiaser(mitigator).fit(VECTORS, GROUPS)
    with pytest.raises(NotApplicable, match="1 groups"):
        harness.Debiaser("leace").fit(VECTORS, np.ones(N))
    with pytest.raises(NotApplicable, match="group of each row"):
        harness.Debiaser("leace").fit(VECTORS)
    with pytest.raises(ValueError, match="inconsistent"):
        harness.Debiaser("leace").fit(VECTORS, GROUPS[:5])
