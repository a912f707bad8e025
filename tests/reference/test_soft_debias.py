"""Soft debiasing of GloVe 6B 50d by its closed form, against measured values.

The values were measured on the 27,000 most frequent words of the letters a to z. Professions on the
full list of gender-specific words are left out.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.concept import Concept
from harness.embedder import vocabulary_of
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.soft_debias import SoftDebias

MEASURED = 2e-3
LAMBDAS = ("0.2", "1", "10", "100", "1000", "10000", "1e+06")


@pytest.fixture(scope="module")
def head(glove_50d):
    return vocabulary_of(glove_50d).head(30_000)


@pytest.fixture(scope="module")
def model(head):
    words, vectors = head
    kept = [i for i, word in enumerate(words) if re.fullmatch("[a-z]{1,19}", word)][:27_000]
    return WordVectors.of([words[i] for i in kept], vectors[kept])


@pytest.fixture(scope="module")
def gender(debiaswe) -> Concept:
    return Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, debiaswe("definitional_pairs"))),
        specific_words=tuple(debiaswe("gender_specific_full")),
    )


@pytest.fixture(scope="module")
def neutral(debiaswe, gender, glove_50d):
    """Return the professions that are not about gender, and their vectors."""
    words = [row[0] for row in debiaswe("professions") if row[0] not in gender.specific_words]
    vectors = glove_50d.encode(words)
    known = np.isfinite(vectors).all(axis=1)
    return [word for word, is_known in zip(words, known, strict=True) if is_known], vectors[known]


def fitted(key, model, gender) -> SoftDebias:
    scale, lam = key.split(" lam=")
    return SoftDebias(lam=float(lam), scale=scale, subspace="unit-differences").fit(model, gender)


def direction_learnt_anew(model, mitigator, gender) -> np.ndarray:
    """Return the direction of the debiased definitional pairs."""
    words = [word for pair in gender.definitional_pairs for word in pair]
    debiased = WordVectors.of(words, mitigator.transform(model.encode(words), words))
    return HardDebias(subspace="unit-differences").fit(debiased, gender).subspace_[0]


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("scale", ["sum", "mean"])
def test_the_remaining_bias_and_the_objective_are_as_measured(
    scale, lam, model, gender, neutral, expected
):
    figures = expected("bolukbasi_words.json")["soft"]["glove50"]
    key = f"{scale} lam={lam}"
    mitigator = fitted(key, model, gender)
    words, vectors = neutral
    g = mitigator.subspace_[0]
    before = np.abs(unit_rows(vectors) @ g).mean()
    assert before == pytest.approx(figures["before"]["direct"], abs=MEASURED)
    after = mitigator.transform(vectors, words)
    mapped = unit_rows((mitigator.transform_ @ g)[None])[0]
    directions = {
        "direct_same_g": g,
        "direct_own_g": direction_learnt_anew(model, mitigator, gender),
        "proj_TB": mapped,
    }
    for name, direction in directions.items():
        direct_bias = np.abs(after @ direction).mean()
        assert direct_bias == pytest.approx(figures[key][name], abs=MEASURED), name
    assert mitigator.objective_ == pytest.approx(figures[key]["obj"], rel=MEASURED)
    assert mitigator.smallest_eigenvalue_ == pytest.approx(figures[key]["min_eig"], abs=MEASURED)
    assert mitigator.smallest_eigenvalue_ > 0  # then the closed form is the optimum


def test_the_lambda_of_the_paper_has_an_effect_on_means_but_not_on_sums(
    model, gender, neutral, expected
):
    figures = expected("bolukbasi_words.json")["soft"]["glove50"]
    words, vectors = neutral
    left = {}
    for scale in ("sum", "mean"):
        mitigator = fitted(f"{scale} lam=0.2", model, gender)
        after = mitigator.transform(vectors, words)
        left[scale] = np.abs(after @ mitigator.subspace_[0]).mean()
    assert left["sum"] == pytest.approx(figures["before"]["direct"], abs=1e-4)  # .1591
    assert left["mean"] == pytest.approx(0.048, abs=MEASURED)
