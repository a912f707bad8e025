"""Classifier of the words with a concept in their definition."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.specific_words import specific_words


def drawn(n: int, side: float, rng: np.random.Generator) -> np.ndarray:
    rows = rng.standard_normal((n, 8))
    rows[:, 0] = side + 0.1 * rng.standard_normal(n)
    return rows


def run(rng, *, n=40, m=200, side=3.0, rest=None, **options):
    """Score n seeds on one side and m other words; one more seed is not among the words."""
    seeds, words = drawn(n + 1, side, rng), drawn(m, -3.0, rng)
    texts = {
        "seeds": [f"s{i}" for i in range(n + 1)],
        "words": [*(f"s{i}" for i in range(n)), *(f"w{i}" for i in range(m))],
        "rest": [] if rest is None else [f"r{i}" for i in range(len(rest))],
    }
    supplied = {"rng": np.random.default_rng(0), "texts": texts}
    return specific_words(seeds, np.concatenate([seeds[:n], words]), rest, **supplied, **options)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_separated_words_are_all_found(rng):
    scores = run(rng)
    for score in scores.values():
        assert score.value == 1
        assert score.details["folds"] == [1.0] * 10
        assert score.details["deviation"] == 0
        assert score.n == score.details["words"] == 240
        assert score.details["seeds"] == 40, "a seed that is not among the words is not learnt from"


def test_scores_are_at_chance_for_words_that_are_not_separated(rng):
    scores = run(rng, side=-3.0, m=400)
    assert scores["f1"].value < 0.3
    assert scores["balanced_accuracy"].value == pytest.approx(0.5, abs=0.12)


def test_further_words_are_not_trained_on_and_known_words_are_listed_once(rng):
    seeds = drawn(20, 3.0, rng)
    words = np.concatenate([drawn(60, -3.0, rng), seeds])
    names = [f"s{i}" for i in range(20)]
    texts = {
        "seeds": names,
        "words": [*(f"w{i}" for i in range(60)), *names],
        "rest": ["s0", "w0", "new"],
    }
    rest = np.stack([seeds[0], words[0], seeds[1]])
    chance = np.random.default_rng
    with_rest = specific_words(seeds, words, rest, rng=chance(0), texts=texts)["f1"]
    without = specific_words(seeds, words, rng=chance(0), texts=texts)["f1"]
    assert with_rest.value == without.value
    assert [row["word"] for row in with_rest.tables["words"] if row["of"] == "rest"] == ["new"]
    assert len(with_rest.tables["words"]) == len(without.tables["words"]) + 1


def test_the_grid_of_the_regularisation_is_in_the_details(rng):
    score = run(rng, folds=3, grid=(0.01, 1.0))["balanced_accuracy"]
    assert score.value == 1
    assert score.details["grid"] == [0.01, 1.0]


def test_the_map_has_seeds_below_the_boundary_and_other_words_above_between_the_poles(rng):
    seeds, words = drawn(12, 3.0, rng), drawn(30, -3.0, rng)
    names = [f"s{i}" for i in range(12)], [f"<w{i}>" for i in range(30)]
    texts = {"seeds": names[0], "words": names[0] + names[1], "pole_1": ["she"], "pole_2": ["he"]}
    poles = np.eye(8)[2:3], np.eye(8)[3:4]
    arrays = seeds, np.concatenate([seeds, words]), None
    supplied = {"rng": np.random.default_rng(0), "texts": texts}
    rows = specific_words(*arrays, *poles, **supplied)["f1"].tables["map"]
    assert [row["word"] for row in rows[:12]] == names[0]
    assert max(row["distance"] for row in rows[:12]) < 0
    assert min(row["distance"] for row in rows[12:]) > 0
    unit = seeds[0] / np.linalg.norm(seeds[0])
    assert rows[0]["projection"] == pytest.approx((unit[3] - unit[2]) / 2**0.5, abs=1e-4)
    assert sorted(row["word"] for row in rows[12:]) == sorted(names[1])
    assert "map" not in specific_words(*arrays, **supplied)["f1"].tables
