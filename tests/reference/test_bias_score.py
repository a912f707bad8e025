"""The bias score of all-MiniLM-L6-v2, beside the expected values.

The directions behind the expected scores are of 125 sentences that are not told. Importance hangs
on no direction and is held to its last digit; the scores along our own 125 sentences are held to
what another such set may change; and one direction near ours is shown to give all expected scores,
so that the equations and the three importances are theirs.
"""

from __future__ import annotations

import csv

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.plugins.bias_score import gendered, scorer, sentence_pairs, states
from harness.plugins.bias_score.direction import direction
from harness.plugins.bias_score.importance import by_maximum, shares
from harness.plugins.bias_score.scorer import Scorer

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
    found = expected("minilm.json")["bias_score_examples"]
    return {text: values for text, values in found.items() if isinstance(values, dict)}


@pytest.fixture(scope="module")
def explained(expected):
    return expected("minilm.json")["gender_direction_explained"]


@pytest.fixture(scope="module")
def directions(model):
    pairs = sentence_pairs.shipped()
    return {how: scorer.of_sentences(model, pairs, how) for how in ("max", "mean")}


@pytest.fixture(scope="module")
def scored(model, examples, directions, registry):
    listed = gendered.of_concept(registry.concept("gender"))
    return {
        variant: Scorer(model, directions[g], importance=kind, gendered=listed).score([*examples])
        for variant, (kind, g) in VARIANTS.items()
    }


def test_importance_by_maximum_is_as_expected(scored, examples):
    for found, values in zip(scored["max,g_max"], examples.values(), strict=True):
        assert list(found.words) == [word for word, _ in values["importance"]]
        wanted = [share for _, share in values["importance"]]
        assert found.score.importance == pytest.approx(wanted, abs=6e-4)


def test_special_tokens_take_as_much_as_expected(model, examples):
    for made, values in zip(model.token_states([*examples]), examples.values(), strict=True):
        special = by_maximum(made.states)[made.word_of < 0].sum()
        assert special == pytest.approx(values["special_share"], abs=6e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_along_our_own_sentences_are_near_the_expected(variant, scored, examples):
    found = [[s.score.female, s.score.male, s.score.absolute] for s in scored[variant]]
    wanted = [values[variant] for values in examples.values()]
    assert np.abs(np.subtract(found, wanted)).max() < 0.03
    assert np.corrcoef(np.ravel(found), np.ravel(wanted))[0, 1] > 0.98


def test_one_direction_near_ours_gives_every_expected_score(model, examples, directions, registry):
    listed = gendered.of_concept(registry.concept("gender"))
    texts = list(examples)
    terms, wanted = [], []
    for text, made in zip(texts, model.token_states(texts), strict=True):
        neutral = ~listed.mask(text)[made.word_of[made.word_of >= 0]]
        units = unit_rows(made.states[made.word_of >= 0])
        for variant, (kind, g) in VARIANTS.items():
            if g == "mean":
                weights = shares(made.states, made.word_of >= 0, kind)[made.word_of >= 0]
                terms.append((weights * neutral) @ units)
                wanted.append(sum(examples[text][variant][:2]))
    ours = directions["mean"].vector
    # the smallest change of ours that meets all 27 sums of F and M
    change = np.linalg.lstsq(np.array(terms), wanted - np.array(terms) @ ours, rcond=1e-3)[0]
    theirs = ours + change
    assert np.array(terms) @ theirs == pytest.approx(wanted, abs=2e-3)
    assert theirs @ ours / np.linalg.norm(theirs) > 0.98
    assert np.linalg.norm(theirs) == pytest.approx(1, abs=0.05)


def test_the_direction_of_ten_word_pairs_is_as_expected(model, registry, explained):
    pairs = registry.concept("gender").definitional_pairs
    found = scorer.of_words(model, pairs, "mean")
    assert found.explained == pytest.approx(explained["ev 10 word pairs"], abs=2e-3)
    assert found.pairs == 10


@pytest.fixture(scope="module")
def crows_pairs(data_folder):
    """Return the sentences of CrowS-Pairs that have gendered words, with the other gender."""
    with (data_folder / "crows_pairs" / "crows_pairs_anonymized.csv").open(encoding="utf-8") as f:
        texts = [row["sent_more"] for row in csv.DictReader(f)]
    return sentence_pairs.swapped(texts)


@pytest.fixture(scope="module")
def crows(crows_pairs, model):
    """Return 200 of them that are rather about one gender, both sides as unit vectors."""
    pairs = crows_pairs
    chosen = [i for i, side in enumerate(pairs.orientation) if side][:200]
    first, second = ([side[i] for i in chosen] for side in (pairs.first, pairs.second))
    sides = (states.pooled(model, texts, "mean") for texts in (first, second))
    return (*sides, pairs.orientation[chosen])


def test_as_many_sentences_are_about_one_gender_as_expected(crows_pairs, explained):
    assert np.count_nonzero(crows_pairs.orientation) == explained["n_crows"]


def test_the_direction_of_swapped_sentences_explains_what_is_expected(crows, explained):
    found = direction(crows[0], crows[1], orientation=crows[2])
    # all 837 of ours explain .777, those of the expected value .787; the paper .78 with SBERT
    assert found.explained == pytest.approx(explained["crows svd uncentred"], abs=0.03)


def test_centring_takes_the_concept_away(crows, explained):
    first, second, side = crows
    differences = side[:, None] * (first - second)
    centred = differences - differences.mean(axis=0)
    found = direction(centred, np.zeros_like(centred)).explained
    assert found == pytest.approx(explained["crows pca centred(oriented f-m)"], abs=0.05)


def test_two_halves_of_the_sentences_agree(crows, explained):
    halves = [direction(crows[0][i::2], crows[1][i::2], orientation=crows[2][i::2]) for i in (0, 1)]
    assert halves[0].vector @ halves[1].vector > 0.99
    assert explained["|cos| two halves of crows"] > 0.99


def test_our_sentences_and_swapped_ones_agree_on_the_direction(crows, directions, explained):
    found = direction(crows[0], crows[1], orientation=crows[2]).vector
    wanted = explained["|cos| crows,tmpl"]
    assert directions["mean"].vector @ found == pytest.approx(wanted, abs=0.03)
    assert directions["mean"].explained == pytest.approx(explained["tmpl svd"], abs=0.08)
    assert directions["mean"].pairs == explained["n_tmpl"]


def test_the_two_poolings_agree_on_the_direction(directions, expected):
    wanted = expected("minilm.json")["bias_score_examples"]["cos g_max,g_mean"]
    found = directions["max"].vector @ directions["mean"].vector
    assert found == pytest.approx(wanted, abs=0.02)
