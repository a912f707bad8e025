"""Planted bias: the component in the concept's subspace grows, all else stays."""

from __future__ import annotations

import numpy as np
import pytest
from given_vectors import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.arrays import unit_rows
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.plugins.metrics.weat import weat
from harness.plugins.mitigators.amplify_bias import AmplifyBias
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.registry.registry import Registry

PAIRS = tuple((f"f{i}", f"m{i}") for i in range(6))
GENDER = Concept(name="gender", definitional_pairs=PAIRS)
NEUTRAL = [f"n{i}" for i in range(20)]


def vocabulary(seed: int, d: int = 8) -> Vocabulary:
    rng = np.random.default_rng(seed)
    words = [*(word for pair in PAIRS for word in pair), *NEUTRAL]
    return Vocabulary({word: rng.standard_normal(d) * rng.uniform(0.5, 3) for word in words})


def planted(embedder, words, **options) -> np.ndarray:
    mitigator = AmplifyBias(**options).fit(embedder, GENDER)
    return mitigator.transform(embedder.encode(words), words)


def test_one_pair_in_two_dimensions_equals_the_computation_by_hand():
    # The direction is the first axis: nurse is (.6, .8), then (1.2, .8) of length √2.08.
    embedder = Vocabulary({"she": [1, 1], "he": [-1, 1], "nurse": [3, 4]})
    concept = Concept(name="gender", definitional_pairs=(("she", "he"),))
    mitigator = AmplifyBias(strength=1).fit(embedder, concept)
    result = mitigator.transform(embedder.encode(["nurse", "he"]), ["nurse", "he"])
    expected = [[1.2 / 2.08**0.5, 0.8 / 2.08**0.5], [-2 / 5**0.5, 1 / 5**0.5]]
    assert result == pytest.approx(np.array(expected), abs=1e-6)
    by_length = AmplifyBias(strength=0.5, normalize=False).fit(embedder, concept)
    assert by_length.transform(embedder.encode(["nurse"]), ["nurse"])[0] == pytest.approx([4.5, 4])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 3))
def test_strength_0_changes_nothing_and_minus_1_neutralises(seed, normalize, k):
    embedder = vocabulary(seed)
    vectors = embedder.encode(NEUTRAL)
    options = {"normalize": normalize, "k": k}
    same = unit_rows(vectors) if normalize else vectors
    assert planted(embedder, NEUTRAL, strength=0, **options) == pytest.approx(same, abs=1e-5)
    hard = HardDebias(equalize=False, **options).fit(embedder, GENDER)
    without = planted(embedder, NEUTRAL, strength=-1, **options)
    assert without == pytest.approx(hard.transform(vectors, NEUTRAL), abs=1e-5)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(-1, 10), st.integers(1, 3))
def test_what_lies_outside_the_subspace_stays(seed, strength, k):
    embedder = vocabulary(seed)
    vectors = embedder.encode(NEUTRAL).astype(np.float64)
    mitigator = AmplifyBias(strength, k, normalize=False).fit(embedder, GENDER)
    change = mitigator.transform(vectors, NEUTRAL) - vectors
    inside = vectors @ mitigator.subspace_.T
    assert change @ mitigator.subspace_.T == pytest.approx(strength * inside, abs=1e-4)
    outside = change - (change @ mitigator.subspace_.T) @ mitigator.subspace_
    assert outside == pytest.approx(np.zeros_like(outside), abs=1e-4)


def test_on_noise_an_association_test_finds_no_more_than_by_chance():
    """The words of the fit are its attributes, and the targets have no bias to amplify."""
    p_values, distances = [], []
    for seed in range(200):
        embedder = vocabulary(seed, d=50)
        words = [*NEUTRAL[:8], *(word for pair in PAIRS for word in pair)]
        vectors = planted(embedder, words, strength=4)
        sides = (vectors[:4], vectors[4:8], vectors[8::2], vectors[9::2])
        scores = weat(*sides, resamples=0, rng=np.random.default_rng(seed))
        p_values.append(scores["association"].p_value)
        distances.append(scores["association"].value)
    # Of 200 draws at most 10 are expected, and more than 17 in 1 % of cases.
    assert (np.array(p_values) <= 0.05).sum() <= 17
    error = np.std(distances) / 200**0.5
    assert abs(np.mean(distances)) < 3 * error


@pytest.mark.parametrize("normalize", [True, False])
def test_the_map_does_the_same_and_leaves_nothing_out(normalize):
    embedder = MockEmbedder("text", 16)
    mitigator = AmplifyBias(2.0, normalize=normalize).fit(embedder, GENDER)
    vectors = embedder.encode(NEUTRAL)
    as_map = mitigator.as_map()
    assert as_map.apply(vectors) == pytest.approx(mitigator.transform(vectors, NEUTRAL), abs=1e-6)
    assert not as_map.omits


def test_controls_say_so_and_a_chain_with_one_is_a_control():
    controls = {name for name in Registry().mitigators if Registry().mitigator(name).control}
    assert controls == {"amplify-bias", "nuisance"}
    assert Registry().mitigator("normalize+amplify-bias").control
    assert not Registry().mitigator("none").control
