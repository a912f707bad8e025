"""The mean of the vectors of a text and of the same text about other groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.errors import NotApplicable
from harness.plugins.mitigators.sent_debias import SentDebias
from harness.plugins.mitigators.swap_average import SwapAverage
from harness.registry.registry import Registry

GENDER = Concept(
    name="gender",
    definitional_pairs=(("she", "he"), ("woman", "man")),
    specific_words=("beard", "her elder brother"),
)
FAITH = Concept(
    name="faith",
    definitional_sets=(("mosque", "church", "temple"), ("Muslim", "Christian", "Jew")),
)
TEXTS = ["She is a nurse.", "He is a nurse.", "The nurse is here.", "she"]


def fitted(concept: Concept = GENDER, **options) -> SwapAverage:
    return SwapAverage(**options).fit(MockEmbedder("text", 8), concept)


def averaged(texts, concept: Concept = GENDER, **options) -> np.ndarray:
    return fitted(concept, **options).transform(MockEmbedder("text", 8).encode(texts), texts)


def test_the_mean_equals_that_computed_by_hand():
    she, he, neutral, word = MockEmbedder("text", 8).encode(TEXTS).astype(float)
    result = averaged(TEXTS, normalize=False)
    assert result[0] == pytest.approx((she + he) / 2, abs=1e-6)
    assert result[2] == pytest.approx(neutral, abs=1e-7)
    assert result[3] == pytest.approx(word, abs=1e-7)
    mean = she + he
    assert averaged(TEXTS)[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_text_and_its_swapped_version_get_the_same_vector():
    result = averaged(["My aunt and his wife", "My uncle and her husband"])
    assert result[0] == pytest.approx(result[1], abs=1e-6)


def test_single_words_and_listed_phrases_are_unchanged():
    words = ["she", "He", "woman", "beard", "king", "Her elder brother"]
    assert SwapAverage().reads(["king"], GENDER) == []
    assert averaged(words) == pytest.approx(MockEmbedder("text", 8).encode(words), abs=1e-6)


def test_a_set_of_three_words_is_averaged_over_three_texts():
    texts = [f"A {person} saw the {place}." for person, place in
             (("Muslim", "mosque"), ("Christian", "church"), ("Jew", "temple"))]  # fmt: skip
    rows = MockEmbedder("text", 8).encode(texts)
    assert set(SwapAverage().reads(texts[:1], FAITH)) == set(texts[1:])
    assert averaged(texts, FAITH, normalize=False) == pytest.approx(
        np.tile(rows.mean(axis=0), (3, 1)), abs=1e-6
    )
    assert SwapAverage().reads(["She is a nurse.", "JEW of Jewry"], FAITH) == [
        "MUSLIM of Jewry", "CHRISTIAN of Jewry"]  # fmt: skip


@given(st.lists(st.sampled_from([*TEXTS, "His son", "her", "a king's beard", "xyz"]), max_size=6))
def test_reads_returns_all_texts_that_transform_encodes(texts):
    encoded = []

    class RecordingEmbedder(MockEmbedder):
        def encode(self, texts):
            encoded.extend(texts)
            return super().encode(texts)

    mitigator = SwapAverage().fit(RecordingEmbedder("text", 8), GENDER)
    rows = MockEmbedder("text", 8).encode(texts)
    result = mitigator.transform(rows, texts)
    assert result.shape == rows.shape
    assert result.dtype == np.float32
    assert set(encoded) == set(SwapAverage().reads(texts, GENDER))


def test_in_a_chain_the_swapped_text_is_mitigated_too():
    embedder = MockEmbedder("text", 8)
    chain = Chain([SentDebias(), SwapAverage()]).fit(embedder, GENDER)
    result = chain.transform(embedder.encode(TEXTS), TEXTS)
    assert np.abs(result @ chain.mitigators[0].subspace_.T).max() < 1e-6


def test_sets_may_have_unequal_sizes():
    concept = Concept(name="x", definitional_sets=(("mosque", "church", "temple"), ("nun", "monk")))
    rows = averaged(["the nun", "the monk"], concept)
    assert rows[0] == pytest.approx(rows[1], abs=1e-6)


def test_a_concept_without_words_is_not_applicable():
    with pytest.raises(NotApplicable, match="'empty'"):
        fitted(Concept(name="empty"))
    with pytest.raises(NotApplicable, match="no concept"):
        SwapAverage().fit(MockEmbedder("text"))


FRENCH = Concept(
    name="gender-fr",
    language="fr",
    definitional_pairs=(("elle", "il"), ("fille", "garçon"), ("fille", "fils")),
    equalize_sets=(("sœur", "frère"),),
    sets={"feminine": ("infirmière", "avocate"), "masculine": ("infirmier", "avocat")},
)


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("Elle est infirmière.", "Il est infirmier."),
        ("La sœur de l'avocate", "Le frère de l'avocat"),
        ("UNE INFIRMIÈRE et sa fille", "UN INFIRMIER et sa garçon"),  # `sa` agrees with its noun
        ("Le fils voit la porte", "La fille voit la porte"),  # a door has no counterpart
    ],
)
def test_words_of_another_language_are_swapped_with_their_articles(text, swapped):
    assert SwapAverage().reads([text], FRENCH) == [swapped]


def test_english_swaps_no_forms_of_a_concept_in_english():
    english = FRENCH.model_copy(update={"language": "en", "name": "gender"})
    assert SwapAverage().reads(["la infirmière"], english) == []


def test_the_gender_of_each_shipped_language_is_swapped():
    texts = {
        "de": ("Die Ärztin sprach mit der Frau.", "Der Arzt sprach mit dem Mann."),
        "es": ("La enfermera y el abuelo", "El enfermero y la abuela"),
        "tr": ("Annesi değil, anne geldi.", "Annesi değil, baba geldi."),  # no suffixes
    }
    registry = Registry()
    for language, (text, swapped) in texts.items():
        concept = registry.concept(f"gender-{language}")
        assert SwapAverage().reads([text], concept) == [swapped]


TURKISH = Concept(
    name="gender-tr", language="tr", definitional_pairs=(("kadın", "erkek"), ("kız", "iş adamı"))
)


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("KADIN geldi.", ["ERKEK geldi."]),
        ("Bir KIZ geldi.", ["Bir İŞ ADAMI geldi."]),
        ("İş adamı geldi.", ["Kız geldi."]),
        ("kadin geldi", []),  # written without dots: another word
        ("kadınlar geldi", []),
    ],
)
def test_turkish_words_are_swapped_in_capitals_and_no_word_fails(text, swapped):
    assert SwapAverage().reads([text], TURKISH) == swapped


def test_a_word_is_swapped_whole_and_in_any_form_of_its_accents():
    pairs = (("पुत्र", "कन्या"), ("پسر", "دختر"), ("be\u0301be\u0301", "père"))
    concept = Concept(name="kin", definitional_pairs=pairs)
    texts = [
        "पुत्री है",
        "यह पुत्र है",
        "پسر\u200cها آمدند",
        "un bébé",
        "un be\u0301be\u0301",
        "e\u0301té ici",
    ]
    swapped = ["यह कन्या है", "un père"]
    assert list(dict.fromkeys(SwapAverage().reads(texts, concept))) == swapped
