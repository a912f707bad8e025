"""WEAT and hard debiasing on GloVe 6B 50d against WEFE 1.0.1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from harness.arrays import cosines
from harness.concept import Concept
from harness.mitigator import Mitigator
from harness.plugins.metrics.weat import weat
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.normalize import Normalize

QUERIES = yaml.safe_load(Path(__file__).with_name("wefe_queries.yaml").read_text(encoding="utf-8"))
AFTER = ("T_career_family", "T_math_arts", "W6_names_career_family")
ROUNDED = 3e-6  # sums of 8 float32 cosines


@pytest.fixture(scope="module")
def query(data_folder, glove) -> Callable[[str], list[tuple[list[str], np.ndarray]]]:
    """Return a query's four sets: the words found, and their vectors."""
    sets = json.loads((data_folder / "weat" / "wefe_WEAT.json").read_text(encoding="utf-8"))

    def look_up(name):
        found = []
        for key in QUERIES[name]:
            rows = glove(sets[key])
            there = np.isfinite(rows).all(axis=1)
            words = [word for word, is_there in zip(sets[key], there, strict=True) if is_there]
            found.append((words, rows[there]))
        return found

    return look_up


def run(arrays, **options):
    return weat(*arrays, **{"resamples": 0, "rng": np.random.default_rng(0)} | options)


@pytest.mark.parametrize("name", QUERIES)
def test_weat_and_its_effect_size_are_those_of_wefe(name, query, expected):
    peer = expected("wefe_glove50.json")
    sets = query(name)
    assert [len(words) for words, _ in sets] == peer["metrics"][name]["n_found"]
    arrays = [rows for _, rows in sets]
    score = run(arrays, ddof=0, permutations=10)
    assert score.value == pytest.approx(peer["metrics"][name]["WEAT_ES"], abs=1e-6)
    assert score.details["association"] == pytest.approx(peer["weat_p"][name]["weat"], abs=1e-9)
    n = len(arrays[0]) + len(arrays[1])
    sample = run(arrays, permutations=10).value
    assert sample == pytest.approx(score.value * np.sqrt((n - 1) / n))


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(
    ("alternative", "key"), [("greater", "p_right_ge"), ("two-sided", "p_two_ge")]
)
def test_p_values_are_those_of_counting_or_sampling_partitions(
    name, alternative, key, query, expected
):
    peer = expected("wefe_glove50.json")["weat_p"][name]
    score = run([rows for _, rows in query(name)], alternative=alternative)
    assert score.details["partitions"] == peer["n_partitions"]
    if peer["kind"] == "exact":
        assert score.details["p_kind"] == "exact"
        assert score.p_value == pytest.approx(peer[key], abs=1e-12)
    else:
        assert score.details["p_kind"] == "100000 permutations"
        error = np.sqrt(2 * peer[key] / 100_000)  # of the difference of two samples of 100,000
        assert score.p_value == pytest.approx(peer[key], abs=4 * error)


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("mitigator", ["unit", "HD", "HD_noeq"])
def test_mitigated_associations_are_those_of_wefe(
    mitigator, name, query, glove_as_written, debiaswe, expected
):
    peer = expected("wefe_glove50.json")["after"][mitigator][name]
    fitted = _fitted(mitigator, glove_as_written, debiaswe)
    x, y, a, b = (fitted.transform(rows, words) for words, rows in query(name))
    score = run((x, y, a, b), ddof=0, permutations=10)
    assert score.value == pytest.approx(peer["ES"], abs=ROUNDED)
    assert score.details["association"] == pytest.approx(peer["WEAT"], abs=ROUNDED)
    targets = np.vstack([x, y])
    distances = [1 - cosines(targets, attributes).mean() for attributes in (a, b)]
    assert np.mean(distances) == pytest.approx(peer["MAC"], abs=1e-6)
    assert np.linalg.norm(np.vstack([x, y, a, b]), axis=1) == pytest.approx(1.0, abs=1e-6)


def _fitted(mitigator: str, glove_as_written, debiaswe) -> Mitigator:
    """Return what WEFE had for a row of the table.

    It looks the definitional pairs up as they are, so Mary and John, not in this lower-case
    vocabulary, do not count for the direction. `HD_noeq` was given no equalize sets, whereupon
    WEFE equalises the definitional pairs.
    """
    if mitigator == "unit":
        return Normalize()
    pairs = debiaswe("definitional_pairs")
    equalize = debiaswe("equalize_pairs")
    assert pairs[-1] == ["Mary", "John"]
    concept = Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, pairs[:-1])),
        equalize_sets=tuple(map(tuple, equalize if mitigator == "HD" else pairs)),
        specific_words=tuple(debiaswe("gender_specific_full")),
    )
    return HardDebias().fit(glove_as_written, concept)
