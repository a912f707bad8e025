"""Texts with how often words of two groups occur in them."""

from __future__ import annotations

from harness.plugins.tables.counted_words import counted_words

WORDS = {"words_1": ("she", "woman"), "words_2": ("he", "man")}


def counted(*texts, **options):
    rows = [{"text": text} for text in texts]
    return counted_words(rows, columns=("text",), **WORDS | options)


def test_words_are_counted_in_any_case_and_beside_punctuation():
    rows = counted("She's here; the WOMAN, she said, saw a man.", "Human, heman, shed.", "He? “He”")
    assert [(row["count_1"], row["count_2"], row["group"]) for row in rows] == [
        (3, 1, 0), (0, 0, 2), (0, 2, 1),
    ]  # fmt: skip


def test_several_columns_are_one_passage_that_may_be_cut():
    row = {"title": "A  man", "text": "and\na woman", "other": 1}
    (whole,) = counted_words([row], columns=("title", "text"), **WORDS)
    assert (whole["passage"], whole["other"], whole["group"]) == ("A man and a woman", 1, 2)
    (cut,) = counted_words([row], columns=("title", "text"), first_words=3, **WORDS)
    assert (cut["passage"], cut["count_1"], cut["count_2"]) == ("A man and", 0, 1)
