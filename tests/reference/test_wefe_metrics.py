"""WEAT, MAC, RND, RIPA, ECT and RNSB on GloVe 6B 50d against WEFE 1.0.1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from harness.plugins.metrics.ect import ect
from harness.plugins.metrics.mac import mac
from harness.plugins.metrics.ripa import ripa
from harness.plugins.metrics.rnd import rnd
from harness.plugins.metrics.rnsb import rnsb
from harness.plugins.metrics.weat import weat

QUERIES = yaml.safe_load(Path(__file__).with_name("wefe_queries.yaml").read_text(encoding="utf-8"))
SINGLE = 1e-6  # WEFE computes in single precision
Sets = list[np.ndarray]


@pytest.fixture(scope="module")
def query(data_folder, glove) -> Callable[[str], Sets]:
    """Return a function that gives the vectors of the known words of a query's four sets."""
    words = json.loads((data_folder / "wefe_WEAT.json").read_text(encoding="utf-8"))

    def look_up(name):
        sets = [glove(words[key]) for key in QUERIES[name]]
        return [rows[np.isfinite(rows).all(axis=1)] for rows in sets]

    return look_up


def drawless(metric, *sets, **options: Any):
    return metric(*sets, resamples=0, rng=np.random.default_rng(0), **options)


def published_rnsb(x, y, a, b, **options: Any):
    options = {"holdout": 0, "rng": np.random.default_rng(0)} | options
    return rnsb(x, a, b, targets_2=y, **options)["divergence"]


def attribute_keys(query):
    """Return WEFE's names of the attribute sets of a query."""
    names = QUERIES[query][2:]
    return ["unpleasant" if name.startswith("unpleasant_5") else name for name in names]


@pytest.mark.parametrize("name", QUERIES)
def test_weat_and_its_effect_size_are_those_of_wefe(name, query, expected):
    peer = expected("wefe_glove50.json")
    sets = query(name)
    assert list(map(len, sets)) == peer["metrics"][name]["n_found"]
    score = drawless(weat, *sets, ddof=0, permutations=10)["effect_size"]
    assert score.value == pytest.approx(peer["metrics"][name]["WEAT_ES"], abs=SINGLE)
    assert score.details["statistic"] == pytest.approx(peer["weat_p"][name]["weat"], abs=1e-9)
    n = len(sets[0]) + len(sets[1])
    sample = drawless(weat, *sets, permutations=10)["effect_size"].value
    assert sample == pytest.approx(score.value * np.sqrt((n - 1) / n))


@pytest.mark.parametrize("name", QUERIES)
def test_p_values_of_weat_are_those_of_counting_or_sampling_partitions(name, query, expected):
    peer = expected("wefe_glove50.json")["weat_p"][name]
    for alternative, key in (("greater", "p_right_ge"), ("two-sided", "p_two_ge")):
        score = drawless(weat, *query(name), alternative=alternative, sides="targets")
        effect = score["effect_size"]
        assert effect.details["partitions"] == peer["n_partitions"]
        assert (effect.details["p_kind"] == "exact") == (peer["kind"] == "exact")
        # exact, or the difference of two samples of 100,000
        error = 0 if peer["kind"] == "exact" else np.sqrt(2 * peer[key] / 100_000)
        assert effect.p_value == pytest.approx(peer[key], abs=max(1e-12, 4 * error))


@pytest.mark.parametrize("name", QUERIES)
def test_mac_is_that_of_wefe(name, query, expected):
    x, y, a, b = query(name)
    peer = expected("wefe_glove50.json")["metrics"][name]["MAC"]
    score = drawless(mac, targets_1=x, targets_2=y, attributes_1=a, attributes_2=b)
    assert score.value == pytest.approx(peer, abs=SINGLE)


@pytest.mark.parametrize("name", QUERIES)
def test_rnd_is_that_of_wefe_at_either_length_and_distance(name, query, expected):
    x, y, *attributes = query(name)
    peer = expected("wefe_glove50.json")["metrics"][name]
    for key, a in zip(attribute_keys(name), attributes, strict=True):
        for end, options in (("", {}), ("_unit", {"unit_length": True})):
            value = drawless(rnd, x, y, a, **options).value
            assert value == pytest.approx(peer[f"RND[{key}]{end}"], abs=SINGLE)
        value = drawless(rnd, x, y, a, distance="cos").value
        assert value == pytest.approx(peer[f"RNDcos[{key}]"], abs=SINGLE)


@pytest.mark.parametrize("name", QUERIES)
def test_ect_is_that_of_wefe(name, query, expected):
    x, y, *attributes = query(name)
    peer = expected("wefe_glove50.json")["metrics"][name]
    for key, a in zip(attribute_keys(name), attributes, strict=True):
        for end, unit_length in (("", False), ("_unit", True)):
            value = drawless(ect, x, y, a, unit_length=unit_length).value
            assert value == pytest.approx(peer[f"ECT[{key}]{end}"], abs=SINGLE)


@pytest.mark.parametrize("name", QUERIES)
def test_ripa_of_the_words_that_wefe_paired_is_that_of_wefe(name, query, expected):
    """WEFE pairs known words by position: 24 flowers with the first 24 of 25 insects."""
    x, y, *attributes = query(name)
    y = y[: len(x)]
    peer = expected("wefe_glove50.json")["metrics"][name]
    for key, a in zip(attribute_keys(name), attributes, strict=True):
        for end, unit_length in (("", False), ("_unit", True)):
            value = drawless(ripa, x, y, a, unit_length=unit_length).value
            assert value == pytest.approx(peer[f"RIPA[{key}]{end}"], abs=SINGLE)


@pytest.mark.parametrize("name", QUERIES)
def test_rnsb_learnt_from_all_words_is_that_of_wefe(name, query, expected):
    """Both fit with liblinear, which stops at a gradient of 1e-4, at the same point."""
    peer = expected("wefe_glove50.json")["metrics"][name]["RNSB_rs42_noholdout"]
    assert published_rnsb(*query(name)).value == pytest.approx(peer, abs=SINGLE)


@pytest.mark.parametrize("name", ["T_career_family", "W1_flowers_insects", "W10_young_old"])
def test_repeated_rnsb_has_the_mean_and_spread_of_unseeded_runs_of_wefe(name, query, expected):
    mean, sd = expected("wefe_glove50.json")["metrics"][name]["RNSB_unseeded_30runs_mean_sd"]
    score = published_rnsb(*query(name), holdout=0.2, repeats=30)
    assert score.value == pytest.approx(mean, abs=4 * sd * np.sqrt(2 / 30))
    assert 0.5 < score.details["sd"] / sd < 2
