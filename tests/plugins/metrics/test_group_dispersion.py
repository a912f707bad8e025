"""Dispersion of groups on vectors of known pleasantness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.group_dispersion import group_dispersion

PLEASANT, UNPLEASANT = np.eye(3)[:1], np.eye(3)[1:2]


def of_pleasantness(s: np.ndarray) -> np.ndarray:
    """Return unit vectors with a cosine of s/2 and −s/2 with the two words."""
    return np.stack([s / 2, -s / 2, np.sqrt(1 - s**2 / 2)], axis=1)


def run(s, groups, frames, **options):
    """Measure with one word a side, which cannot be shuffled."""
    words = {"pleasant": PLEASANT, "unpleasant": UNPLEASANT}
    return group_dispersion(
        of_pleasantness(np.asarray(s, dtype=float)),
        np.asarray(groups, dtype=float),
        np.asarray(frames, dtype=float),
        **words,
        rng=np.random.default_rng(0),
        **{"sides": "groups"} | options,
    )


def grid(effects, frames=4, noise=0.0, seed=1):
    """Return pleasantness, groups and frames: frame f adds f/10 to every group."""
    rng = np.random.default_rng(seed)
    group, frame = np.divmod(np.arange(len(effects) * frames), frames)
    return np.asarray(effects)[group] + frame / 10 + noise * rng.standard_normal(len(group)), (
        group, frame,
    )  # fmt: skip


def test_three_groups_in_two_frames_by_hand():
    # frame 0: .0 .1 .5, mean .2; frame 1: .3 .2 .4, mean .3
    scores = run([0, 0.3, 0.1, 0.2, 0.5, 0.4], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1])
    # r: −.2 0 | −.1 −.1 | .3 .1; means −.1 −.1 .2
    assert scores["dispersion"].value == pytest.approx(np.sqrt(0.06 / 2))
    assert scores["share"].value == pytest.approx(2 * 0.06 / (0.04 + 0.02 + 0.1))
    assert scores["dispersion"].details["groups"] == 3
    assert scores["dispersion"].details["frames"] == 2
    table = scores["dispersion"].tables["groups"]
    assert table[0]["group"] == 3
    assert table[0]["pleasantness"] == pytest.approx(0.2)


def test_known_differences_are_found_whatever_the_frames_do():
    effects = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])
    s, codes = grid(effects)
    scores = run(s, *codes)
    assert scores["dispersion"].value == pytest.approx(effects.std(ddof=1))
    assert scores["share"].value == pytest.approx(1)
    assert scores["dispersion"].p_value == pytest.approx(1 / 501)
    interval = scores["dispersion"].interval
    assert interval.method == "jackknife t of clusters"
    assert interval.low < effects.std(ddof=1) < interval.high


def test_noise_stays_at_its_floor():
    distances, p_values = [], []
    for seed in range(40):
        s, codes = grid(np.zeros(10), frames=6, noise=0.05, seed=seed)
        score = run(s, *codes, resamples=0)["dispersion"]
        distances.append((score.value - np.mean(score.null.values)) / np.std(score.null.values))
        p_values.append(score.p_value)
    assert abs(np.mean(distances)) < 0.5
    assert np.mean(np.array(p_values) <= 0.05) <= 0.15


@given(st.integers(0, 50))
def test_order_length_and_names_of_groups_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    s, (groups, frames) = grid(rng.uniform(-0.2, 0.2, 5), noise=0.05, seed=seed)
    x, order = of_pleasantness(s), rng.permutation(len(s))
    names = rng.permutation(100)[:5]

    def values(x, groups, frames):
        scores = group_dispersion(
            x, groups, frames, PLEASANT, UNPLEASANT, null_draws=0, resamples=0, rng=rng
        )
        return [scores[name].value for name in ("dispersion", "share")]

    expected = values(x, groups, frames)
    assert 0 <= expected[1] <= 1
    lengths = rng.uniform(0.5, 2, (len(s), 1))
    changed = values((lengths * x)[order], names[groups][order], frames[order])
    assert changed == pytest.approx(expected)
    swapped = group_dispersion(
        x, groups, frames, UNPLEASANT, PLEASANT, null_draws=0, resamples=0, rng=rng
    )
    assert swapped["dispersion"].value == pytest.approx(expected[0]), "no side of it is better"


def test_sentences_that_are_left_out_unbalance_nothing_else():
    s, (groups, frames) = grid(np.array([-0.2, 0.1, 0.1, 0.0]), frames=8)
    kept = np.arange(len(s)) != 3
    score = run(s[kept], groups[kept], frames[kept])["dispersion"]
    assert score.value == pytest.approx(np.std([-0.2, 0.1, 0.1, 0.0], ddof=1), rel=0.05)


def test_differences_of_rounding_are_no_share():
    s, codes = grid(np.zeros(5), frames=6, noise=1e-8)
    scores = run(s, *codes)
    assert (scores["dispersion"].value, scores["share"].value) == (0, 0)
    assert scores["share"].interval is None


def test_random_words_are_significant_as_often_as_they_may():
    """Groups that differ in meaning differ along any direction between two sets of words."""
    rng = np.random.default_rng(5)
    group, frame = np.divmod(np.arange(40), 4)
    sentences = rng.normal(size=(10, 12))[group] + 0.1 * rng.normal(size=(40, 12))
    rejected = {"both": 0, "groups": 0}
    for _ in range(200):
        words = rng.normal(size=(2, 8, 12))
        for sides in rejected:
            scores = group_dispersion(
                sentences, group, frame, *words, sides=sides, resamples=0, null_draws=99, rng=rng
            )
            rejected[sides] += scores["dispersion"].p_value <= 0.05
    assert rejected["groups"] > 150
    assert rejected["both"] <= 20
