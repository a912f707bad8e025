"""The best direction in a plane of a concept's components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score

from harness.plugins.metrics.concept_direction import (
    concept_direction,
    concept_plane,
    find_direction,
    find_in_plane,
)
from harness.plugins.metrics.statistics.concept_scores import components_of

FAST = {"projections": 100, "resamples": 0, "unit_length": False}


def run(metric, *arrays):
    return metric(*arrays, rng=np.random.default_rng(0), **FAST)


def oblique(seed: int, n: int = 12, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs whose sides differ along (1, 1, 0, …), across a wide spread of (1, −1, 0, …).

    The differences vary along both axes, so that no single component separates the sides.
    """
    rng = np.random.default_rng(seed)
    base = np.outer(rng.standard_normal(n) * 8, np.eye(d)[0] - np.eye(d)[1])
    noise = np.outer(rng.standard_normal(n) * 3, np.eye(d)[0] - np.eye(d)[1])
    gap = np.eye(d)[0] + np.eye(d)[1]
    rest = 0.01 * rng.standard_normal((2, n, d))
    return base + rest[0], base + noise + gap + rest[1]


def test_two_pairs_by_hand():
    # Sides at y = 0 and y = 1; the differences are (1, 1) and (−1, 1), so both axes are components.
    # Both classifiers of the sides in the plane have no weight on x, which does not differ.
    x_1, x_2 = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])
    g = find_in_plane(x_1, x_2)
    assert np.abs(g.vector) == pytest.approx([0, 1], abs=1e-6)
    assert g.vector[1] > 0
    assert g.component == (0, 1)
    assert (g.auc, g.explained) == (1.0, pytest.approx(1.0))
    attributes, labels = np.array([[5.0, 0.0], [-7.0, 1.0], [0.0, 0.5]]), np.array([0, 1, 0.5])
    scores = run(concept_plane, x_1, x_2, attributes, labels)
    assert scores["correlation"].value == pytest.approx(1.0)
    assert scores["auc"].details["component"] == (0, 1)


def test_a_direction_between_two_components_is_found():
    first, second = oblique(0)
    assert find_direction(first, second).auc < 0.9
    g = find_in_plane(first, second)
    assert g.auc == 1.0
    assert g.vector @ np.array([1, 1, 0, 0, 0]) / np.sqrt(2) > 0.99


def test_the_classifier_is_fishers_and_the_plane_has_the_highest_auc():
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal((2, 7, 20))
    g = find_in_plane(first, second)
    sides = np.repeat([0, 1], 7)
    components = components_of(second - first).vectors
    best = 0.0
    for i in range(len(components)):
        for j in range(i + 1, len(components)):
            z = np.vstack([first, second]) @ components[[i, j]].T
            scores = LinearDiscriminantAnalysis().fit(z, sides).decision_function(z)
            area = roc_auc_score(sides, scores)
            if (i, j) == g.component:
                own = np.vstack([first, second]) @ g.vector
                assert abs(pearsonr(scores, own).statistic) == pytest.approx(1, abs=1e-6)
                assert g.auc == pytest.approx(area)
            best = max(best, area, 1 - area)
    assert g.auc == pytest.approx(best)


def test_unrelated_pairs_are_separated_in_the_sample_but_not_when_held_out():
    rng = np.random.default_rng(2)
    areas, held_out = [], []
    for _ in range(20):
        first, second = rng.standard_normal((2, 12, 40))
        g = find_in_plane(first, second)
        areas.append(g.auc)
        held_out.append(g.details["held_out"])
    assert np.mean(areas) > 0.8
    assert np.mean(held_out) == pytest.approx(0.5, abs=0.1)


def test_a_planted_concept_is_held_out_as_well_along_one_direction_as_in_a_plane():
    rng = np.random.default_rng(3)
    first = rng.standard_normal((10, 12))
    second = first + 4 * np.eye(12)[0] + 0.1 * rng.standard_normal((10, 12))
    details = find_in_plane(first, second).details
    assert details == {"held_out": 1.0, "held_out_of_one": 1.0}


def test_pairs_with_one_component_have_the_direction_of_concept_direction():
    first, second = np.zeros((3, 4)), np.outer([1.0, 2.0, 3.0], np.eye(4)[0])
    attributes, labels = np.diag([1.0, 2, 3, 4]), np.array([0.1, 0.2, 0.2, 0.9])
    one = run(concept_direction, first, second, attributes, labels)
    plane = run(concept_plane, first, second, attributes, labels)
    for score in ("correlation", "auc"):
        assert plane[score].value == one[score].value
        assert plane[score].p_value == one[score].p_value
