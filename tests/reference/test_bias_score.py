"""The bias score of all-MiniLM-L6-v2 against the expected values.

The directions behind the expected scores were learnt from 125 sentences that were not published.
Importance does not depend on a direction, so it is compared to the last digit. Scores along our own
125 sentences may differ as much as another set of sentences changes them. One direction near ours
gives all expected scores, which shows that the equations and the three importances are the same.
"""

from __future__ import annotations

import csv

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.plugins.bias_score import gendered, scorer
from harness.plugins.bias_score.scorer import Scorer, direction, importance_shares

VARIANTS = {
    "max,g_max": ("max", "max"),
    "max,g_mean": ("max", "mean"),
    "mean_contrib,g_mean": ("mean-raw", "mean"),
    "uniform,g_mean": ("uniform", "mean"),
}


@pytest.fixture(scope="module")
def model(registry):
    return registry.embedder("all-MiniLM-L6-v2")


@pytest.fixture(scope="module")
def examples(expected):
    result = expected("minilm.json")["bias_score_examples"]
    return {text: values for text, values in result.items() if isinstance(values, dict)}


@pytest.fixture(scope="module")
def explained(expected):
    return expected("minilm.json")["gender_direction_explained"]


@pytest.fixture(scope="module")
def directions(model):
    pairs = scorer.shipped()
    return {how: scorer.of_sentences(model, pairs, how) for how in ("max", "mean")}


@pytest.fixture(scope="module")
def scored(model, examples, directions, registry):
    listed = gendered.of_concept(registry.concept("gender"))
    return {
        variant: Scorer(model, directions[g], importance=kind, gendered=listed).score([*examples])
        for variant, (kind, g) in VARIANTS.items()
    }


def test_importance_by_maximum_is_as_expected(scored, examples):
    for result, values in zip(scored["max,g_max"], examples.values(), strict=True):
        assert list(result.words) == [word for word, _ in values["importance"]]
        reference = [share for _, share in values["importance"]]
        assert result.score.importance == pytest.approx(reference, abs=6e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_along_our_own_sentences_are_near_the_expected_scores(variant, scored, examples):
    result = [[s.score.female, s.score.male, s.score.absolute] for s in scored[variant]]
    reference = [values[variant] for values in examples.values()]
    assert np.abs(np.subtract(result, reference)).max() < 0.03
    assert np.corrcoef(np.ravel(result), np.ravel(reference))[0, 1] > 0.98


def test_one_direction_near_ours_gives_every_expected_score(model, examples, directions, registry):
    listed = gendered.of_concept(registry.concept("gender"))
    texts = list(examples)
    terms, reference = [], []
    for text, tokens in zip(texts, model.token_states(texts), strict=True):
        neutral = ~listed.mask(text)[tokens.word_of[tokens.word_of >= 0]]
        units = unit_rows(tokens.states[tokens.word_of >= 0])
        for variant, (kind, g) in VARIANTS.items():
            if g == "mean":
                weights = importance_shares(tokens.states, tokens.word_of >= 0, kind)[
                    tokens.word_of >= 0
                ]
                terms.append((weights * neutral) @ units)
                reference.append(sum(examples[text][variant][:2]))
    ours = directions["mean"].vector
    # the smallest change of our direction that gives all 27 sums of F and M
    change = np.linalg.lstsq(np.array(terms), reference - np.array(terms) @ ours, rcond=1e-3)[0]
    theirs = ours + change
    assert np.array(terms) @ theirs == pytest.approx(reference, abs=2e-3)
    assert theirs @ ours / np.linalg.norm(theirs) > 0.98
    assert np.linalg.norm(theirs) == pytest.approx(1, abs=0.05)


@pytest.fixture(scope="module")
def crows_pairs(data_folder):
    """Return the CrowS-Pairs sentences with gendered words, and the same with genders swapped."""
    with (data_folder / "crows_pairs_anonymized.csv").open(encoding="utf-8") as f:
        texts = [row["sent_more"] for row in csv.DictReader(f)]
    return scorer.swapped(texts)


@pytest.fixture(scope="module")
def crows(crows_pairs, model):
    """Return 200 sentences about one gender and their swaps as unit vectors, and which gender."""
    chosen = [i for i, side in enumerate(crows_pairs.orientation) if side][:200]
    sides = (
        scorer.pooled(model, [texts[i] for i in chosen], "mean")
        for texts in (crows_pairs.first, crows_pairs.second)
    )
    return (*sides, crows_pairs.orientation[chosen])


def test_the_number_of_sentences_about_one_gender_is_as_expected(crows_pairs, explained):
    assert np.count_nonzero(crows_pairs.orientation) == explained["n_crows"]


def test_the_direction_of_swapped_sentences_explains_as_much_as_expected(crows, explained):
    result = direction(crows[0], crows[1], orientation=crows[2])
    # all 837 sentences explain .777, those behind the expected value .787; the paper .78 with SBERT
    assert result.explained == pytest.approx(explained["crows svd uncentred"], abs=0.03)


def test_two_halves_of_the_sentences_agree(crows, explained):
    halves = [direction(crows[0][i::2], crows[1][i::2], orientation=crows[2][i::2]) for i in (0, 1)]
    assert halves[0].vector @ halves[1].vector > 0.99
    assert explained["|cos| two halves of crows"] > 0.99


def test_the_two_poolings_agree_on_the_direction(directions, expected):
    reference = expected("minilm.json")["bias_score_examples"]["cos g_max,g_mean"]
    result = directions["max"].vector @ directions["mean"].vector
    assert result == pytest.approx(reference, abs=0.02)
