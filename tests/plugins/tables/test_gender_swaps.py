"""Sentences beside their gender-swapped versions."""

from __future__ import annotations

from harness.plugins.tables.gender_swaps import gender_swaps


def rows(*texts, column="text"):
    return [{column: text} for text in texts]


def test_sentences_about_one_gender_are_swapped_and_dealt_out():
    made = gender_swaps(rows("She sleeps.", "Rain.", "My father sings.", "He met her.", "A boy."))
    assert made == [
        {"female": "She sleeps.", "male": "He sleeps.", "part": 0},
        {"female": "My mother sings.", "male": "My father sings.", "part": 1},
        {"female": "A girl.", "male": "A boy.", "part": 0},
    ]


def test_a_sentence_counts_once_and_parts_are_equal_to_within_one():
    made = gender_swaps(rows(*["A girl."] * 3, *(f"Boy {i}." for i in range(6)), column="s"),
                        column="s", parts=3)  # fmt: skip
    assert [row["part"] for row in made] == [0, 1, 2, 0, 1, 2, 0]
