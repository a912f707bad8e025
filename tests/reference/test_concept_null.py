"""A concept's direction of pairs without a concept, and of pairs with another one, on real vectors.

Pairs of random words reach a high AUC, because g is the best of many components; the p-value with
shuffled sides knows that. Equation 3 compares with random directions, which no concept's is.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from harness import tasks
from harness.plugins.metrics.concept_direction import concept_direction, concept_plane

ANALOGIES = Path(tasks.__file__).parent / "analogies" / "data" / "google_questions-words.txt.gz"
TASKS = ("gender-occupations", "age-traits", "wealth-ethnicities")
PAIRS, SETS = 20, 75


@pytest.fixture(scope="module")
def relations():
    """Return the word pairs of the relations of Google's analogies, but for family."""
    pairs: dict[str, dict[tuple[str, str], None]] = {}
    for line in gzip.decompress(ANALOGIES.read_bytes()).decode().splitlines():
        if line.startswith(":"):
            relation = line[1:].strip()
        elif relation != "family":
            first, second, *_ = line.split()
            pairs.setdefault(relation, {})[first, second] = None
    return {relation: list(of_relation) for relation, of_relation in pairs.items()}


def attributes(task, registry, minilm):
    inputs = registry.task(task).scenarios[0].inputs
    return minilm(inputs["attributes"].texts), inputs["labels"].numbers


@pytest.fixture(scope="module")
def random_pairs(relations, registry, minilm):
    """Return the scores of sets of pairs of random words."""
    words = sorted({word for pairs in relations.values() for pair in pairs for word in pair})
    vectors, rng = minilm(words), np.random.default_rng(8)
    options = {"projections": 500, "resamples": 0, "rng": rng}
    occupations = attributes("gender-occupations", registry, minilm)
    return [
        concept_direction(*np.split(vectors[rows], 2), *occupations, **options)
        for rows in (rng.choice(len(words), 2 * PAIRS, replace=False) for _ in range(SETS))
    ]


def test_pairs_of_random_words_reach_an_auc_of_a_concept(random_pairs):
    aucs = [scores["auc"].value for scores in random_pairs]
    assert 0.15 <= np.mean(np.array(aucs) >= 0.8) <= 0.45


@pytest.mark.parametrize("name", ["auc", "correlation"])
def test_the_p_value_of_pairs_of_random_words_rejects_as_often_as_it_says(name, random_pairs):
    p_values = np.array([scores[name].p_value for scores in random_pairs])
    assert np.mean(p_values <= 0.05) <= 0.108  # 2.3 standard errors above
    assert np.mean(p_values <= 0.5) == pytest.approx(0.5, abs=0.14)  # 2.4 standard errors


def test_along_another_relation_the_isotropic_null_rejects_more_than_it_says(
    relations, registry, minilm
):
    rng = np.random.default_rng(9)
    rejected = {}
    for task in TASKS:
        p_values = []
        for pairs in relations.values():
            for _ in range(5):
                chosen = rng.choice(len(pairs), min(PAIRS, len(pairs)), replace=False)
                first, second = zip(*(pairs[i] for i in chosen), strict=True)
                scores = concept_direction(
                    minilm(first),
                    minilm(second),
                    *attributes(task, registry, minilm),
                    projections=1_000,
                    null_draws=0,
                    resamples=0,
                    rng=rng,
                )
                p_values.append(scores["correlation"].details["p_isotropic"])
        rejected[task] = np.mean(np.array(p_values) <= 0.05)
    assert rejected["age-traits"] == pytest.approx(0.09, abs=0.03), rejected
    assert rejected["gender-occupations"] < 0.05, rejected
    assert rejected["wealth-ethnicities"] < 0.08, rejected


@pytest.mark.parametrize(
    ("task", "aucs", "floors"),
    [
        ("gender-occupations", (1.0, 1.0), (0.71, 0.78)),
        ("age-traits", (0.986, 0.996), (0.71, 0.78)),
        ("wealth-ethnicities", (0.915, 0.959), (0.67, 0.73)),
    ],
)
def test_a_plane_raises_the_auc_by_less_than_its_floor(task, aucs, floors, registry, minilm):
    inputs = registry.task(task).scenarios[0].inputs
    arrays = [minilm(inputs[name].texts) for name in ("pairs_1", "pairs_2", "attributes")]
    options = {"projections": 0, "resamples": 0, "null_draws": 60}
    line, plane = (
        metric(*arrays, inputs["labels"].numbers, rng=np.random.default_rng(0), **options)["auc"]
        for metric in (concept_direction, concept_plane)
    )
    assert (line.value, plane.value) == pytest.approx(aucs, abs=2e-3)
    assert (line.details["floor"], plane.details["floor"]) == pytest.approx(floors, abs=0.02)
    gain = plane.value - line.value
    assert plane.details["floor"] - line.details["floor"] > gain
