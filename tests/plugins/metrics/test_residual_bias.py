"""Residual bias in spaces with a known amount of remaining bias."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.residual_bias import residual_bias

SMALL = {"most_biased": 40, "k": 10, "sample": 200, "folds": 5}
WORDS = tuple(f"w{i}" for i in range(300))


def space(seed: int = 0, *, twin: bool = False) -> np.ndarray:
    """Return vectors of 300 words with a bias on the first axis and, as a twin, on the second."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((300, 8))
    bias = np.where(rng.random(300) < 0.5, -1, 1) * (2 + rng.random(300))
    x[:, 0] = bias
    if twin:
        x[:, 1] = 2 * bias
    return x


def neutral(x: np.ndarray) -> np.ndarray:
    """Return the vectors with 0 on the first axis: no direct bias is left."""
    return x * (np.arange(8) > 0)


def run(now, before, texts=None, **options):
    pair = np.eye(8)[:1]
    return residual_bias(
        now,
        before,
        -pair,
        pair,
        texts={"vocabulary": WORDS, "pairs_1": ["she"], "pairs_2": ["he"]} | (texts or {}),
        rng=np.random.default_rng(options.pop("seed", 0)),
        **(SMALL | options),
    )


def values(scores):
    return {name: score.value for name, score in scores.items()}


def test_before_mitigation_the_sides_are_two_clusters():
    scores = run(space(), space())
    for name, score in scores.items():
        assert score.value == score.details["before"], name
    assert scores["clustering"].value == 1.0
    assert scores["recoverability"].value == 1.0
    assert scores["neighbours"].value > 0.8
    assert scores["clustering"].n == 80


@pytest.mark.parametrize("classifier", ["rbf-svm", "logistic"])
def test_scores_are_at_chance_if_no_bias_is_left(classifier):
    scores = run(neutral(space()), space(), classifier=classifier)
    assert scores["clustering"].value < 0.65
    assert abs(scores["neighbours"].value) < 0.25
    assert 0.3 < scores["recoverability"].value < 0.7


@pytest.mark.parametrize("classifier", ["rbf-svm", "logistic"])
def test_hidden_bias_is_found(classifier):
    x = space(twin=True)
    scores = run(neutral(x), x, classifier=classifier)
    assert scores["clustering"].value > 0.95
    assert scores["neighbours"].value > 0.8
    assert scores["recoverability"].value > 0.95


def test_words_about_the_concept_are_left_out_in_upper_and_lower_case():
    texts = {"specific_words": ["W0", "w1", "elsewhere"], "pairs_1": ["w2"]}
    scores = run(space(), space(), texts)
    assert {score.details["left_out"] for score in scores.values()} == {3}
