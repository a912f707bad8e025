"""Generated analogies: the search against all pairs at once, and the ratings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.arrays import unit_rows
from harness.errors import InvalidOption
from harness.plugins.metrics.pair_analogies import pair_analogies
from harness.plugins.metrics.statistics import analogy_search
from harness.plugins.metrics.statistics.analogy_search import find_pairs

SCORES = ("stereotyped", "appropriate", "unrated")


def every_pair(vectors, direction, *, delta, top, repeats):
    """Return the best pairs by equation 1, from the matrix of all pairs."""
    units = unit_rows(vectors)
    difference = units[:, None] - units[None]
    lengths = np.linalg.norm(difference, axis=2)
    s = np.where((lengths <= delta) & (lengths > 1e-5), difference @ direction, 0)
    s /= np.where(lengths > 0, lengths, 1)
    chosen = []
    for x, y in zip(*np.unravel_index(np.argsort(-s, axis=None), s.shape), strict=True):
        used = {row[0] for row in chosen}, {row[1] for row in chosen if repeats == "both"}
        if s[x, y] > 0 and x not in used[0] and y not in used[1] and len(chosen) < top:
            chosen.append((x, y, s[x, y]))
    return chosen


@pytest.mark.parametrize("kept", [7, 200_000])
@pytest.mark.parametrize("repeats", ["first", "both"])
@given(seed=st.integers(0, 2**32 - 1), delta=st.floats(0.5, 1.9))
@example(seed=80, delta=1.5)  # two pairs at the cut whose scores float32 takes for equal
def test_the_search_equals_the_matrix_of_all_pairs(kept, repeats, seed, delta):
    rng = np.random.default_rng(seed)
    vectors, u = rng.standard_normal((40, 4)), unit_rows(rng.standard_normal((1, 4)))[0]
    options = {"delta": delta, "top": 15, "repeats": repeats}
    with pytest.MonkeyPatch.context() as patch:
        # Few are kept, so that repeats use them up; small blocks, so that there are many.
        patch.setattr(analogy_search, "KEPT", kept)
        patch.setattr(analogy_search, "BUFFER", 3 * kept)
        patch.setattr(analogy_search, "BLOCK", (8, 16))
        pairs = find_pairs(vectors, u, **options)
    expected = every_pair(vectors, u, **options)
    assert list(zip(pairs.first, pairs.second, strict=True)) == [(x, y) for x, y, _ in expected]
    assert pairs.scores == pytest.approx([s for _, _, s in expected], abs=1e-9)


def test_pairs_within_delta_are_counted_once_and_equal_vectors_not():
    angles = np.radians([0, 50, 100, 100])  # 50° apart is a distance of .85, 100° one of 1.5
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    pairs = find_pairs(vectors, np.array([1.0, 0]), delta=1.0, top=9, repeats="first")
    assert pairs.within_delta == 3


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
    "surgery": (-0.3, 0, 1),  # a pruned table has it at the surgeon's vector
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


def test_undefined_scores_have_a_reason_and_invalid_options_are_rejected():
    assert "equal" in run(WORDS | {"he": WORDS["she"]}, RATINGS)["unrated"].reason
    far = {"she": (1, 0, 0), "he": (-1, 0, 0)}
    assert "δ" in run(far, RATINGS)["stereotyped"].reason
    for options in ({"delta": 0}, {"delta": 3}, {"top": 0}, {"unique": "second"}):
        with pytest.raises(InvalidOption, match=next(iter(options))):
            run(WORDS, RATINGS, **options)
