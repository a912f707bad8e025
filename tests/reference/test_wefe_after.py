"""All metrics of the table of mitigators of WEFE 1.0.1, on GloVe 6B 50d."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.concept import Concept
from harness.plugins.metrics.ect import ect
from harness.plugins.metrics.mac import mac
from harness.plugins.metrics.ripa import ripa
from harness.plugins.metrics.rnd import rnd
from harness.plugins.metrics.rnsb import rnsb
from harness.plugins.metrics.weat import weat
from harness.plugins.mitigators.half_sibling_regression import HalfSiblingRegression
from harness.plugins.mitigators.hard_debias import HardDebias

QUERIES = {
    "T_career_family": ("male_terms", "female_terms", "career", "family"),
    "T_math_arts": ("male_terms", "female_terms", "math", "arts"),
    "W6_names_career_family": ("male_names", "female_names", "career", "family"),
}
ROUNDED = 3e-6  # sums of 8 float32 cosines
LISTS = ("definitional_pairs", "equalize_pairs", "gender_specific_full")


@pytest.fixture(scope="module")
def model(glove_50d):
    return glove_50d


@pytest.fixture(scope="module")
def sets(data_folder):
    return json.loads((data_folder / "wefe_WEAT.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def lists(debiaswe):
    return {name: debiaswe(name) for name in LISTS}


@pytest.fixture(scope="module")
def peer(expected):
    return expected("wefe_glove50.json")["after"]


def gender(lists, equalize):
    return Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, lists["definitional_pairs"][:-1])),  # in lower case
        equalize_sets=tuple(map(tuple, lists[equalize])),
        specific_words=tuple(lists["gender_specific_full"]),
    )


def measured(query, arrays):
    x, y, a, b = arrays
    rng = {"rng": np.random.default_rng(0)}
    no_draws = {"resamples": 0} | rng
    effect = weat(x, y, a, b, ddof=0, permutations=10, **no_draws)["effect_size"]
    sides = {"targets_1": x, "targets_2": y}
    values = {
        "WEAT": effect.details["statistic"],
        "ES": effect.value,
        "MAC": mac(**sides, attributes_1=a, attributes_2=b, **no_draws).value,
        "RNSB_rs42_noholdout": rnsb(x, a, b, y, holdout=0, **rng)["divergence"].value,
    }
    for name, attributes in zip(QUERIES[query][2:], (a, b), strict=True):
        for metric, short in ((rnd, "RND"), (ripa, "RIPA"), (ect, "ECT")):
            values[f"{short}[{name}]"] = metric(x, y, attributes, **no_draws).value
    return values


def transformed(query, mitigator, model, sets, changed=(0, 1, 2, 3)):
    words_of_sets = [sets[name] for name in QUERIES[query]]
    return [
        mitigator.transform(model.encode(words), words) if i in changed else model.encode(words)
        for i, words in enumerate(words_of_sets)
    ]


@pytest.mark.parametrize("query", QUERIES)
def test_all_metrics_after_hard_debiasing_are_those_of_wefe(query, model, sets, lists, peer):
    mitigator = HardDebias().fit(model, gender(lists, "equalize_pairs"))
    arrays = transformed(query, mitigator, model, sets)
    assert np.linalg.norm(np.vstack(arrays), axis=1) == pytest.approx(1.0, abs=1e-6)
    assert measured(query, arrays) == pytest.approx(peer["HD"][query], abs=ROUNDED)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(("key", "changed"), [("HSR", (0, 1, 2, 3)), ("HSR_target", (2, 3))])
def test_all_metrics_after_half_sibling_regression_are_those_of_wefe(
    key, changed, query, model, sets, lists, peer
):
    words = [word for word in lists["gender_specific_full"] if word == word.lower()]
    known = np.isfinite(model.encode(words)).all(axis=1)
    specific = tuple(word for word, is_known in zip(words, known, strict=True) if is_known)
    mitigator = HalfSiblingRegression().fit(model, Concept(name="gender", specific_words=specific))
    values = measured(query, transformed(query, mitigator, model, sets, changed))
    assert values == pytest.approx(peer[key][query], abs=ROUNDED)
