"""Feminine and masculine forms of occupations, on vectors of known gender."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from harness.plugins.metrics.form_gap import form_gap, grammatical_direction

D = 8
SEMANTIC, GRAMMATICAL = np.eye(D)[0], np.eye(D)[1]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def language(leanings, *, grammar=0.5, meaning=0.4, noise=0.02, n_nouns=30, seed=0):
    """Return the inputs of a made-up language.

    Masculine words have `grammar` along GRAMMATICAL, and words for men `meaning` along SEMANTIC;
    feminine words and those for women have it the other way round. An occupation leans, too.
    """
    rng = np.random.default_rng(seed)

    def words(n, gender, semantic):
        rest = noise * rng.standard_normal((n, D)) + np.eye(D)[2]
        return rest + gender * grammar * GRAMMATICAL + np.outer(semantic * np.ones(n), SEMANTIC)

    n, leanings = len(leanings), np.asarray(leanings, dtype=float)
    return {
        "feminine": words(n, -1, leanings - meaning),
        "masculine": words(n, 1, leanings + meaning),
        "definers_feminine": words(6, -1, -meaning),
        "definers_masculine": words(6, 1, meaning),
        "nouns_feminine": words(n_nouns, -1, 0.0),
        "nouns_masculine": words(n_nouns, 1, 0.0),
    }


def run(inputs, ratings, **options):
    return form_gap(
        **inputs,
        ratings=np.asarray(ratings, dtype=float),
        rng=np.random.default_rng(0),
        **options,
    )


def test_three_occupations_in_two_dimensions_by_hand():
    def at(*degrees):
        return np.stack([[np.cos(a), np.sin(a)] for a in np.radians(degrees)])

    inputs = {
        "feminine": at(180, 120, 90),
        "masculine": at(0, 0, 90),
        "definers_feminine": at(180),
        "definers_masculine": at(0),
    }
    scores = run(inputs, [0, 1, 2], resamples=0)
    # dis(O_M, S_M): 0 0 1; dis(O_F, S_F): 0 .5 1; the direction is from 180 to 0 degrees
    assert scores["gap"].value == pytest.approx(0.5 / 3)
    assert scores["gap"].details["lean"] == pytest.approx(0.5 / 3)
    assert scores["semantic_gap"].value == pytest.approx(0.5 / 3)  # |cos|: 1 1, 1 .5, 0 0
    # places cos + cos: 0, .5, 0, whose ranks 1.5 3 1.5 do not correlate with 1 2 3
    assert scores["stereotype"].value == pytest.approx(0)
    assert [row["place"] for row in scores["stereotype"].tables["occupations"]] == pytest.approx(
        [0, 0, 0.5]
    )


def test_bars_around_each_pair_make_the_gap_of_the_authors_code():
    inputs = {
        "feminine": np.eye(4)[[2, 2, 2]],
        "masculine": np.eye(4)[[3, 3, 3]],
        "definers_feminine": np.eye(4)[[2, 0]],
        "definers_masculine": np.eye(4)[[0, 3]],
    }
    gap = run(inputs, [0, 1, 2], resamples=0)["gap"]
    # pairs: dis(O_M, S_M) 1 and 0, dis(O_F, S_F) 0 and 1: equal on average, and not pair by pair
    assert gap.value == pytest.approx(0)
    assert gap.details["by_pair"] == pytest.approx(1)


def test_a_stereotype_in_both_forms_is_found_and_grammar_is_none():
    leanings = np.linspace(-0.3, 0.3, 20)
    scores = run(language(leanings), leanings)
    assert scores["stereotype"].value > 0.95
    details = scores["stereotype"].details
    assert details["p_labels"] < 1e-6
    assert scores["stereotype"].p_value == max(details["p_labels"], details["p_direction"])
    published = run(language(leanings), leanings, sides="labels")["stereotype"]
    assert published.p_value == details["p_labels"]
    assert details["grammatical"] > 0.5, "the definers have grammatical gender, too"
    assert details["forms"] > 0.3, "a masculine form means a man"
    fair = run(language(np.zeros(20)), leanings)
    assert abs(fair["stereotype"].value) < 0.5
    assert fair["gap"].value < scores["gap"].value / 3
    assert fair["semantic_gap"].value < scores["semantic_gap"].value / 3


@pytest.mark.parametrize(("grammar", "nouns"), [("lda", 0.9), ("means", 0.7), ("none", 1.0)])
def test_nouns_have_no_side_along_the_semantic_direction(grammar, nouns):
    details = run(language(np.zeros(9)), range(9), grammar=grammar)["gap"].details
    assert details["nouns"] <= nouns
    assert (details["nouns"] == 1) == (grammar == "none")


def test_the_difference_of_means_leaves_equal_means():
    inputs = language(np.zeros(5), noise=0.4)
    sides = [unit(inputs[f"nouns_{side}"]) for side in ("feminine", "masculine")]
    direction = grammatical_direction(*sides, grammar="means")
    difference = sides[1].mean(axis=0) - sides[0].mean(axis=0)
    assert difference - (difference @ direction) * direction == pytest.approx(0, abs=1e-12)
    lda = grammatical_direction(*sides)
    assert np.linalg.norm(lda) == pytest.approx(1)
    assert np.mean((sides[1] @ lda)[:, None] > sides[0] @ lda) > 0.95


def test_with_many_nouns_the_direction_is_that_of_scikit_learn():
    rng = np.random.default_rng(4)
    rows = unit(rng.standard_normal((4000, 5)) @ rng.standard_normal((5, 5)) + 1)
    rows[2000:] += 0.1 * np.arange(5)
    sides = unit(rows[:2000]), unit(rows[2000:])
    peer = LinearDiscriminantAnalysis().fit(np.concatenate(sides), np.arange(4000) >= 2000)
    assert grammatical_direction(*sides) @ unit(peer.coef_[0]) > 0.9999


def test_more_dimensions_than_nouns_have_a_direction():
    rng = np.random.default_rng(3)
    sides = unit(rng.standard_normal((2, 10, 60)))
    assert np.isfinite(grammatical_direction(*sides)).all()
    assert grammatical_direction(sides[0], sides[0]) is None


def test_exchanged_genders_turn_the_stereotype_and_keep_the_gaps():
    leanings = np.linspace(-0.2, 0.1, 9)
    inputs = language(leanings)
    kinds = ("", "definers_", "nouns_")
    exchanged = {f"{kind}feminine": inputs[f"{kind}masculine"] for kind in kinds}
    exchanged |= {f"{kind}masculine": inputs[f"{kind}feminine"] for kind in kinds}
    first, second = run(inputs, leanings), run(exchanged, leanings)
    assert second["stereotype"].value == pytest.approx(-first["stereotype"].value)
    assert second["gap"].value == pytest.approx(first["gap"].value)
    assert second["semantic_gap"].value == pytest.approx(first["semantic_gap"].value)


def test_a_language_without_the_direction_has_no_stereotype_left():
    inputs = language(np.linspace(-0.2, 0.2, 9))
    for name in ("feminine", "masculine"):
        inputs[name] = inputs[name] * (np.arange(D) > 1)
    scores = run(inputs, range(9), grammar="means")
    assert scores["semantic_gap"].value < 0.05
    flat = {name: rows * (np.arange(D) != 0) for name, rows in inputs.items()}
    flat |= {name: np.tile(SEMANTIC * s, (6, 1)) for name, s in
             (("definers_feminine", -1), ("definers_masculine", 1))}  # fmt: skip
    assert run(flat, range(9))["stereotype"].value == 0
