"""What holds of every mitigator: rotations, missing words, clones, wrong options and concepts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group
from sklearn.base import clone

from harness.concept import Concept
from harness.errors import InvalidOption, NotApplicable
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.half_sibling_regression import HalfSiblingRegression
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.leace import Leace
from harness.plugins.mitigators.multiclass_hard_debias import MulticlassHardDebias
from harness.plugins.mitigators.soft_debias import SoftDebias
from harness.registry.registry import Registry

PAIRS = tuple((f"f{i}", f"m{i}") for i in range(30))
CONCEPT = Concept(
    name="gender",
    definitional_pairs=PAIRS,
    definitional_sets=tuple((*pair, f"n{i}") for i, pair in enumerate(PAIRS[:20])),
    equalize_sets=(("f0", "m0"),),
    specific_words=("n50",),
)
WORDS = [*(word for pair in PAIRS for word in pair), *(f"n{i}" for i in range(240))]
WITHOUT_CONCEPT = ("normalize", "nuisance", "whitening")
LINEAR = (
    "amplify-bias", "hard-debias", "multiclass-hard-debias", "double-hard-debias?n_words=20",
    "half-sibling-regression", "soft-debias", "ran", "inlp?n_words=20", "leace", *WITHOUT_CONCEPT,
)  # fmt: skip
BAD = (
    *("amplify-bias?strength=-1.5", "amplify-bias?strength=nan", "amplify-bias?k=0"),
    *("anonymize?mode=erase", "double-hard-debias?n_components=0", "double-hard-debias?n_words=0"),
    *("half-sibling-regression?alpha=-1", "hard-debias?k=0", "hard-debias?solver=svd"),
    *("hard-debias?subspace=centred", "inlp?n_iterations=0", "inlp?n_words=1", "leace?shrinkage=2"),
    *("inlp?stop_accuracy=.3", "multiclass-hard-debias?k=0", "multiclass-hard-debias?solver=svd"),
    *("nuisance?size=0", "nuisance?kind=bits&size=99", "ran?epochs=0", "ran?learning_rate=0"),
    *("sent-debias?k=0", "soft-debias?lam=0", "soft-debias?scale=median"),
    *("whitening?k=0", "whitening?shrinkage=1.5"),
)


def made(name):
    (mitigator,) = Registry().mitigator(name).mitigators
    return mitigator


def vocabulary():
    rng = np.random.default_rng(0)
    return WordVectors.of(WORDS, rng.standard_normal((len(WORDS), 6)) + 1)


def test_an_invalid_option_is_refused_when_the_mitigator_is_named():
    """Before anything is encoded or scored."""
    for name in BAD:
        option = name.rpartition("&")[2].rpartition("?")[2].partition("=")[0]
        with pytest.raises(InvalidOption, match=option):
            made(name)


def test_a_word_without_a_vector_stays_without_one_and_a_clone_is_not_fitted():
    embedder = vocabulary()
    rows = np.zeros((3, 6), np.float32)
    rows[0], rows[1] = np.nan, 1
    for name in LINEAR:
        unfitted = made(name)
        mitigator = clone(unfitted).fit(embedder, CONCEPT)
        result = mitigator.transform(rows, ["a", "n9", "b"])
        assert np.isnan(result[0]).all(), name
        assert np.isfinite(result[1:]).all(), name
        assert result.dtype == np.float32, name
        assert mitigator.transform(rows[:0], []).shape[0] == 0, name
        copy = clone(mitigator)
        assert copy.get_params() == unfitted.get_params(), name
        assert [key for key in vars(copy) if key.endswith("_")] == [], name


def test_a_concept_without_words_is_not_applicable():
    for name in (*LINEAR, "sent-debias", "swap-average", "context-injection"):
        for concept in (None, Concept(name="empty")) if name not in WITHOUT_CONCEPT else ():
            with pytest.raises(NotApplicable):
                made(name).fit(vocabulary(), concept)


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
