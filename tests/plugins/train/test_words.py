"""The vocabulary of word vectors as tokenizer and first module."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import NotApplicable
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.train import bilstm


def built_of(*vocabulary, limit=None):
    vectors = np.arange(1.0, len(vocabulary) * 2 + 1).reshape(-1, 2)
    return bilstm.words_of(WordVectors.of(list(vocabulary), vectors), limit)


def tokens(of, text):
    return of.tokenizer.convert_ids_to_tokens(of.tokenizer(text)["input_ids"])


def plain(of, text):
    return [token.removeprefix("▁") for token in tokens(of, text)]


def test_a_text_becomes_its_known_words_and_marks():
    vocabulary = built_of("the", "man", "'s", "dog", ",", "well", "-", "known", "do", "n't", "a")
    assert plain(vocabulary, "The man’s zebra, well-known dog") == [
        *("the", "man", "'s", ",", "well", "-", "known", "dog")
    ]
    assert plain(vocabulary, "Don't") == ["do", "n't"]


def test_no_letter_of_an_unknown_word_becomes_a_token():
    assert plain(built_of("a", "b", "man"), "abba a man") == ["a", "man"]


def test_a_vocabulary_with_capitals_keeps_the_case_of_texts():
    assert plain(built_of("Will", "will"), "Will will") == ["Will", "will"]
    assert plain(built_of("will", "they"), "Will THEY") == ["will", "they"]


def test_contractions_stay_whole_where_the_vocabulary_has_no_parts_of_them():
    assert plain(built_of("don't", "man"), "don't") == ["don't"]


def test_a_token_has_the_vector_of_its_word_and_row_zero_is_padding():
    vocabulary = built_of("the", "man")
    ids = vocabulary.tokenizer("man the")["input_ids"]
    assert vocabulary.vectors[ids].tolist() == [[3, 4], [1, 2]]
    assert not vocabulary.vectors[0].any()


def test_words_without_a_direction_are_left_out():
    embedder = WordVectors.of(["the", "nothing", "man"], np.array([[1, 1], [0, 0], [2, 2]]))
    assert plain(bilstm.words_of(embedder), "the nothing man") == ["the", "man"]


def test_a_limit_keeps_the_first_words():
    vocabulary = built_of("the", "man", "dog", limit=2)
    assert plain(vocabulary, "the man dog") == ["the", "man"]
    assert len(vocabulary.vectors) == 3


def test_coverage_is_the_share_of_words_with_a_vector():
    vocabulary = built_of("the", "man", "runs")
    assert bilstm.check_coverage(vocabulary, ["the man", "the zebra"], "x") == pytest.approx(0.75)


def test_vectors_that_lack_most_words_are_refused_with_the_share_and_the_limit():
    with pytest.raises(NotApplicable, match=r"'mine' .* 25% .* 50%"):
        bilstm.check_coverage(built_of("le"), ["le homme court vite"], "mine")


def test_words_with_joiners_and_decomposed_accents_are_whole():
    words = bilstm.words_of(WordVectors.of(["می\u200cخواهم", "fiance\u0301"], np.eye(2)))
    assert words.tokenizer("می\u200cخواهم fiance\u0301 می")["input_ids"] == [1, 2]
