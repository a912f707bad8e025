"""Half-sibling regression subtracts what the words about a concept predict."""

from __future__ import annotations

import numpy as np
import pytest
from given_vectors import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from harness.concept import Concept
from harness.errors import NotApplicable
from harness.plugins.mitigators.half_sibling_regression import HalfSiblingRegression

GENDER = Concept(
    name="gender",
    definitional_pairs=(("she", "he"),),
    equalize_sets=(("girl", "boy"),),
    specific_words=("beard", "he"),
)
ABOUT = ["she", "he", "girl", "boy", "beard"]
NEUTRAL = ["nurse", "engineer", "doctor"]


def vocabulary(seed: int = 0, d: int = 12) -> Vocabulary:
    rng = np.random.default_rng(seed)
    return Vocabulary({w: rng.standard_normal(d) for w in ABOUT + NEUTRAL})


def debiased(embedder, texts, concept=GENDER, **options):
    mitigator = HalfSiblingRegression(**options).fit(embedder, concept)
    return mitigator.transform(embedder.encode(texts), texts)


def test_the_regression_on_one_word_equals_the_computation_by_hand():
    embedder = Vocabulary({"she": [2, 0], "nurse": [3, 4]})
    concept = Concept(name="gender", specific_words=("she",))
    # XᵀX = 4, so that 4 / (4 + 6) of the first part is predicted
    assert debiased(embedder, ["nurse"], concept, alpha=6) == pytest.approx(np.array([[1.8, 4]]))


@pytest.mark.parametrize("alpha", [0, 0.5, 60])
def test_the_subtracted_part_equals_the_prediction_of_ridge_regression(alpha):
    embedder = vocabulary()
    x = embedder.encode(ABOUT).astype(float).T
    y = embedder.encode(NEUTRAL).astype(float).T
    if alpha:
        predicted = Ridge(alpha=alpha, fit_intercept=False).fit(x, y).predict(x)
    else:
        predicted = x @ np.linalg.lstsq(x, y)[0]
    result = debiased(embedder, NEUTRAL, alpha=alpha)
    assert result == pytest.approx((y - predicted).T, abs=1e-6)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_least_squares_leaves_nothing_along_the_words_about_the_concept_and_ridge_leaves_more(seed):
    embedder = vocabulary(seed)
    about = embedder.encode(ABOUT)
    nothing = debiased(embedder, NEUTRAL, alpha=0)
    assert nothing @ about.T == pytest.approx(0, abs=1e-4)
    something = debiased(embedder, NEUTRAL, alpha=1)
    lengths = [np.linalg.norm(rows, axis=1) for rows in (nothing, something)]
    assert (lengths[1] >= lengths[0]).all()


def test_words_about_the_concept_are_unchanged_and_others_are_independent():
    embedder = vocabulary()
    texts = ["SHE", "nurse", "unheard", "beard"]
    result = debiased(embedder, texts)
    assert result.dtype == np.float32
    assert (result[[0, 3]] == embedder.encode(["she", "beard"])).all()
    assert np.isnan(result[2]).all()
    assert result[1] == pytest.approx(debiased(embedder, ["nurse"])[0])
    assert debiased(embedder, NEUTRAL[:1]) == pytest.approx(debiased(embedder, NEUTRAL)[:1])


def test_a_repeated_word_counts_once_in_any_case():
    embedder = vocabulary()
    concept = GENDER.model_copy(update={"specific_words": ("beard", "Beard", "She", "moustache")})
    assert debiased(embedder, NEUTRAL, concept) == pytest.approx(debiased(embedder, NEUTRAL))
    mitigator = HalfSiblingRegression().fit(embedder, concept)
    assert mitigator.missing_ == ["moustache"]
    assert mitigator.fitting_texts(GENDER) == ABOUT


@pytest.mark.parametrize("d", [5, 3])
def test_least_squares_on_as_many_words_as_dimensions_is_an_error_where_wefe_removes_all(d):
    embedder = vocabulary(d=d)
    x = embedder.encode(ABOUT).astype(float).T
    nurse = embedder.encode(["nurse"])[0]
    published = nurse - x @ np.linalg.pinv(x) @ nurse
    assert np.linalg.norm(published) < 1e-5
    with pytest.raises(NotApplicable, match=rf"alpha=0.*\b5 words.*\b{d} of the {d}\b"):
        HalfSiblingRegression(alpha=0).fit(embedder, GENDER)
    assert np.linalg.norm(debiased(embedder, ["nurse"], alpha=1)) > 0.01


def test_least_squares_on_linearly_dependent_words_leaves_what_the_others_do_not_predict():
    embedder = vocabulary()
    embedder.rows["beard"] = embedder.rows["he"] - embedder.rows["she"]
    x, y = embedder.encode(ABOUT).astype(float).T, embedder.encode(NEUTRAL).astype(float).T
    assert np.linalg.matrix_rank(x, tol=1e-5) == 4
    residuals = (y - x @ np.linalg.lstsq(x, y, rcond=1e-6)[0]).T
    assert debiased(embedder, NEUTRAL, alpha=0) == pytest.approx(residuals, abs=1e-5)


@pytest.mark.parametrize(
    "words",
    [
        {"definitional_pairs": (("she", "he"),)},
        {"definitional_sets": (("she", "he"),)},
        {"equalize_sets": (("she", "he"),)},
        {"specific_words": ("she", "he")},
    ],
    ids=lambda words: next(iter(words)),
)
def test_the_words_may_come_from_any_list_of_the_concept(words):
    concept = Concept(name="gender", **words)
    assert concept.has(HalfSiblingRegression.needs)
    expected = Concept(name="gender", definitional_pairs=(("she", "he"),))
    assert debiased(vocabulary(), NEUTRAL, concept) == pytest.approx(
        debiased(vocabulary(), NEUTRAL, expected)
    )
