"""Mitigators are equivariant under rotations of the vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.concept import Concept
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.half_sibling_regression import HalfSiblingRegression
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.leace import Leace
from harness.plugins.mitigators.multiclass_hard_debias import MulticlassHardDebias
from harness.plugins.mitigators.soft_debias import SoftDebias

PAIRS = tuple((f"f{i}", f"m{i}") for i in range(30))
CONCEPT = Concept(
    name="gender",
    definitional_pairs=PAIRS,
    definitional_sets=tuple((*pair, f"n{i}") for i, pair in enumerate(PAIRS[:20])),
    equalize_sets=(("f0", "m0"),),
    specific_words=("n50",),
)
WORDS = [*(word for pair in PAIRS for word in pair), *(f"n{i}" for i in range(240))]


@pytest.mark.parametrize(
    "mitigator",
    [HalfSiblingRegression(), HardDebias(), Leace(), MulticlassHardDebias(), SoftDebias()],
    ids=lambda mitigator: type(mitigator).__name__,
)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_debiasing_a_rotated_vocabulary_rotates_the_debiased_one(mitigator, seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((len(WORDS), 6)) * rng.uniform(0.5, 3, (len(WORDS), 1))
    rows += np.array([{"f": -1.0, "m": 1.0, "n": 0.2}[word[0]] for word in WORDS])[:, None]
    turn = ortho_group.rvs(6, random_state=seed)
    original, rotated = (
        mitigator.fit(embedder, CONCEPT).transform(embedder.vectors, WORDS)
        for embedder in (WordVectors.of(WORDS, rows), WordVectors.of(WORDS, rows @ turn))
    )
    assert original @ turn == pytest.approx(rotated, abs=1e-3)
