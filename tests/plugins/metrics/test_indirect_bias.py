"""Indirect bias: β by hand, and the extreme words of an axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.plugins.metrics.indirect_bias import gender_share, indirect_bias

SHE, HE = np.array([[1.0, 0, 0]]), np.array([[-1.0, 0, 0]])
G = np.array([-1.0, 0, 0])
POLE_1, POLE_2 = np.array([[0.6, 0.8, 0]]), np.array([[-0.6, 0, 0.8]])


def test_beta_by_hand():
    # w·v = .36 + 0, and without the first coordinate they are orthogonal: all is gender
    assert gender_share(np.array([[0.6, 0, 0.8]]), POLE_1[0], G) == pytest.approx([1.0])
    # w·v = .8·.8, and w⊥ is parallel to v⊥: (.64 − 1)/.64
    assert gender_share(np.array([[0.0, 0.8, 0]]), POLE_1[0], G) == pytest.approx([-0.25])


def test_beta_is_0_without_gender_and_1_with_gender_only():
    rng = np.random.default_rng(0)
    w = rng.standard_normal((5, 3))
    assert gender_share(w, w, G) == pytest.approx(0, abs=1e-9)
    w[:, 0] = 0
    assert gender_share(w, w[::-1], G) == pytest.approx(0, abs=1e-9)
    assert gender_share(SHE, SHE[0], G) == pytest.approx([1.0])
    assert np.isnan(gender_share(np.array([[0, 1.0, 0]]), np.array([0, 0, 1.0]), G)).all()


@given(st.integers(0, 2**32 - 1))
def test_beta_is_symmetric_and_invariant_under_rotation(seed):
    w, v = np.random.default_rng(seed).standard_normal((2, 4, 3))
    turn = ortho_group.rvs(3, random_state=seed)
    beta = gender_share(w, v, G)
    assert gender_share(v, w, -G) == pytest.approx(beta, rel=1e-6)
    assert gender_share(2 * w @ turn, v @ turn, G @ turn) == pytest.approx(beta, rel=1e-4)


def test_the_most_extreme_words_of_both_ends_are_listed_and_averaged():
    words = np.array([[0.6, 0.7, 0], [0.1, 0.9, 0.1], [-0.6, 0, 0.7], [0, 0.5, 0.5]])
    names = ["nurse", "teacher", "bishop", "writer"]
    texts = {"words": names, "poles_1": ["softball"], "poles_2": ["football"]}
    scores = indirect_bias(SHE, HE, words, POLE_1, POLE_2, extremes=1, texts=texts)
    rows = scores["magnitude"].tables["words"]
    assert [(row["pole"], row["word"]) for row in rows] == [
        ("softball", "nurse"),
        ("football", "bishop"),
    ]
    assert rows[0]["projection"] < 0 < rows[1]["projection"]
    betas = [row["beta"] for row in rows]
    assert scores["beta"].value == pytest.approx(np.mean(betas))
    assert scores["magnitude"].value == pytest.approx(np.mean(np.abs(betas)))
    assert scores["beta"].n == 2


def test_words_unlike_their_pole_are_left_out_and_counted():
    words = np.array([[0.6, 0.7, 0], [0, 0.001, -1.0]])
    scores = indirect_bias(SHE, HE, words, POLE_1, np.array([[0, 1.0, 0]]), extremes=2)
    assert scores["beta"].details["left_out"] > 0
    assert any(row["beta"] is None for row in scores["magnitude"].tables["words"])
    away = np.array([[0.0, 0, 1.0]])
    none = indirect_bias(SHE, HE, away, POLE_1, np.array([[0, 1.0, 0]]))["beta"]
    assert np.isnan(none.value)
    assert "similar" in none.reason
