"""The words of a text, and the word that each token belongs to."""

import numpy as np
import pytest

from harness.embedder import TokenStates, words, words_of_tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The nurse, she said.", ["the", "nurse", ",", "she", "said", "."]),
        ("a woman's mother-in-law", ["a", "woman", "'s", "mother-in-law"]),
        ("I don’t; it’s", ["i", "don’t", ";", "it", "’s"]),
        ("the boys' naïve_idea", ["the", "boys", "'", "naïve", "_", "idea"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_a_text_is_split_into_words(text, expected):
    assert [word.text for word in words(text)] == expected


def test_a_token_belongs_to_the_word_that_it_overlaps():
    text_words = words("he didn't go")
    #          [CLS]   he      did     n       't       go        [SEP]
    offsets = [(0, 0), (0, 2), (3, 6), (6, 7), (7, 9), (9, 12), (0, 0)]
    np.testing.assert_array_equal(words_of_tokens(text_words, offsets), [-1, 0, 1, 1, 1, 2, -1])


def test_tokens_of_a_prompt_belong_to_no_word():
    offsets = [(0, 5), (5, 6), (6, 7), (7, 10)]  # of "query: man"
    np.testing.assert_array_equal(words_of_tokens(words("man"), offsets, shift=7), [-1, -1, -1, 0])


def test_behind_removes_the_first_tokens():
    states = TokenStates(("a",), np.array([-1, -1, 0]), np.eye(3, dtype=np.float32))
    behind = states.behind(2)
    np.testing.assert_array_equal(behind.word_of, [0])
    np.testing.assert_array_equal(behind.states, [[0, 0, 1]])
