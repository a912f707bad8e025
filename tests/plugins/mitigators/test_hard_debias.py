"""Hard debiasing: what is neutral, what is equal, what is left alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from given_vectors import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption, NotApplicable
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.subspaces.projection import equalized

WORDS = ("she", "he", "her", "his", "girl", "boy", "king", "queen", "nurse", "engineer", "beard")
GENDER = Concept(
    name="gender",
    definitional_pairs=(("she", "he"), ("her", "his")),
    equalize_sets=(("girl", "boy"), ("queen", "king")),
    specific_words=("beard",),
)
NEUTRAL = ["nurse", "engineer"]
EQUAL = ["girl", "boy", "queen", "king"]


def vocabulary(seed: int = 0, d: int = 8, **options) -> Vocabulary:
    rng = np.random.default_rng(seed)
    return Vocabulary({w: rng.standard_normal(d) * rng.uniform(0.5, 3) for w in WORDS}, **options)


def debiased(embedder, texts, concept=GENDER, **options) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mitigator = HardDebias(**options).fit(embedder, concept)
        return mitigator.transform(embedder.encode(texts), texts)


def test_one_pair_in_the_plane_is_debiased_as_by_hand():
    embedder = Vocabulary(
        {"she": [1, 1], "he": [-1, 1], "nurse": [3, 4], "girl": [0.8, 0.6], "boy": [0, 1]}
    )
    concept = Concept(
        name="gender", definitional_pairs=(("she", "he"),), equalize_sets=(("girl", "boy"),)
    )
    found = debiased(embedder, ["nurse", "girl", "boy"], concept)
    # the direction is the first axis; girl and boy share the mean, 0.8, of their second parts
    assert found == pytest.approx(np.array([[0, 1], [0.6, 0.8], [-0.6, 0.8]]), abs=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["centred-pairs", "unit-differences"]))
def test_neutral_words_are_equally_near_to_all_words_of_a_set(seed, subspace):
    embedder = vocabulary(seed)
    mitigator = HardDebias(subspace=subspace).fit(embedder, GENDER)
    neutral = mitigator.transform(embedder.encode(NEUTRAL), NEUTRAL)
    equal = mitigator.transform(embedder.encode(EQUAL), EQUAL)
    assert neutral @ mitigator.subspace_.T == pytest.approx(0, abs=1e-6)
    assert neutral @ (equal[0] - equal[1]) == pytest.approx(0, abs=1e-6)
    assert neutral @ (equal[2] - equal[3]) == pytest.approx(0, abs=1e-6)
    assert np.linalg.norm(np.vstack([neutral, equal]), axis=1) == pytest.approx(1, abs=1e-6)


def test_specific_and_definitional_words_only_come_to_length_one():
    embedder = vocabulary()
    for word in ("she", "his", "beard"):
        row = embedder.rows[word]
        assert debiased(embedder, [word])[0] == pytest.approx(row / np.linalg.norm(row), abs=1e-6)


def test_without_equalising_the_words_of_the_sets_are_still_left_alone():
    embedder = vocabulary()
    found = debiased(embedder, ["girl"], equalize=False)
    row = embedder.rows["girl"]
    assert found[0] == pytest.approx(row / np.linalg.norm(row), abs=1e-6)
    assert HardDebias(equalize=False).fitting_texts(GENDER) == ["she", "he", "her", "his"]


def test_without_normalising_lengths_stay():
    embedder = vocabulary()
    raw, found = embedder.encode(WORDS), debiased(embedder, WORDS, normalize=False)
    at = {word: i for i, word in enumerate(WORDS)}
    b = HardDebias(normalize=False).fit(embedder, GENDER).subspace_[0]
    nurse = raw[at["nurse"]]
    assert found[at["nurse"]] == pytest.approx(nurse - nurse @ b * b, abs=1e-5)
    assert found[at["beard"]] == pytest.approx(raw[at["beard"]])
    pair = [at["girl"], at["boy"]]
    lengths = np.linalg.norm(found[pair], axis=1)
    assert lengths == pytest.approx(np.sqrt((raw[pair] ** 2).sum(axis=1).mean()), abs=1e-5)


def test_two_dimensions_are_both_taken_out():
    embedder = vocabulary()
    mitigator = HardDebias(k=2).fit(embedder, GENDER)
    assert mitigator.subspace_ @ mitigator.subspace_.T == pytest.approx(np.eye(2), abs=1e-12)
    assert mitigator.explained_.sum() == pytest.approx(1.0)
    neutral = mitigator.transform(embedder.encode(NEUTRAL), NEUTRAL)
    assert neutral @ mitigator.subspace_.T == pytest.approx(0, abs=1e-6)


def test_centred_pairs_have_the_principal_components_of_the_papers_covariance():
    embedder = vocabulary()
    c = np.zeros((8, 8))
    for pair in GENDER.definitional_pairs:
        rows = embedder.encode(pair).astype(float)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        rows -= rows.mean(axis=0)
        c += rows.T @ rows / 2
    values, vectors = np.linalg.eigh(c)
    mitigator = HardDebias().fit(embedder, GENDER)
    assert abs(mitigator.subspace_[0] @ vectors[:, -1]) == pytest.approx(1.0)
    assert mitigator.explained_[0] == pytest.approx(values[-1] / values.sum())


def test_unit_differences_let_no_pair_dominate():
    embedder = Vocabulary(
        {"she": [1, 0.1, 0], "he": [1, -0.1, 0], "her": [1, 0, 0.1], "his": [1, 0, -0.1]}
        | {"mary": [0, 0, 1], "john": [0, 0, -1]}
    )
    concept = Concept(
        name="gender", definitional_pairs=(("she", "he"), ("her", "his"), ("Mary", "John"))
    )
    shares = {
        subspace: HardDebias(subspace=subspace).fit(embedder, concept).explained_[0]
        for subspace in ("centred-pairs", "unit-differences")
    }
    assert shares["centred-pairs"] > 0.98
    assert shares["unit-differences"] == pytest.approx(2 / 3)


def test_a_set_of_three_is_equalised_too():
    rng = np.random.default_rng(1)
    words = rng.standard_normal((3, 6))
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    subspace = np.eye(6)[:2]
    found = equalized(words, subspace)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0)
    assert np.ptp(found[:, 2:], axis=0) == pytest.approx(0)
    assert found[0, 2:] == pytest.approx(words[:, 2:].mean(axis=0))


def test_words_with_nothing_of_their_own_in_the_subspace_keep_length_one():
    words = np.array([[0.0, 0.6, 0.8], [0.0, 0.8, 0.6]])
    found = equalized(words, np.eye(3)[:1])
    assert found == pytest.approx(np.tile([0, 0.5**0.5, 0.5**0.5], (2, 1)))


def test_only_the_rows_asked_for_come_back_and_missing_words_stay_missing():
    embedder = vocabulary()
    texts = ["nurse", "unheard", "boy"]
    found = debiased(embedder, texts)
    assert found.shape == (3, 8)
    assert found.dtype == np.float32
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()
    assert found[0] == pytest.approx(debiased(embedder, ["nurse"])[0])
    assert debiased(embedder, []).shape == (0, 8)


def test_a_zero_vector_stays_zero():
    embedder = Vocabulary(vocabulary().rows | {"void": np.zeros(8)})
    assert (debiased(embedder, ["void"]) == 0).all()


def test_pairs_with_a_missing_side_are_dropped_and_missing_words_told():
    embedder = vocabulary()
    concept = GENDER.model_copy(
        update={
            "definitional_pairs": (("she", "he"), ("mother", "he"), ("her", "his")),
            "equalize_sets": (("girl", "boy"), ("queen", "emperor")),
        }
    )
    mitigator = HardDebias().fit(embedder, concept)
    assert mitigator.missing_ == ["emperor", "mother"]
    assert mitigator.subspace_ == pytest.approx(HardDebias().fit(embedder, GENDER).subspace_)
    row = embedder.rows["queen"]  # whose set has no other word left
    found = mitigator.transform(row[None], ["queen"])[0]
    assert found == pytest.approx(row / np.linalg.norm(row), abs=1e-6)


def test_texts_are_looked_up_as_they_are_then_lower_cased():
    embedder = vocabulary()
    assert debiased(embedder, ["Girl"]) == pytest.approx(debiased(embedder, ["girl"]))
    assert debiased(embedder, ["BEARD"]) == pytest.approx(debiased(embedder, ["beard"]))


def test_case_counts_only_where_the_embedder_has_it():
    rows = vocabulary().rows
    concept = GENDER.model_copy(update={"definitional_pairs": (("She", "He"), ("her", "his"))})
    blind = Vocabulary(rows)
    assert HardDebias().fit(blind, concept).ignores_case_
    assert debiased(blind, ["she"], concept) == pytest.approx(debiased(blind, ["She"], concept))
    cased = Vocabulary(rows | {"She": -rows["he"], "He": -rows["she"]}, lower=False)
    mitigator = HardDebias().fit(cased, concept)
    assert not mitigator.ignores_case_
    she = mitigator.transform(cased.encode(["she"]), ["she"])  # not the listed She: neutral
    assert she @ mitigator.subspace_.T == pytest.approx(0, abs=1e-6)


def test_listed_words_without_a_lower_case_form_are_no_obstacle():
    rows = vocabulary().rows
    cased = Vocabulary(
        {k: v for k, v in rows.items() if k not in ("she", "he")}
        | {"She": rows["she"], "He": rows["he"]},
        lower=False,
    )
    concept = GENDER.model_copy(update={"definitional_pairs": (("She", "He"),)})
    mitigator = HardDebias().fit(cased, concept)
    assert mitigator.missing_ == []
    assert not mitigator.ignores_case_


def test_a_word_in_two_sets_belongs_to_the_first():
    embedder = vocabulary()
    concept = GENDER.model_copy(
        update={"equalize_sets": (("girl", "boy"), ("Girl", "Boy"), ("king", "boy"))}
    )
    found = debiased(embedder, ["girl", "boy"], concept)
    assert found == pytest.approx(debiased(embedder, ["girl", "boy"]))


def test_text_encoders_are_debiased_alike():
    embedder = MockEmbedder("text", 16)
    texts = ["She is a nurse.", "girl", "boy"]
    mitigator = HardDebias().fit(embedder, GENDER)
    found = mitigator.transform(embedder.encode(texts), texts)
    assert found[0] @ mitigator.subspace_[0] == pytest.approx(0, abs=1e-6)
    assert found[0] @ (found[1] - found[2]) == pytest.approx(0, abs=1e-6)


def test_it_learns_from_pairs_and_sets_as_written_and_lower_cased():
    concept = GENDER.model_copy(update={"definitional_pairs": (("Mary", "John"),)})
    texts = HardDebias().fitting_texts(concept)
    assert texts == ["Mary", "John", "girl", "boy", "queen", "king", "mary", "john"]
    assert HardDebias().fitting_texts(None) == []


@pytest.mark.parametrize("concept", [None, Concept(name="age")])
def test_a_concept_without_pairs_is_refused(concept):
    with pytest.raises(NotApplicable, match="needs a concept with definitional_pairs"):
        HardDebias().fit(vocabulary(), concept)


def test_pairs_of_which_the_vocabulary_has_none_are_refused():
    concept = Concept(name="age", definitional_pairs=(("old", "young"), ("aged", "youthful")))
    with pytest.raises(NotApplicable, match=r"'vocabulary' has 0 of the 2 of concept 'age'"):
        HardDebias().fit(vocabulary(), concept)


def test_more_directions_than_pairs_are_refused():
    with pytest.raises(NotApplicable, match="k=3 needs as many"):
        HardDebias(k=3).fit(vocabulary(), GENDER)
    flat = Vocabulary({"she": [1, 1], "he": [-1, 1], "her": [2, 2], "his": [-2, 2]})
    with pytest.raises(NotApplicable, match="span fewer dimensions"):
        HardDebias(k=2, equalize=False).fit(flat, GENDER)


@pytest.mark.parametrize("subspace", ["centred-pairs", "unit-differences"])
@pytest.mark.parametrize("solver", ["randomized", "arpack"])
def test_the_solvers_agree(solver, subspace):
    embedder = vocabulary()
    one = HardDebias(subspace=subspace, solver=solver).fit(embedder, GENDER)
    other = HardDebias(subspace=subspace).fit(embedder, GENDER)
    assert one.subspace_ == pytest.approx(other.subspace_, abs=1e-6)
    assert one.explained_ == pytest.approx(other.explained_)


def test_a_word_with_nothing_outside_the_subspace_becomes_zero_not_noise():
    embedder = Vocabulary({"she": [0.3, 0.1], "he": [-0.3, -0.1], "pure": [0.9, 0.3]})
    concept = Concept(name="gender", definitional_pairs=(("she", "he"),))
    assert (debiased(embedder, ["pure"], concept) == 0).all()


def test_a_large_array_is_debiased_in_blocks_as_its_rows_are():
    rng = np.random.default_rng(0)
    mitigator = HardDebias().fit(vocabulary(), GENDER)
    rows = rng.standard_normal((5000, 8)).astype(np.float32) * 100
    texts = ["word"] * 4999 + ["girl"]
    found = mitigator.transform(rows, texts)
    assert np.abs(found[:-1] @ mitigator.subspace_.T).max() < 1e-6
    some = [0, 2047, 2048, 4998, 4999]
    alone = [mitigator.transform(rows[[i]], [texts[i]])[0] for i in some]
    assert found[some] == pytest.approx(np.array(alone), abs=1e-6)


def test_equalised_words_have_length_one_where_wefe_divides_by_the_length_of_another_vector():
    # WEFE 1.0.1 neutralises words before it equalises them and at last divides by the lengths
    # that gensim remembers of what is neutralised: kings and queens come out at 1.22 in GloVe.
    embedder = vocabulary(3)
    right = debiased(embedder, EQUAL)
    assert np.linalg.norm(right, axis=1) == pytest.approx(1.0, abs=1e-6)
    b = HardDebias().fit(embedder, GENDER).subspace_
    unit = embedder.encode(EQUAL)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    remembered = np.linalg.norm(unit - unit @ b.T @ b, axis=1, keepdims=True)
    published = right / remembered
    assert np.linalg.norm(published, axis=1).max() > 1.01
    assert not np.allclose(*np.linalg.norm(published[:2], axis=1))  # not even alike in a pair


@pytest.mark.parametrize("options", [{"k": 0}, {"subspace": "centred"}, {"solver": "svd"}])
def test_options_that_are_none_are_refused(options):
    with pytest.raises(InvalidOption, match=next(iter(options))):
        HardDebias(**options).fit(vocabulary(), GENDER)


def test_clones_have_the_parameters_and_nothing_learnt():
    fitted = HardDebias(k=2, equalize=False).fit(vocabulary(), GENDER)
    found = clone(fitted)
    assert found.get_params() == fitted.get_params()
    assert not hasattr(found, "subspace_")
    assert not fitted.rewrites
