"""Hard debiasing hides bias rather than removes it: Gonen and Goldberg (2019), on GloVe 6B 50d.

The vocabulary is as in the paper: the 50,000 most frequent lower-case words of fewer than 20
letters, and 500 of them on each side.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.embedder import vocabulary_of
from harness.plugins.metrics.residual_bias import residual_bias
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.registry.registry import Registry

WORDS = 50_000


@pytest.fixture(scope="module")
def space():
    """Return words, their vectors before and after hard debiasing, and the direction."""
    registry = Registry()
    model, gender = registry.embedder("glove-6b-50d"), registry.concept("gender")
    all_words, rows = vocabulary_of(model).head(60_000)
    lower = [i for i, word in enumerate(all_words) if re.fullmatch("[a-z]{1,19}", word)][:WORDS]
    words, before = [all_words[i] for i in lower], rows[lower]
    mitigator = HardDebias().fit(model, gender)
    return words, before, mitigator.transform(before, words), mitigator.subspace_[0], gender, model


@pytest.fixture(scope="module")
def scores(space):
    words, before, after, _, gender, model = space
    defining = [word for pair in gender.definitional_pairs for word in pair]
    return residual_bias(
        after,
        before,
        model.encode(["she"]),
        model.encode(["he"]),
        texts={"vocabulary": words, "specific_words": [*gender.specific_words, *defining]},
        rng=np.random.default_rng(0),
        sample=500,
        folds=5,
    )


def test_hard_debiasing_leaves_no_direct_bias(space):
    _, before, after, g, *_ = space
    assert np.abs(unit_rows(before) @ g).mean() > 0.1
    assert np.abs(after @ g).mean() < 0.01


def test_after_hard_debiasing_the_sides_are_still_separable(scores):
    # measured: 0.918, 0.70 and 0.99
    assert scores["clustering"].value > 0.8
    assert scores["neighbours"].value > 0.6
    assert scores["recoverability"].value > 0.95
