"""Half-sibling regression: what words about a concept predict is subtracted from the others."""

from __future__ import annotations

import numpy as np
import pytest
from given_vectors import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Ridge

from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption, NotApplicable
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


def test_one_word_in_the_plane_is_regressed_on_as_by_hand():
    embedder = Vocabulary({"she": [2, 0], "nurse": [3, 4]})
    concept = Concept(name="gender", specific_words=("she",))
    # XᵀX = 4, so that 4 / (4 + 6) of the first part is predicted
    assert debiased(embedder, ["nurse"], concept, alpha=6) == pytest.approx(np.array([[1.8, 4]]))


@pytest.mark.parametrize("alpha", [0, 0.5, 60])
def test_what_is_subtracted_is_what_ridge_regression_predicts(alpha):
    embedder = vocabulary()
    x = embedder.encode(ABOUT).astype(float).T
    y = embedder.encode(NEUTRAL).astype(float).T
    if alpha:
        predicted = Ridge(alpha=alpha, fit_intercept=False).fit(x, y).predict(x)
    else:
        predicted = x @ np.linalg.lstsq(x, y)[0]
    found = debiased(embedder, NEUTRAL, alpha=alpha)
    assert found == pytest.approx((y - predicted).T, abs=1e-6)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_least_squares_leave_nothing_along_words_about_the_concept_and_ridge_something(seed):
    embedder = vocabulary(seed)
    about = embedder.encode(ABOUT)
    nothing = debiased(embedder, NEUTRAL, alpha=0)
    assert nothing @ about.T == pytest.approx(0, abs=1e-4)
    something = debiased(embedder, NEUTRAL, alpha=1)
    lengths = [np.linalg.norm(rows, axis=1) for rows in (nothing, something)]
    assert (lengths[1] >= lengths[0]).all()


def test_words_about_the_concept_stay_as_they_are_and_others_do_not_depend_on_each_other():
    embedder = vocabulary()
    texts = ["SHE", "nurse", "unheard", "beard"]
    found = debiased(embedder, texts)
    assert found.dtype == np.float32
    assert (found[[0, 3]] == embedder.encode(["she", "beard"])).all()
    assert np.isnan(found[2]).all()
    assert found[1] == pytest.approx(debiased(embedder, ["nurse"])[0])
    assert debiased(embedder, NEUTRAL[:1]) == pytest.approx(debiased(embedder, NEUTRAL)[:1])


def test_a_word_that_is_listed_twice_or_in_another_case_counts_once():
    embedder = vocabulary()
    concept = GENDER.model_copy(update={"specific_words": ("beard", "Beard", "She", "moustache")})
    assert debiased(embedder, NEUTRAL, concept) == pytest.approx(debiased(embedder, NEUTRAL))
    mitigator = HalfSiblingRegression().fit(embedder, concept)
    assert mitigator.missing_ == ["moustache"]
    assert mitigator.fitting_texts(GENDER) == ABOUT


@pytest.mark.parametrize("d", [5, 3])
def test_least_squares_on_as_many_words_as_dimensions_are_refused_where_wefe_wipes_all(d):
    embedder = vocabulary(d=d)
    x = embedder.encode(ABOUT).astype(float).T
    nurse = embedder.encode(["nurse"])[0]
    published = nurse - x @ np.linalg.pinv(x) @ nurse
    assert np.linalg.norm(published) < 1e-5
    with pytest.raises(NotApplicable, match=f"alpha=0 with 5 words .* {d} of the {d} dimensions"):
        HalfSiblingRegression(alpha=0).fit(embedder, GENDER)
    assert np.linalg.norm(debiased(embedder, ["nurse"], alpha=1)) > 0.01


def test_least_squares_on_words_that_depend_on_each_other_are_refused():
    embedder = vocabulary()
    embedder.rows["beard"] = embedder.rows["he"] - embedder.rows["she"]
    with pytest.raises(NotApplicable, match="span 4 of the 12"):
        HalfSiblingRegression(alpha=0).fit(embedder, GENDER)


def test_text_encoders_are_debiased_alike():
    embedder = MockEmbedder("text", 16)
    texts = ["A nurse.", "she"]
    found = debiased(embedder, texts, alpha=1)
    assert found[1] == pytest.approx(embedder.encode(["she"])[0])
    assert np.linalg.norm(found[0]) < 1


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
def test_words_about_the_concept_are_taken_from_whatever_it_has(words):
    concept = Concept(name="gender", **words)
    assert concept.has(HalfSiblingRegression.needs)
    expected = Concept(name="gender", definitional_pairs=(("she", "he"),))
    assert debiased(vocabulary(), NEUTRAL, concept) == pytest.approx(
        debiased(vocabulary(), NEUTRAL, expected)
    )


def test_what_is_none_is_refused():
    with pytest.raises(NotApplicable, match="no concept is given"):
        HalfSiblingRegression().fit(vocabulary())
    with pytest.raises(NotApplicable, match="'age' has none"):
        HalfSiblingRegression().fit(vocabulary(), Concept(name="age"))
    with pytest.raises(NotApplicable, match="has none of the 1 words"):
        HalfSiblingRegression().fit(vocabulary(), Concept(name="age", specific_words=("old",)))
    with pytest.raises(InvalidOption, match="alpha=-1"):
        HalfSiblingRegression(alpha=-1).fit(vocabulary(), GENDER)


def test_clones_have_the_parameters_and_nothing_learnt():
    fitted = HalfSiblingRegression(alpha=3).fit(vocabulary(), GENDER)
    found = clone(fitted)
    assert found.get_params() == {"alpha": 3}
    assert not hasattr(found, "kept_")
