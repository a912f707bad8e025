"""WEAT and its p-values on GloVe 6B 50d against WEFE 1.0.1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from harness.plugins.metrics.weat import weat

QUERIES = yaml.safe_load(Path(__file__).with_name("wefe_queries.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def query(data_folder, glove) -> Callable[[str], list[tuple[list[str], np.ndarray]]]:
    """Return a function that gives a query's four sets: the known words, and their vectors."""
    sets = json.loads((data_folder / "wefe_WEAT.json").read_text(encoding="utf-8"))

    def look_up(name):
        sets_with_words = []
        for key in QUERIES[name]:
            rows = glove(sets[key])
            known = np.isfinite(rows).all(axis=1)
            words = [word for word, is_known in zip(sets[key], known, strict=True) if is_known]
            sets_with_words.append((words, rows[known]))
        return sets_with_words

    return look_up


def weat_of(arrays, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return weat(*arrays, **options)["effect_size"]


@pytest.mark.parametrize("name", QUERIES)
def test_weat_and_its_effect_size_are_those_of_wefe(name, query, expected):
    peer = expected("wefe_glove50.json")
    sets = query(name)
    assert [len(words) for words, _ in sets] == peer["metrics"][name]["n_found"]
    arrays = [rows for _, rows in sets]
    score = weat_of(arrays, ddof=0, permutations=10)
    assert score.value == pytest.approx(peer["metrics"][name]["WEAT_ES"], abs=1e-6)
    assert score.details["statistic"] == pytest.approx(peer["weat_p"][name]["weat"], abs=1e-9)
    n = len(arrays[0]) + len(arrays[1])
    sample = weat_of(arrays, permutations=10).value
    assert sample == pytest.approx(score.value * np.sqrt((n - 1) / n))


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(
    ("alternative", "key"), [("greater", "p_right_ge"), ("two-sided", "p_two_ge")]
)
def test_p_values_are_those_of_counting_or_sampling_partitions(
    name, alternative, key, query, expected
):
    peer = expected("wefe_glove50.json")["weat_p"][name]
    published = {"alternative": alternative, "sides": "targets"}
    score = weat_of([rows for _, rows in query(name)], **published)
    assert score.details["partitions"] == peer["n_partitions"]
    if peer["kind"] == "exact":
        assert score.details["p_kind"] == "exact"
        assert score.p_value == pytest.approx(peer[key], abs=1e-12)
    else:
        assert score.details["p_kind"] == "100000 permutations"
        error = np.sqrt(2 * peer[key] / 100_000)  # of the difference of two samples of 100,000
        assert score.p_value == pytest.approx(peer[key], abs=4 * error)
