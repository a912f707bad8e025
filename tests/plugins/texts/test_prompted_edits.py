"""Edits by the prompts of the paper: which answers are edits of their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ModelError
from harness.plugins.texts.prompted_edits import read, shared

words = st.lists(st.sampled_from(["Zuri", "slept", "in", "Leeds", "and", "ran"]), min_size=1)


@given(words, st.data())
def test_a_text_from_which_words_are_deleted_shares_all_its_words(text, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    edited = [word for word, keep in zip(text, kept, strict=True) if keep]
    assert shared(" ".join(text), " ".join(edited)) == 1


@given(words, words)
def test_the_share_is_between_zero_and_one(text, edited):
    assert 0 <= shared(" ".join(text), " ".join(edited)) <= 1


def test_placeholders_are_no_words_and_new_words_are_not_shared():
    assert shared("Zuri met Ada in Leeds.", "CHAR_A met CHAR_B in LOC_A.") == 1
    assert shared("Zuri slept.", "The woman slept.") == pytest.approx(1 / 3)


@pytest.mark.parametrize("answer", ["slept.", "```\nslept.\n```", "  slept.\n"])
def test_an_answer_is_read_without_its_wrapping(answer):
    assert read("Zuri slept.", answer) == "slept."


def test_only_a_text_of_names_may_become_empty():
    assert read("Zuri", "") == ""
    with pytest.raises(ModelError, match="empty"):
        read("Zuri slept.", "")
