"""MAC, RND, RIPA, ECT and RNSB on GloVe 6B 50d against WEFE 1.0.1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from sklearn.model_selection import train_test_split

from harness.plugins.metrics.ect import ect
from harness.plugins.metrics.mac import mac
from harness.plugins.metrics.ripa import ripa
from harness.plugins.metrics.rnd import rnd
from harness.plugins.metrics.rnsb import rnsb

QUERIES = yaml.safe_load(Path(__file__).with_name("wefe_queries.yaml").read_text(encoding="utf-8"))
AFTER = ("T_career_family", "T_math_arts", "W6_names_career_family")
SINGLE = 1e-6  # WEFE computes in single precision
Sets = list[np.ndarray]


@pytest.fixture(scope="module")
def word_sets(data_folder) -> dict[str, list[str]]:
    return json.loads((data_folder / "wefe_WEAT.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def query(word_sets, glove) -> Callable[[str], Sets]:
    """Return a function that gives the vectors of the known words of a query's four sets."""

    def look_up(name):
        return [_found(glove, word_sets[key]) for key in QUERIES[name]]

    return look_up


@pytest.fixture(scope="module")
def lexicon(data_folder, glove) -> Sets:
    """Return the vectors of the positive and the negative words of Hu and Liu (2004)."""
    sides = []
    for name in ("positive", "negative"):
        path = data_folder / f"{name}-words.txt"
        lines = path.read_text(encoding="latin-1").splitlines()
        # WEFE removes duplicates from a set.
        words = dict.fromkeys(line for line in lines if line and not line.startswith(";"))
        sides.append(_found(glove, list(words)))
    return sides


def _found(glove, words):
    rows = glove(words)
    return rows[np.isfinite(rows).all(axis=1)]


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


def test_a_missing_flower_drops_its_insect_and_no_pair_shifts(word_sets, glove, expected):
    flowers, insects = (glove(word_sets[name]) for name in ("flowers", "insects"))
    pleasant = glove(word_sets["pleasant_5"])
    known = np.isfinite(flowers).all(axis=1)
    missing = list(known).index(False)
    assert missing < 24  # the insects after it are the ones that WEFE shifts
    aligned = drawless(ripa, flowers[known], insects[known], pleasant)
    assert aligned.n == 24
    shifted = expected("wefe_glove50.json")["metrics"]["W1_flowers_insects"]["RIPA[pleasant_5]"]
    assert abs(aligned.value - shifted) > 1e-3
    refused = drawless(ripa, flowers[known], insects, pleasant)
    assert np.isnan(refused.value)
    assert "24" in refused.reason


@pytest.mark.parametrize("name", QUERIES)
def test_rnsb_learnt_from_all_words_is_that_of_wefe(name, query, expected):
    """Both fit with liblinear, which stops at a gradient of 1e-4, at the same point."""
    peer = expected("wefe_glove50.json")["metrics"][name]["RNSB_rs42_noholdout"]
    assert published_rnsb(*query(name)).value == pytest.approx(peer, abs=SINGLE)


@pytest.mark.parametrize("name", [*QUERIES, "bingliu"])
def test_rnsb_learnt_from_the_words_that_wefe_learnt_from_is_that_of_wefe(
    name, query, lexicon, expected
):
    peer = expected("wefe_glove50.json")["metrics"]
    if name == "bingliu":
        (x, y), (a, b) = query("T_career_family")[:2], lexicon
        value = peer["RNSB_bingliu"]["rs42_holdout"]
    else:
        x, y, a, b = query(name)
        value = peer[name]["RNSB_rs42_holdout"]
    learnt = _left_by_the_split_of_wefe(a, b)
    assert published_rnsb(x, y, *learnt).value == pytest.approx(value, abs=SINGLE)


def _left_by_the_split_of_wefe(a, b):
    labels = np.repeat([1, -1], [len(a), len(b)])
    options = {"test_size": 0.2, "random_state": 42, "shuffle": True, "stratify": labels}
    rows, _, labels, _ = train_test_split(np.vstack([a, b]), labels, **options)
    return rows[labels == 1], rows[labels == -1]


@pytest.mark.parametrize("name", ["T_career_family", "W1_flowers_insects", "W10_young_old"])
def test_repeated_rnsb_has_the_mean_and_spread_of_unseeded_runs_of_wefe(name, query, expected):
    mean, sd = expected("wefe_glove50.json")["metrics"][name]["RNSB_unseeded_30runs_mean_sd"]
    score = published_rnsb(*query(name), holdout=0.2, repeats=30)
    assert score.value == pytest.approx(mean, abs=4 * sd * np.sqrt(2 / 30))
    assert 0.5 < score.details["sd"] / sd < 2


def test_values_on_the_lexicon_of_hu_and_liu_are_those_of_wefe(query, lexicon, expected):
    peer = expected("wefe_glove50.json")["metrics"]
    x, y = query("T_career_family")[:2]
    sets = {"targets_1": x, "targets_2": y}
    a, b = lexicon
    value = published_rnsb(x, y, a, b).value
    assert value == pytest.approx(peer["RNSB_bingliu"]["rs42_noholdout"], abs=SINGLE)
    value = drawless(mac, **sets, attributes_1=a, attributes_2=b).value
    assert value == pytest.approx(peer["bingliu"]["MAC"], abs=SINGLE)
    for metric, key in ((rnd, "RND_pos"), (ripa, "RIPA_pos"), (ect, "ECT_pos")):
        value = drawless(metric, **sets, attributes=a).value
        assert value == pytest.approx(peer["bingliu"][key], abs=SINGLE)


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize(("row", "unit_length"), [("raw", False), ("unit", True)])
def test_values_of_the_table_of_mitigators_are_those_of_wefe(
    row, unit_length, name, query, expected
):
    peer = expected("wefe_glove50.json")["after"][row][name]
    x, y, a, b = query(name)
    options = {"unit_length": unit_length}
    value = drawless(mac, targets_1=x, targets_2=y, attributes_1=a, attributes_2=b).value
    assert value == pytest.approx(peer["MAC"], abs=SINGLE)
    value = published_rnsb(x, y, a, b, **options).value
    assert value == pytest.approx(peer["RNSB_rs42_noholdout"], abs=SINGLE)
    for key, attributes in zip(attribute_keys(name), (a, b), strict=True):
        for metric, short in ((rnd, "RND"), (ripa, "RIPA"), (ect, "ECT")):
            value = drawless(metric, x, y, attributes, **options).value
            assert value == pytest.approx(peer[f"{short}[{key}]"], abs=SINGLE)
