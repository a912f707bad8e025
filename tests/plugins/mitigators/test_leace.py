"""Least-squares concept erasure: the guarantee on the words of the fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption, NotApplicable
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.fitting.sentences import TEMPLATES
from harness.plugins.mitigators.leace import Leace, eraser

PAIRS = tuple((f"f{i}", f"m{i}") for i in range(30))
SETS = tuple((f"f{i}", f"m{i}", f"n{i}") for i in range(20))
GENDER = Concept(name="gender", definitional_pairs=PAIRS)
FAITH = Concept(name="faith", definitional_pairs=PAIRS, definitional_sets=SETS)
WORDS = [*(w for pair in PAIRS for w in pair), *(f"n{i}" for i in range(240))]


def vocabulary(seed: int = 0, d: int = 6) -> WordVectors:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((len(WORDS), d)) @ rng.standard_normal((d, d))
    rows += np.array([{"f": -1.0, "m": 1.0, "n": 0.2}[word[0]] for word in WORDS])[:, None]
    return WordVectors.of(WORDS, rows)


def erased(mitigator: Leace, embedder) -> tuple[np.ndarray, np.ndarray]:
    """Return the erased vectors of the labelled words, in float64, and their groups."""
    words = list(mitigator.labelled_)
    rows = embedder.encode(words).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    after = rows - (rows - mitigator.mean_) @ mitigator.projection_.T
    return after, np.array(list(mitigator.labelled_.values()))


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([GENDER, FAITH]),
    st.sampled_from([None, 0.5]),
    st.booleans(),
)
def test_the_covariance_with_the_groups_is_zero_on_the_labelled_words(
    seed, concept, shrinkage, is_word
):
    embedder = vocabulary(seed) if is_word else MockEmbedder("text", 200)
    mitigator = Leace(shrinkage=shrinkage).fit(embedder, concept)
    after, groups = erased(mitigator, embedder)
    z = np.eye(groups.max() + 1)[groups]
    assert np.abs((after - after.mean(axis=0)).T @ (z - z.mean(axis=0)) / len(z)).max() < 1e-9


@pytest.mark.parametrize(("concept", "chance"), [(GENDER, 1 / 2), (FAITH, 1 / 3)])
def test_a_logistic_regression_on_those_words_is_at_chance(concept, chance):
    embedder = vocabulary()
    mitigator = Leace().fit(embedder, concept)
    after, groups = erased(mitigator, embedder)
    before = embedder.encode(list(mitigator.labelled_))
    assert LogisticRegression(C=1e3, max_iter=5000).fit(before, groups).score(before, groups) > 0.6
    classifier = LogisticRegression(C=1e3, max_iter=5000, tol=1e-8).fit(after, groups)
    probabilities = classifier.predict_proba(after)
    assert probabilities == pytest.approx(np.full(probabilities.shape, chance), abs=1e-3)


def test_the_eraser_in_two_dimensions_equals_that_computed_by_hand():
    # Σ_XX = diag(4, 1) and Σ_XZ along (1, 1): W Σ_XZ ∝ (1/2, 1), P its projection
    result = eraser(np.diag([4.0, 1.0]), np.array([[1.0, -1.0], [1.0, -1.0]]))
    assert result == pytest.approx(np.array([[0.2, 0.8], [0.2, 0.8]]))


def test_no_other_linear_eraser_changes_the_vocabulary_less():
    embedder = vocabulary()
    mitigator = Leace(normalize=False).fit(embedder, GENDER)
    rows = embedder.vectors.astype(np.float64) - mitigator.mean_
    least = ((rows @ mitigator.projection_.T) ** 2).sum()
    axes, values, _ = np.linalg.svd(mitigator.projection_)
    column = axes[:, :1] * values[0]
    rng = np.random.default_rng(0)
    assert values[1] < 1e-9
    for shift in rng.standard_normal((20, 1, 6)):
        row = np.linalg.svd(mitigator.projection_)[2][:1] + 0.1 * shift
        other = column @ row / (row @ column)  # erases the same column along another direction
        assert ((rows @ other.T) ** 2).sum() >= least * (1 - 1e-9)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_erasing_twice_equals_erasing_once(seed):
    embedder = vocabulary(seed)
    mitigator = Leace(normalize=False).fit(embedder, FAITH)
    assert mitigator.projection_ @ mitigator.projection_ == pytest.approx(
        mitigator.projection_, abs=1e-7
    )
    assert np.linalg.matrix_rank(mitigator.projection_, tol=1e-6) == 2


def test_full_shrinkage_projects_orthogonally():
    result = Leace(shrinkage=1).fit(vocabulary(), GENDER).projection_
    assert result == pytest.approx(result.T, abs=1e-9)


def test_equalize_pairs_are_labelled_in_any_order():
    embedder = vocabulary()
    rows = dict(zip(WORDS, embedder.vectors, strict=True))
    low, high = np.full(6, -9.0), np.full(6, 9.0)
    more = WordVectors.of([*rows, "queen", "king"], [*rows.values(), low, high])
    plain = Leace().fit(more, GENDER)
    assert set(plain.labelled_) == {w for pair in PAIRS for w in pair}
    for pair in (("queen", "king"), ("king", "queen")):
        concept = GENDER.model_copy(update={"equalize_sets": (pair,)})
        mitigator = Leace().fit(more, concept)
        assert {w: mitigator.labelled_[w] for w in pair} == {"queen": 0, "king": 1}
        assert Leace(equalize=False).fit(more, concept).labelled_ == plain.labelled_


def test_text_encoders_are_shrunk_by_default_and_word_embedders_are_not():
    assert Leace().fit(vocabulary(), GENDER).shrinkage_ == 0
    assert 0 < Leace().fit(MockEmbedder("text", 50), GENDER).shrinkage_ <= 1


def test_with_templates_the_sentences_are_labelled_and_erased():
    embedder = MockEmbedder("text", 50)
    few = Concept(name="gender", definitional_pairs=PAIRS[:3], equalize_sets=PAIRS[3:5])
    mitigator = Leace(templates=True).fit(embedder, few)
    assert set(mitigator.labelled_) == set(mitigator.fitting_texts(few))
    assert len(mitigator.labelled_) == 10 * len(TEMPLATES)
    assert mitigator.labelled_["This is about f0."] == 0
    assert mitigator.labelled_["m0"] == 1
    after, groups = erased(mitigator, embedder)
    assert after[groups == 0].mean(axis=0) == pytest.approx(after[groups == 1].mean(axis=0))


def test_a_concept_with_sets_only_is_sufficient():
    alone = Concept(name="faith", definitional_sets=SETS)
    assert alone.has(Leace.needs)
    assert GENDER.has(Leace.needs)
    with_sets = Leace().fit(vocabulary(), alone)
    with_both = Leace().fit(vocabulary(), FAITH)
    assert with_sets.projection_ == pytest.approx(with_both.projection_)
    assert not Concept(name="x", specific_words=("beard",)).has(Leace.needs)


def test_unsuitable_concepts_embedders_and_options_are_errors():
    with pytest.raises(InvalidOption, match="shrinkage=2"):
        Leace(shrinkage=2).fit(vocabulary(), GENDER)
    with pytest.raises(NotApplicable, match="'empty'"):
        Leace().fit(vocabulary(), Concept(name="empty"))
    with pytest.raises(NotApplicable, match=r"'gender': 1, 1 "):
        Leace().fit(vocabulary(), Concept(name="gender", definitional_pairs=PAIRS[:1]))
    same = WordVectors.of(["a", "b", "c", "d"], np.eye(4)[[0, 0, 1, 1]])
    pairs = Concept(name="x", definitional_pairs=(("a", "b"), ("c", "d")))
    with pytest.raises(NotApplicable, match=r"'x'.*same mean"):
        Leace().fit(same, pairs)
