"""Texts are alike if the model gives them the same vector, and differ only in case or `_`."""

import numpy as np
import pytest

from harness.embedder import MockEmbedder
from harness.encode.spellings import Finder, Spellings
from harness.errors import HarnessError
from harness.plugins.embedders.vectors.word_vectors import WordVectors

WORDS = WordVectors.of(["he", "US", "us", "new_york", "zero"], [*np.eye(5)[:4], np.zeros(5)])


def test_a_word_that_is_looked_up_in_lower_case_is_like_that_word():
    spellings = Spellings.of(["He", "HE", "he", "she"], WORDS.encode)
    assert spellings.like(["He"]) == {"He", "HE", "he"}
    assert spellings.like(["she"]) == {"she"}


def test_words_that_the_model_tells_apart_by_case_are_not_alike():
    assert Spellings.of(["US", "us"], WORDS.encode).like(["us"]) == {"us"}


def test_a_space_is_like_an_underscore():
    names = ["New York", "new_york"]
    assert Spellings.of(names, WORDS.encode).like(["new_york"]) == set(names)


def test_composed_and_decomposed_accents_are_alike():
    words = WordVectors.of(["caf\u00e9", "cafe"], np.eye(2))
    forms = ["caf\u00e9", "cafe\u0301", "cafe"]
    assert Spellings.of(forms, words.encode).like([forms[0]]) == set(forms[:2])


def test_words_without_a_vector_are_like_nothing_else():
    for words in (["unknown", "Unknown"], ["zero", "Zero"]):
        assert Spellings.of(words, WORDS.encode).like(words[:1]) == {words[0]}


def test_an_uncased_encoder_reads_every_spelling_alike_and_a_cased_one_does_not():
    model = MockEmbedder("text", 8)

    def uncased(texts):
        noise = np.random.default_rng(0).normal(scale=1e-4, size=(len(texts), 8))
        return model.encode([text.lower() for text in texts]) + noise

    texts = ["Say it to Ann.", "say it to ann."]
    assert Spellings.of(texts, uncased).like(texts[:1]) == set(texts)
    assert Spellings.of(texts, model.encode).like(texts[:1]) == {texts[0]}


def test_texts_that_cannot_be_encoded_count_as_alike():
    def fails(texts):
        raise HarnessError("no")

    assert Spellings.of(["He", "he"], fails).like(["He"]) == {"He", "he"}


def held(text: str, *words: str) -> tuple[str, ...]:
    found = Finder(words).held(text)
    return found.words if found else ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He saw her.", ("he", "her")),
        ("The other hero's mother was there.", ()),
        ("It was her's, or his'.", ("her", "his")),
        ('"She," said John\u2019s aunt: he-man!', ("she", "john", "he")),
        ("a_catholic_priest", ("catholic priest",)),
        ("The Catholic church; the priest", ()),
        ("Catholic priests", ()),
        ("HERS", ()),
        ("caf\u00e9 or cafe\u0301", ("caf\u00e9", "caf\u00e9")),
        ("", ()),
    ],
)
def test_a_word_is_found_as_a_whole_word_in_any_case(text, words):
    fitted = ("he", "She", "her", "his", "John", "Catholic_priest", "caf\u00e9")
    assert held(text, *fitted) == words


def test_the_longest_phrase_counts():
    for text in ("her twin brother", "her twin-brother", "her twin\nbrother"):
        assert held(text, "brother", "twin_brother") == (text.removeprefix("her "),)


def test_texts_of_one_frame_differ_in_the_words_alone():
    finder = Finder(["he", "she", "his", "her"])
    frames = [finder.held(text) for text in ("He has his bag.", "she has her bag.", "He has a bag")]
    assert frames[0].frame == frames[1].frame != frames[2].frame


def test_a_word_is_not_found_inside_a_word_with_vowel_signs_or_joiners():
    finder = Finder(["पुत्र", "پسر"])
    assert finder.held("यह पुत्र है").words == ("पुत्र",)
    assert finder.held("यह पुत्री है") is None
    assert finder.held("پسر\u200cها") is None
