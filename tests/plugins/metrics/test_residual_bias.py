"""Residual bias in spaces with a known amount of remaining bias."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

from harness.errors import InvalidOption
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


def test_neighbours_has_an_interval_and_recoverability_the_values_of_its_folds():
    x = space(twin=True)
    scores = run(neutral(x), x)
    interval = scores["neighbours"].interval
    assert interval.low <= scores["neighbours"].value <= interval.high
    assert run(neutral(x), x, resamples=0)["neighbours"].interval is None
    unsure = run(neutral(space()), space())["recoverability"]
    assert len(unsure.details["folds"]) == SMALL["folds"]
    assert unsure.value == pytest.approx(np.mean(unsure.details["folds"]))
    assert unsure.details["deviation"] == pytest.approx(np.std(unsure.details["folds"], ddof=1))


def test_scores_are_invariant_under_rotation_and_scale_of_the_mitigated_space():
    x = space(3)
    turn = ortho_group.rvs(8, random_state=0)
    scores = values(run(neutral(x), x))
    assert values(run(5 * neutral(x) @ turn, x)) == pytest.approx(scores)


def test_swapping_the_sides_hardly_changes_the_scores():
    x = space(4, twin=True)
    mirrored = x * np.where(np.arange(8) == 0, -1, 1)
    scores, mirrored_scores = run(neutral(x), x), run(neutral(x), mirrored)
    assert mirrored_scores["clustering"].value == pytest.approx(
        scores["clustering"].value, abs=0.05
    )
    assert mirrored_scores["neighbours"].value == pytest.approx(
        scores["neighbours"].value, abs=0.05
    )


def test_words_about_the_concept_are_left_out_in_upper_and_lower_case():
    texts = {"specific_words": ["W0", "w1", "elsewhere"], "pairs_1": ["w2"]}
    scores = run(space(), space(), texts)
    assert {score.details["left_out"] for score in scores.values()} == {3}


def test_the_same_seed_gives_the_same_scores():
    x = space(5)
    assert values(run(neutral(x), x)) == values(run(neutral(x), x))


@pytest.mark.parametrize(
    "options", [{"most_biased": 200}, {"k": 300}, {"folds": 41}], ids=lambda o: next(iter(o))
)
def test_too_few_words_have_no_score_but_a_reason(options):
    for score in run(space(), space(), **options).values():
        assert np.isnan(score.value)
        assert "too few" in score.reason


def test_equal_sides_of_the_pairs_have_no_score_but_a_reason():
    pair = np.eye(8)[:1]
    texts = {"vocabulary": WORDS, "pairs_1": ["she"], "pairs_2": ["he"]}
    rng = np.random.default_rng(0)
    scores = residual_bias(space(), space(), pair, pair, texts=texts, rng=rng, **SMALL)
    for score in scores.values():
        assert np.isnan(score.value)
        assert "equal" in score.reason


@pytest.mark.parametrize("options", [{"folds": 1}, {"k": 0}, {"classifier": "tree"}])
def test_invalid_options_are_rejected(options):
    with pytest.raises(InvalidOption, match=next(iter(options))):
        run(space(), space(), **options)
