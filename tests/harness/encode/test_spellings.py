"""Texts are alike if the model gives them the same vector, and differ only in case or `_`."""

import numpy as np

from harness.embedder import MockEmbedder
from harness.encode.spellings import Spellings
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


def test_nothing_is_encoded_without_two_spellings():
    def fails(texts):
        raise AssertionError(texts)

    assert Spellings.of(["he", "she", "he"], fails).like(["he"]) == {"he"}
