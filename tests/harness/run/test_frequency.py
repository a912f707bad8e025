"""How frequent the words of a score are: typical ranks, unlike sets, rare words, and the notice."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.plugins.embedders.vectors.word_vectors import WordVectors

SIZE = 60_000


def vocabulary(names=()):
    """Return a vocabulary of `w0`, `w1` … in this order; `names` replaces words by their row."""
    rng = np.random.default_rng(0)
    words = [f"w{SIZE - i}" for i in range(SIZE)]  # not in alphabetical order
    for row, name in dict(names).items():
        words[row] = name
    return WordVectors.of(words, rng.standard_normal((SIZE, 4)), name="made")


def task(**inputs):
    return {
        "name": "mine",
        "version": 1,
        "title": "A test",
        "category": "gender",
        "inputs": {name: {"words": words} for name, words in inputs.items()},
        "metrics": {"weat": {}},
        "primary": {"metric": "weat", "score": "association"},
    }


NAMES = {9: "amy", 99: "bea", 999: "carl", 9_999: "dan", 49: "job", 59: "home", 55_000: "rare"}


def evaluated(model, tmp_path, **sets):
    sets = {"targets_1": ["amy", "bea"], "targets_2": ["carl", "dan"]} | sets
    sets = sets | {"attributes_1": ["job", "w1"], "attributes_2": ["home", "w2"]}
    return harness.evaluate(model, [task(**sets)], cache=tmp_path)


def test_contrasted_sets_of_unlike_frequency_are_recorded_and_told(tmp_path):
    records = evaluated(vocabulary(NAMES), tmp_path)
    frequency = records[0].coverage.frequency
    assert frequency.ranks["targets_1"] == round((10 * 100) ** 0.5)
    assert frequency.ranks["targets_2"] == round((1_000 * 10_000) ** 0.5)
    assert frequency.unlike == {"targets_1 and targets_2": 100}
    (line,) = [line for line in records.notices if "differ in frequency" in line]
    assert "mine (100 ×)" in line


@pytest.mark.parametrize("order", ["alphabetical", "few", "text"])
def test_a_model_whose_order_says_nothing_of_frequency_has_none(order, tmp_path):
    model = vocabulary(NAMES)
    if order == "alphabetical":
        model = WordVectors.of(sorted(model.words), model.vectors, name="made")
    elif order == "few":
        known = [*NAMES.values(), "w1", "w2"]
        model = WordVectors.of(known, np.random.default_rng(0).standard_normal((len(known), 4)))
    else:
        model = harness.embedder.MockEmbedder()
    records = evaluated(model, tmp_path)
    assert records[0].coverage.frequency is None
    assert not any("frequen" in line for line in records.notices)


def test_words_are_found_as_the_vectors_are_and_unknown_ones_have_no_rank():
    model = vocabulary({4: "new_york", 5: "amy"})
    assert model.ranks(["new york", "Amy", "nobody"]) == [5, 6, 0]
