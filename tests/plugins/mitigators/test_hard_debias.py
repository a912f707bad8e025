"""Hard debiasing: neutral words, equalised words and words that are left alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from given_vectors import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.plugins.mitigators.fitting.subspaces import equalized
from harness.plugins.mitigators.hard_debias import HardDebias

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


def test_one_pair_in_two_dimensions_equals_the_computation_by_hand():
    embedder = Vocabulary(
        {"she": [1, 1], "he": [-1, 1], "nurse": [3, 4], "girl": [0.8, 0.6], "boy": [0, 1]}
    )
    concept = Concept(
        name="gender", definitional_pairs=(("she", "he"),), equalize_sets=(("girl", "boy"),)
    )
    result = debiased(embedder, ["nurse", "girl", "boy"], concept)
    # the direction is the first axis; girl and boy share the mean, 0.8, of their second parts
    assert result == pytest.approx(np.array([[0, 1], [0.6, 0.8], [-0.6, 0.8]]), abs=1e-6)


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


def test_specific_and_definitional_words_are_only_normalised():
    embedder = vocabulary()
    for word in ("she", "his", "beard"):
        row = embedder.rows[word]
        assert debiased(embedder, [word])[0] == pytest.approx(row / np.linalg.norm(row), abs=1e-6)


def test_without_equalisation_the_words_of_equalize_sets_are_left_alone():
    embedder = vocabulary()
    result = debiased(embedder, ["girl"], equalize=False)
    row = embedder.rows["girl"]
    assert result[0] == pytest.approx(row / np.linalg.norm(row), abs=1e-6)
    assert HardDebias(equalize=False).fitting_texts(GENDER) == ["she", "he", "her", "his"]


def test_without_normalisation_lengths_are_kept():
    embedder = vocabulary()
    raw, result = embedder.encode(WORDS), debiased(embedder, WORDS, normalize=False)
    at = {word: i for i, word in enumerate(WORDS)}
    b = HardDebias(normalize=False).fit(embedder, GENDER).subspace_[0]
    nurse = raw[at["nurse"]]
    assert result[at["nurse"]] == pytest.approx(nurse - nurse @ b * b, abs=1e-5)
    assert result[at["beard"]] == pytest.approx(raw[at["beard"]])
    pair = [at["girl"], at["boy"]]
    lengths = np.linalg.norm(result[pair], axis=1)
    assert lengths == pytest.approx(np.sqrt((raw[pair] ** 2).sum(axis=1).mean()), abs=1e-5)


def test_a_subspace_of_two_dimensions_is_removed():
    embedder = vocabulary()
    mitigator = HardDebias(k=2).fit(embedder, GENDER)
    assert mitigator.subspace_ @ mitigator.subspace_.T == pytest.approx(np.eye(2), abs=1e-12)
    assert mitigator.explained_.sum() == pytest.approx(1.0)
    neutral = mitigator.transform(embedder.encode(NEUTRAL), NEUTRAL)
    assert neutral @ mitigator.subspace_.T == pytest.approx(0, abs=1e-6)


def test_the_subspace_of_centred_pairs_has_the_components_of_the_papers_covariance():
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


def test_no_pair_dominates_with_unit_differences():
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


def test_a_set_of_three_words_is_equalised():
    rng = np.random.default_rng(1)
    words = rng.standard_normal((3, 6))
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    subspace = np.eye(6)[:2]
    result = equalized(words, subspace)
    assert np.linalg.norm(result, axis=1) == pytest.approx(1.0)
    assert np.ptp(result[:, 2:], axis=0) == pytest.approx(0)
    assert result[0, 2:] == pytest.approx(words[:, 2:].mean(axis=0))


def test_words_without_a_difference_in_the_subspace_keep_length_one():
    words = np.array([[0.0, 0.6, 0.8], [0.0, 0.8, 0.6]])
    result = equalized(words, np.eye(3)[:1])
    assert result == pytest.approx(np.tile([0, 0.5**0.5, 0.5**0.5], (2, 1)))


def test_the_result_has_the_requested_rows_and_nan_for_missing_words():
    embedder = vocabulary()
    texts = ["nurse", "unheard", "boy"]
    result = debiased(embedder, texts)
    assert result.shape == (3, 8)
    assert result.dtype == np.float32
    assert np.isnan(result[1]).all()
    assert np.isfinite(result[[0, 2]]).all()
    assert result[0] == pytest.approx(debiased(embedder, ["nurse"])[0])
    assert debiased(embedder, []).shape == (0, 8)


def test_pairs_with_a_missing_word_are_skipped_and_missing_words_are_named():
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
    row = embedder.rows["queen"]  # its set has no other known word
    result = mitigator.transform(row[None], ["queen"])[0]
    assert result == pytest.approx(row / np.linalg.norm(row), abs=1e-6)


def test_case_matters_only_if_it_matters_to_the_embedder():
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


def test_text_encoders_are_debiased_too():
    embedder = MockEmbedder("text", 16)
    texts = ["She is a nurse.", "girl", "boy"]
    mitigator = HardDebias().fit(embedder, GENDER)
    result = mitigator.transform(embedder.encode(texts), texts)
    assert result[0] @ mitigator.subspace_[0] == pytest.approx(0, abs=1e-6)
    assert result[0] @ (result[1] - result[2]) == pytest.approx(0, abs=1e-6)


def test_fitting_texts_are_pairs_and_sets_as_written_and_in_lower_case():
    concept = GENDER.model_copy(update={"definitional_pairs": (("Mary", "John"),)})
    texts = HardDebias().fitting_texts(concept)
    assert texts == ["Mary", "John", "girl", "boy", "queen", "king", "mary", "john"]
    assert HardDebias().fitting_texts(None) == []


def test_pairs_of_unknown_words_are_not_applicable():
    concept = Concept(name="age", definitional_pairs=(("old", "young"), ("aged", "youthful")))
    with pytest.raises(NotApplicable, match=r"'vocabulary' has 0 of the 2 .*'age'"):
        HardDebias().fit(vocabulary(), concept)


def test_more_dimensions_than_the_pairs_span_are_not_applicable():
    with pytest.raises(NotApplicable, match=r"k=3.*2 of the 2"):
        HardDebias(k=3).fit(vocabulary(), GENDER)
    flat = Vocabulary({"she": [1, 1], "he": [-1, 1], "her": [2, 2], "his": [-2, 2]})
    with pytest.raises(NotApplicable, match=r"k=2.*\b1 dim"):
        HardDebias(k=2, equalize=False).fit(flat, GENDER)


@pytest.mark.parametrize("subspace", ["centred-pairs", "unit-differences"])
@pytest.mark.parametrize("solver", ["randomized", "arpack"])
def test_the_solvers_agree(solver, subspace):
    embedder = vocabulary()
    approximate = HardDebias(subspace=subspace, solver=solver).fit(embedder, GENDER)
    full = HardDebias(subspace=subspace).fit(embedder, GENDER)
    assert approximate.subspace_ == pytest.approx(full.subspace_, abs=1e-6)
    assert approximate.explained_ == pytest.approx(full.explained_)


def test_a_word_inside_the_subspace_becomes_zero_not_noise():
    embedder = Vocabulary({"she": [0.3, 0.1], "he": [-0.3, -0.1], "pure": [0.9, 0.3]})
    concept = Concept(name="gender", definitional_pairs=(("she", "he"),))
    assert (debiased(embedder, ["pure"], concept) == 0).all()


def test_the_result_in_blocks_equals_that_of_single_rows():
    rng = np.random.default_rng(0)
    mitigator = HardDebias().fit(vocabulary(), GENDER)
    rows = rng.standard_normal((5000, 8)).astype(np.float32) * 100
    texts = ["word"] * 4999 + ["girl"]
    result = mitigator.transform(rows, texts)
    assert np.abs(result[:-1] @ mitigator.subspace_.T).max() < 1e-6
    rows_alone = [0, 2047, 2048, 4998, 4999]
    alone = [mitigator.transform(rows[[i]], [texts[i]])[0] for i in rows_alone]
    assert result[rows_alone] == pytest.approx(np.array(alone), abs=1e-6)


def test_equalised_words_have_length_one_where_wefe_divides_by_another_length():
    # WEFE 1.0.1 neutralises words before it equalises them, and then divides by the lengths of
    # the neutralised vectors, which gensim caches: in GloVe, `king` and `queen` get length 1.22.
    embedder = vocabulary(3)
    equal = debiased(embedder, EQUAL)
    assert np.linalg.norm(equal, axis=1) == pytest.approx(1.0, abs=1e-6)
    b = HardDebias().fit(embedder, GENDER).subspace_
    unit = embedder.encode(EQUAL)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cached = np.linalg.norm(unit - unit @ b.T @ b, axis=1, keepdims=True)
    published = equal / cached
    assert np.linalg.norm(published, axis=1).max() > 1.01
    assert not np.allclose(*np.linalg.norm(published[:2], axis=1))  # not even equal within a pair
