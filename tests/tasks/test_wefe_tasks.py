"""The queries of WEFE's rankings: their sizes, and pairs that stay pairs."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.registry.registry import Registry

GENDER, RELIGIONS = 20, 5


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture
def scenarios(registry):
    def find(name):
        return {scenario.name: scenario for scenario in registry.task(name).scenarios}

    return find


@pytest.mark.parametrize("metric", ["rnd", "ripa", "ect"])
@pytest.mark.parametrize(("category", "number"), [("gender", 11), ("religion", 6)])
def test_every_attribute_set_is_a_scenario_and_targets_are_rows_of_one_table(
    metric, category, number, scenarios
):
    by_name = scenarios(f"{metric}-{category}")
    assert sum("attributes_2" not in scenario.inputs for scenario in by_name.values()) == number
    for scenario in by_name.values():
        first, second = scenario.inputs["targets_1"], scenario.inputs["targets_2"]
        assert first.group == second.group
        assert len(first) == (GENDER if category == "gender" else RELIGIONS)


@pytest.mark.parametrize(
    ("name", "number"),
    [("rnd-gender", 6), ("ripa-gender", 6), ("rnd-ethnicity", 3), ("rnd-religion", 4),
     ("ripa-religion", 4)],
)  # fmt: skip
def test_the_primary_score_contrasts_two_attribute_sets(name, number, scenarios, registry):
    by_name = scenarios(name)
    contrasts = [key for key, item in by_name.items() if "attributes_2" in item.inputs]
    assert len(contrasts) == number
    assert registry.task(name).file.primary.scenario in contrasts


@pytest.mark.parametrize("category", ["gender", "ethnicity", "religion"])
def test_the_sentiment_classifier_learns_from_the_complete_lexicon(category, scenarios):
    inputs = scenarios(f"sentiment-{category}")["default"].inputs
    assert len(inputs["attributes_1"]) == 2006
    assert len(inputs["attributes_2"]) == 4783
    assert "naïve" in inputs["attributes_2"].texts


@pytest.fixture
def vectors(tmp_path, registry):
    """Return random vectors of the queries' words, and a function that writes some of them."""
    rng = np.random.default_rng(0)
    words = {
        word
        for metric in ("ripa", "mac")
        for scenario in registry.task(f"{metric}-gender").scenarios
        for item in scenario.inputs.values()
        for word in item.texts
    }
    known = {word: rng.uniform(0.5, 2) * rng.standard_normal(8) for word in sorted(words)}

    def write(without=()):
        lines = [
            " ".join([word, *(f"{x:.6f}" for x in row)])
            for word, row in known.items()
            if word not in without
        ]
        path = tmp_path / "vectors.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return f"vectors:{path}"

    return known, write


def test_a_missing_word_removes_its_whole_pair(vectors, tmp_path, registry):
    """If the other words of that side moved up instead, RIPA would differ."""
    known, write = vectors
    by_name = {scenario.name: scenario for scenario in registry.task("ripa-gender").scenarios}
    inputs = by_name["career"].inputs
    records = harness.evaluate(write(without={"hers"}), "ripa-gender", cache=tmp_path / "cache")
    record = next(record for record in records if record.scenario == "career")
    pairs = zip(inputs["targets_1"].texts, inputs["targets_2"].texts, strict=True)
    unit = {word: row / np.linalg.norm(row) for word, row in known.items()}
    differences = np.array([unit[x] - unit[y] for x, y in pairs if y != "hers"])
    directions = differences / np.linalg.norm(differences, axis=1, keepdims=True)
    attributes = np.array([unit[word] for word in inputs["attributes"].texts])
    assert record.n == GENDER - 1
    assert record.value == pytest.approx((directions @ attributes.T).mean(), abs=1e-5)


def test_normalising_vectors_changes_no_score(vectors, tmp_path):
    tasks = [f"{metric}-gender" for metric in ("rnd", "ripa", "ect", "mac", "rnsb")]
    records = harness.evaluate(vectors[1](), tasks, ["none", "normalize"], cache=tmp_path / "cache")
    values = {}
    for record in records:
        key = (record.task.name, record.scenario, record.score)
        values.setdefault(key, []).append(record.value)
    assert len(values) == 3 * 11 + 2 * 6 + 6 + 2 * 6  # of one set; of two; of two scores
    for key, (none, normalized) in values.items():
        assert normalized == pytest.approx(none, abs=1e-4), key
