"""The floor of studies with few held-out pairs, on GloVe 6B 50d and in simulated studies.

The size of a difference over four or five pairs cannot come near 0. With the sides of the held-out
pairs swapped at random, after hard debiasing, WEAT is still .119 of .149. A method that spreads the
pairs less then looks fairer without being so. Hence studies judge pooled scores, and sizes less
their floor where a score has no sign.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from harness.registry import discovery
from harness.registry.registry import Registry
from harness.study import bench, study
from harness.study.bench import Base
from harness.study.cells import pooled
from harness.study.folds import deal
from harness.study.significance import corrected_t_test

PAIRS, FOLDS, STUDIES, LEVEL = 45, 10, 400, 0.05
SIGNS = {n: np.array(list(itertools.product([1.0, -1.0], repeat=n))) for n in (4, 5)}


# --- the floors of the shipped study --------------------------------------------------------------


@pytest.fixture(scope="module")
def outcomes(registry):
    """Return the outcomes of hard debiasing in the ten folds of the shipped study."""
    model = registry.embedder("glove-6b-50d")
    study_files = Registry().study_files
    shipped = study.resolve(discovery.find_file(study_files, "gender-hard-soft"), Registry())
    prepared = bench.prepare(shipped, model)
    folds = deal(PAIRS, folds=FOLDS, inner_folds=5, repeats=1, seed=42, protocol="nested")
    (row,) = (row for row in shipped.candidates if row.label == "hard-debias")
    base = Base(model, unit=True)
    return [prepared.judge(base, clone(row.chains[0]), fold.outer, floors=True) for fold in folds]


@pytest.mark.parametrize(
    ("measure", "value", "floor"),
    [
        ("WEAT", 0.149, 0.119),
        ("RND", 0.037, 0.034),
        ("RIPA", 0.043, 0.038),
        ("ECT", 0.185, 0.160),
        ("WEAT-ES", 0.554, 0.454),
    ],
)
def test_swapped_sides_leave_most_of_what_hard_debiasing_leaves(outcomes, measure, value, floor):
    assert np.mean([fold.values[measure] for fold in outcomes]) == pytest.approx(value, abs=6e-4)
    assert np.mean([fold.floors[measure] for fold in outcomes]) == pytest.approx(floor, abs=6e-4)


# --- which comparison keeps its level, and which finds most ---------------------------------------


def sizes(shares, folds):
    return np.array([abs(shares[fold].mean()) for fold in folds])


def sizes_above_their_floor(shares, folds):
    floors = [np.abs(SIGNS[len(fold)] @ shares[fold] / len(fold)).mean() for fold in folds]
    return sizes(shares, folds) - floors


def pooled_scores(shares, folds):
    return pooled([[shares[fold].mean()] for fold in folds])


def rejected(judge, *, means, spreads, repeats=2):
    """Return how often two methods are told apart, by what each pair adds to their scores.

    Parameters
    ----------
    means, spreads
        Of what the pairs add to the score, for both methods; it correlates by .8.
    """
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(STUDIES):
        noise = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=PAIRS)
        shares = means + noise * spreads
        orders = [rng.permutation(PAIRS) for _ in range(repeats)]
        folds = [order[k::FOLDS] for order in orders for k in range(FOLDS)]
        difference = judge(shares[:, 1], folds) - judge(shares[:, 0], folds)
        found += corrected_t_test(difference, test_to_train=1 / 9).p_value <= LEVEL
    return found / STUDIES


WAYS = (sizes, sizes_above_their_floor, pooled_scores)
SPREAD_LESS, AS_SPREAD = (1.0, 0.5), (1.0, 1.0)


@pytest.mark.parametrize(
    ("means", "spreads", "rates"),
    [
        ((0.0, 0.0), SPREAD_LESS, (0.51, 0.00, 0.01)),
        # A floor is lower for the method that spreads pairs less, so that more of its bias is above
        # it. Hence it is the second choice, for scores without a sign.
        ((1.0, 1.0), SPREAD_LESS, (0.02, 0.16, 0.02)),
        ((0.6, 0.1), AS_SPREAD, (0.30, 0.28, 0.76)),
    ],
    ids=["no bias", "equal bias", "a true difference"],
)
def test_pooled_scores_keep_their_level_and_find_most(means, spreads, rates):
    found = [rejected(judge, means=means, spreads=spreads) for judge in WAYS]
    assert found == pytest.approx(rates, abs=0.03)


@pytest.mark.parametrize("bias", [0.3, 1.0])
def test_pooled_scores_keep_their_level_where_pairs_are_spread_alike(bias):
    assert rejected(pooled_scores, means=(bias, bias), spreads=AS_SPREAD) <= LEVEL
