"""Faults of WEFE 1.0.1: where it differs from the papers, with its value and the right one.

Here: p-values sampled with replacement, RNSB without a seed, and RAN with an anchor that moves.
`test_wefe_after.py` has lengths after equalising and the targets of double-hard debiasing;
`test_wefe_metrics.py` has the shifted pairs of RIPA.
"""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from harness import folders
from harness.arrays import unit_rows
from harness.concept import Concept
from harness.embedder import vocabulary_of
from harness.plugins.embedders.vectors.glove import PACKAGE
from harness.plugins.metrics.mac import mac
from harness.plugins.metrics.rnsb import rnsb
from harness.plugins.metrics.weat import weat
from harness.plugins.mitigators.fitting.neighbours import nearest
from harness.plugins.mitigators.ran import Ran, indirect_bias

EXACT = {
    "T_career_family": ("male_terms", "female_terms", "career", "family"),
    "T_math_arts": ("male_terms", "female_terms", "math", "arts"),
    "T_pleasant9": ("male_terms", "female_terms", "pleasant_9", "unpleasant_9"),
    "W6_names_career_family": ("male_names", "female_names", "career", "family"),
    "W7_math_arts_gender": ("math", "arts", "male_terms", "female_terms"),
    "W10_young_old": ("young_people_names", "old_people_names", "pleasant_9", "unpleasant_9"),
}
SAMPLED = {
    "W2_instruments_weapons": ("instruments", "weapons", "pleasant_5", "unpleasant_5a"),
    "W4_ea_aa_names7_pl5": (
        "european_american_names_7",
        "african_american_names_7",
        "pleasant_5",
        "unpleasant_5b",
    ),
}
DRAWS = 100_000
MOVED = ("T_career_family", "T_math_arts", "W6_names_career_family")


@pytest.fixture(scope="module")
def sets(data_folder):
    return json.loads((data_folder / "wefe_WEAT.json").read_text("utf-8"))


def known_rows(glove, words):
    rows = glove(words)
    return rows[np.isfinite(rows).all(axis=1)]


def drawn(arrays, **options):
    rng = np.random.default_rng(0)
    return weat(*arrays, sides="targets", resamples=0, rng=rng, **options)["effect_size"]


@pytest.mark.parametrize("query", EXACT)
def test_p_values_count_partitions_but_wefe_draws_words_with_replacement(
    query, sets, glove, expected
):
    peer = expected("wefe_glove50.json")["weat_p"][query]
    arrays = [known_rows(glove, sets[name]) for name in EXACT[query]]
    x, y, a, b = (unit_rows(rows.astype(np.float64)) for rows in arrays)
    targets = np.vstack([x, y])
    s = (targets @ a.T).mean(axis=1) - (targets @ b.T).mean(axis=1)
    observed = s[:8].sum() - s[8:].sum()
    sides = np.array(list(itertools.combinations(range(16), 8)))
    exact = 2 * s[sides].sum(axis=1) - s.sum()
    assert np.mean(exact > observed + 1e-12) == pytest.approx(peer["p_right_strict"])
    score = drawn(arrays, alternative="greater")
    assert score.p_value == pytest.approx(np.mean(exact >= observed - 1e-12))
    two_sided = drawn(arrays, alternative="two-sided").p_value
    assert two_sided == pytest.approx(peer["p_two_ge"])
    # WEFE draws 16 of the 16 words with replacement.
    words = s[np.random.default_rng(0).integers(0, 16, (DRAWS, 16))]
    published = words[:, :8].sum(axis=1) - words[:, 8:].sum(axis=1)
    for values, key in (
        (published > observed, "p_with_replacement_right"),
        (np.abs(published) > observed, "p_wefe_rule_two"),
    ):
        error = np.sqrt(max(peer[key] * (1 - peer[key]), 1e-5) / DRAWS)
        assert values.mean() == pytest.approx(peer[key], abs=5 * error), key
    if observed < 0:
        assert peer["p_wefe_rule_two"] == 1.0
        assert two_sided < 0.05


@pytest.mark.parametrize(
    "query",
    ["T_math_arts", "T_pleasant9", "W6_names_career_family", "W7_math_arts_gender", *SAMPLED],
)
def test_repeated_rnsb_has_the_mean_and_spread_of_unseeded_runs_and_is_reproducible(
    query, sets, glove, expected
):
    mean, sd = expected("wefe_glove50.json")["metrics"][query]["RNSB_unseeded_30runs_mean_sd"]
    x, y, a, b = (known_rows(glove, sets[name]) for name in (EXACT | SAMPLED)[query])
    scores = [
        rnsb(x, a, b, targets_2=y, rng=np.random.default_rng(0))["divergence"] for _ in range(2)
    ]
    assert scores[0].value == scores[1].value
    assert scores[0].value == pytest.approx(mean, abs=4 * sd * np.sqrt(2 / 30))
    assert 0.5 < scores[0].details["sd"] / sd < 2


def test_weat_on_the_lexicon_of_hu_and_liu_is_that_of_wefe(sets, glove, data_folder, expected):
    lexicon = []
    for name in ("positive", "negative"):
        path = data_folder / f"{name}-words.txt"
        lines = path.read_text(encoding="latin-1").splitlines()
        words = dict.fromkeys(line for line in lines if line and not line.startswith(";"))
        lexicon.append(known_rows(glove, list(words)))
    terms = [known_rows(glove, sets[name]) for name in ("male_terms", "female_terms")]
    score = drawn([*terms, *lexicon], ddof=0, permutations=10)
    peer = expected("wefe_glove50.json")["metrics"]["bingliu"]["WEAT"]
    assert score.details["statistic"] == pytest.approx(peer, abs=1e-6)


@pytest.fixture(scope="module")
def moved(registry, sets, data_folder):
    """Return words, a mask of those that move, their vectors, and the vectors after each RAN.

    WEFE looks words up as written: capitalised names are not in the vocabulary and do not move.
    """
    if folders.of_package(PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    model = registry.embedder("glove-6b-50d")
    pairs, specific = (
        json.loads((data_folder / f"{name}.json").read_text("utf-8"))
        for name in ("definitional_pairs", "gender_specific_full")
    )
    gender = Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, pairs[:-1])),
        specific_words=tuple(specific),
    )
    ran = Ran().fit(model, gender)
    words = sorted({word for query in MOVED for name in EXACT[query] for word in sets[name]})
    moves = np.array([word == word.lower() and word not in specific for word in words])
    vectors = unit_rows(model.encode(words))
    near = nearest(vectors, vocabulary_of(model), 100)
    kept = indirect_bias(vectors, near, ran.direction_) > ran.theta
    variants = {}
    for name, weights, anchored in (
        ("published", (0.33, 0.33, 0.33), False),
        ("anchored", (0.33, 0.33, 0.33), True),
        ("weighted", (1 / 8, 6 / 8, 1 / 8), True),
    ):
        after = optimised(vectors, near.gathered(), kept, ran.direction_, weights, anchored)
        variants[name] = np.where(moves[:, None], after, vectors)
    variants["ours"] = ran.transform(vectors, words)
    return words, moves, vectors, variants


def optimised(vectors, near, kept, direction, weights, anchored):
    """Return the minimum of WEFE's objective, with a fixed anchor or, as published, a moving one.

    The published code swaps w and w_b: attraction is between two vectors that both move, and the
    vector that is only attracted is returned.
    """
    torch = pytest.importorskip("torch")

    start, g = (torch.tensor(v.astype(np.float32)) for v in (vectors, direction))
    near = torch.nn.functional.normalize(torch.tensor(np.asarray(near, np.float32)), dim=2)
    mask = torch.tensor(kept)
    sizes = mask.sum(dim=1).clamp(min=1)
    first, second = (torch.nn.Parameter(start.clone()) for _ in range(2))
    adam = torch.optim.Adam([first] if anchored else [first, second], lr=0.01)
    for _ in range(300):
        adam.zero_grad()
        unit = torch.nn.functional.normalize(first, dim=1)
        repulsion = ((near @ unit[:, :, None])[:, :, 0].abs() * mask).sum(dim=1) / sizes
        attraction = (torch.cosine_similarity(first, second) - 1).abs() / 2
        terms = (repulsion, attraction, (first @ g).abs())
        loss = sum(weight * term.sum() for weight, term in zip(weights, terms, strict=True))
        loss.backward()
        adam.step()
    return unit_rows((first if anchored else second).detach().numpy())


@pytest.mark.parametrize("query", MOVED)
def test_ran_with_a_moving_anchor_is_that_of_wefe(query, moved, sets, expected):
    """The tolerance is for Adam's last steps, which have a constant length near corners."""
    peer = expected("wefe_glove50.json")["after"]["RAN"][query]
    words, _, _, variants = moved
    rows = dict(zip(words, variants["published"], strict=True))
    x, y, a, b = (np.array([rows[word] for word in sets[name]]) for name in EXACT[query])
    none = {"resamples": 0, "rng": np.random.default_rng(0)}
    score = mac(targets_1=x, targets_2=y, attributes_1=a, attributes_2=b, **none)
    assert score.value == pytest.approx(peer["MAC"], abs=1e-3)
    effect = weat(x, y, a, b, ddof=0, permutations=10, **none)["effect_size"]
    assert effect.value == pytest.approx(peer["ES"], abs=1e-2)
    assert effect.details["statistic"] == pytest.approx(peer["WEAT"], abs=2e-2)


def test_words_move_less_with_a_fixed_anchor_and_least_with_the_weights_of_the_paper(moved):
    _, moves, vectors, variants = moved
    cosine = {
        name: float((after * vectors).sum(axis=1)[moves].mean()) for name, after in variants.items()
    }
    assert cosine["anchored"] - cosine["published"] == pytest.approx(0.08, abs=0.01)
    assert cosine["weighted"] == pytest.approx(0.98, abs=5e-3)
    assert cosine["ours"] == pytest.approx(0.98, abs=2e-2)
