"""Soft debiasing of GloVe 6B 50d and of en_core_web_md by its closed form.

The values were measured on the most frequent words of a to z, 27,000 in GloVe; professions on the
full list of gender-specific words are not among those that are judged. How much bias a λ of sums
leaves depends on the number of words, so that values for it are compared for GloVe alone.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.arrays import paired_cosines, unit_rows
from harness.concept import Concept
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.soft_debias import SoftDebias
from harness.vocabulary import vocabulary_of

TOLERANCE = 2e-3
SCALES = ("mean", "sum")


@pytest.fixture(scope="module")
def models(glove_50d, en_core_web_md):
    """Return GloVe's vocabulary of 27,000 words and en_core_web_md."""
    words, vectors = vocabulary_of(glove_50d).head(30_000)
    kept = [i for i, word in enumerate(words) if re.fullmatch("[a-z]{1,19}", word)][:27_000]
    glove = WordVectors.of([words[i] for i in kept], vectors[kept])
    return {"glove50": glove, "md300": en_core_web_md}


@pytest.fixture(scope="module")
def lists(debiaswe):
    names = ("definitional_pairs", "gender_specific_full", "professions")
    return {name: debiaswe(name) for name in names}


@pytest.fixture(scope="module")
def gender(lists) -> Concept:
    return Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, lists["definitional_pairs"])),
        specific_words=tuple(lists["gender_specific_full"]),
    )


@pytest.fixture(scope="module")
def professions(lists, gender) -> list[str]:
    return [row[0] for row in lists["professions"] if row[0] not in gender.specific_words]


def direct_bias(model, mitigator, words, direction) -> float:
    rows = mitigator.transform(model.encode(words), words)
    return float(np.nanmean(np.abs(rows @ direction)))


def own_direction(model, mitigator, gender) -> np.ndarray:
    """Return the direction learnt anew from debiased pairs."""
    words = [word for pair in gender.definitional_pairs for word in pair]
    rows = mitigator.transform(model.encode(words), words)
    debiased = WordVectors.of(words, rows)
    return HardDebias(subspace="unit-differences").fit(debiased, gender).subspace_[0]


@pytest.mark.parametrize("lam", [0.2, 1, 10, 100, 1000, 10000])
@pytest.mark.parametrize("scale", SCALES)
def test_glove_keeps_the_bias_that_was_measured(
    scale, lam, registry, models, gender, professions, expected
):
    wanted = expected("bolukbasi_words.json")["soft"]["glove50"][f"{scale} lam={lam}"]
    model, every = models["glove50"], registry.embedder("glove-6b-50d")
    mitigator = SoftDebias(lam=lam, scale=scale, subspace="unit-differences").fit(model, gender)
    same = direct_bias(every, mitigator, professions, mitigator.subspace_[0])
    own = direct_bias(every, mitigator, professions, own_direction(model, mitigator, gender))
    assert same == pytest.approx(wanted["direct_same_g"], abs=TOLERANCE)
    assert own == pytest.approx(wanted["direct_own_g"], abs=TOLERANCE)
    assert mitigator.smallest_eigenvalue_ == pytest.approx(wanted["min_eig"], abs=TOLERANCE)
    assert mitigator.objective_ == pytest.approx(wanted["obj"], rel=TOLERANCE)


@pytest.mark.parametrize("lam", [0.2, 1, 10])
def test_at_300_dimensions_a_lambda_of_means_leaves_the_bias_that_was_measured(
    lam, models, gender, professions, expected
):
    wanted = expected("bolukbasi_words.json")["soft"]["md300"][f"mean lam={lam}"]
    model = models["md300"]
    mitigator = SoftDebias(lam=lam, subspace="unit-differences").fit(model, gender)
    same = direct_bias(model, mitigator, professions, mitigator.subspace_[0])
    assert same == pytest.approx(wanted["direct_same_g"], abs=TOLERANCE)
    assert mitigator.smallest_eigenvalue_ > 0  # so that the closed form is the optimum


@pytest.mark.parametrize(("file", "key"), [("EN-RG-65", "RG"), ("EN-WS-353-ALL", "WS")])
@pytest.mark.parametrize("scale", SCALES)
def test_word_similarity_stays_as_measured(
    file, key, scale, registry, models, gender, data_folder, expected
):
    wanted = expected("bolukbasi_words.json")["soft"]["glove50"][f"{scale} lam=0.2"]
    mitigator = SoftDebias(scale=scale, subspace="unit-differences")
    mitigator.fit(models["glove50"], gender)
    text = (data_folder / "word_similarity" / f"{file}.txt").read_text("utf-8")
    rows = [line.split() for line in text.splitlines()]
    sides = []
    for side in (0, 1):
        words = [row[side] for row in rows]
        vectors = registry.embedder("glove-6b-50d").encode(words)
        sides.append(unit_rows(mitigator.transform(vectors, words)))
    found = spearmanr(paired_cosines(*sides), [float(row[2]) for row in rows]).statistic
    assert found == pytest.approx(wanted[key], abs=TOLERANCE)
