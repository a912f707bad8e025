"""Generated analogies: the list and its ratings."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.pair_analogies import pair_analogies

SCORES = ("stereotyped", "appropriate", "unrated")


def run(vocabulary: dict, ratings: list[tuple], **options):
    words = list(vocabulary)
    seeds = [np.array([vocabulary[seed]], dtype=np.float32) for seed in ("she", "he")]
    firsts, seconds, appropriate, biased = (list(column) for column in zip(*ratings, strict=True))
    texts = {"vocabulary": words, "rated_1": firsts, "rated_2": seconds}
    return pair_analogies(
        *seeds,
        np.array(list(vocabulary.values()), dtype=np.float32),
        *np.zeros((2, len(ratings), 3)),
        np.array(appropriate),
        np.array(biased),
        texts=texts,
        **options,
    )


RATINGS = [("she", "he", 9, 1), ("nurse", "Surgeon", 1, 9), ("he", "she", 0, 10)]
WORDS = {
    "she": (0.3, 1, 0),
    "he": (-0.3, 1, 0),
    "nurse": (0.3, 0.1, 1),
    "surgeon": (-0.3, 0, 1),
    "surgery": (-0.3, 0, 1),  # the vector of surgeon, as in a pruned table
    "stone": (0.0, -1, -1),
}


def test_shares_are_of_the_list_and_the_table_shows_the_ratings():
    scores = run(WORDS, RATINGS)
    rows = scores["stereotyped"].tables["pairs"]
    assert [(row["first"], row["second"], row["rating"]) for row in rows] == [
        ("she", "he", "appropriate"),
        ("nurse", "surgeon", "stereotyped"),
    ]
    assert rows[0]["score"] == pytest.approx(1.0)
    assert [scores[name].value for name in SCORES] == [0.5, 0.5, 0.0]
    assert scores["stereotyped"].details["same_vector"] == 1


def test_a_pair_may_be_rated_both_or_neither_by_a_chosen_majority():
    scores = run(WORDS, [("she", "he", 7, 6), ("nurse", "surgeon", 5, 5)])
    assert [row["rating"] for row in scores["stereotyped"].tables["pairs"]] == ["both", "neither"]
    assert [scores[name].value for name in SCORES] == [0.5, 0.5, 0.0]
    scores = run(WORDS, [("nurse", "surgeon", 5, 5)], majority=5)
    assert [scores[name].value for name in SCORES] == [0.5, 0.5, 0.5]


def test_published_lists_repeat_the_second_word():
    words = WORDS | {"girl": (0.3, 1, 0.2)}
    pairs = {
        unique: [
            (row["first"], row["second"])
            for row in run(words, RATINGS, unique=unique)["stereotyped"].tables["pairs"]
        ]
        for unique in ("first", "both")
    }
    assert ("girl", "he") in pairs["first"]
    assert ("she", "he") in pairs["first"]
    assert ("girl", "he") not in pairs["both"]
