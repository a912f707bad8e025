"""WEAT as an instrument: noise, planted bias, shuffled sides, single words, reversals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.weat import INPUTS, weat

SCORES = ("association", "effect_size")
seeds = st.integers(0, 2**32 - 1)


def run(arrays, **options):
    return weat(*arrays, **{"resamples": 0, "rng": np.random.default_rng(0)} | options)


def planted(amplitude, *, words=8, d=50, spread=0.02):
    """Return targets at ±amplitude (on average) along the direction of the attributes.

    The spread within a set is proportional to the amplitude, so that d stays what it is. All else
    is orthogonal to the direction.
    """
    g = np.eye(d)[0]
    steps = amplitude * (1 + spread * np.linspace(-1, 1, words))
    lengths = np.sqrt(1 - (0.1 * steps) ** 2)
    others = np.eye(d)[1 : 1 + 2 * words]
    x = 0.1 * steps[:, None] * g + lengths[:, None] * others[:words]
    y = -0.1 * steps[:, None] * g + lengths[:, None] * others[words:]
    return x, y, g[None], -g[None]


def test_the_effect_size_is_the_same_for_every_amplitude_and_the_association_is_not():
    found = {a: run(planted(a)) for a in (1.0, 0.1, 0.01)}
    effects = [scores["effect_size"].value for scores in found.values()]
    assert effects == pytest.approx([effects[0]] * 3)
    assert round(effects[0], 2) == 1.94
    largest = found[1.0]["association"].value
    for amplitude, scores in found.items():
        assert scores["association"].value == pytest.approx(amplitude * largest)


def test_noise_shows_its_floor_and_no_more():
    """d of noise is .4 on average, which looks like a small bias; the floor says so."""
    rng = np.random.default_rng(1)
    above = {name: [] for name in SCORES}
    for _ in range(200):
        scores = run([rng.standard_normal((8, 50)) for _ in range(4)], permutations=9)
        for name, values in above.items():
            score = scores[name]
            values.append(abs(score.value) - np.abs(score.null.values).mean())
    floor = np.abs(scores["effect_size"].null.values).mean()
    assert floor == pytest.approx(0.4, abs=0.05)
    for name, values in above.items():
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values)) < 3 * error, name


def test_the_null_moves_whole_words_as_the_permutation_test_does():
    rng = np.random.default_rng(2)
    words = [rng.standard_normal((n, 20)) for n in (6, 6, 5, 5)]
    many = [np.repeat(array, 8, axis=0) for array in words]
    codes = {name: np.repeat(np.arange(len(w)), 8) for name, w in zip(INPUTS, words, strict=True)}

    def floor(scores):
        return np.abs(scores["association"].null.values).mean()

    of_words = floor(run(words))
    assert floor(run(many, clusters=codes)) == pytest.approx(of_words, rel=0.15)
    assert floor(run(many, clusters=codes, permute="items")) < 0.6 * of_words


def test_planted_bias_raises_the_association_at_every_step():
    rng = np.random.default_rng(3)
    x, y, a, b = (rng.standard_normal((8, 50)) for _ in range(4))
    g = np.eye(50)[0]
    a, b = a + 4 * g, b - 4 * g
    values = [
        run([x + step * g, y - step * g, a, b])["association"].value
        for step in (0, 0.25, 0.5, 1, 2, 4)
    ]
    assert values == sorted(values)
    assert values[-1] > 5 * abs(values[0])


def test_the_unit_shrinks_with_the_cosines_of_an_anisotropic_model():
    rng = np.random.default_rng(4)
    arrays = [rng.standard_normal((8, 50)) for _ in range(4)]
    arrays[0], arrays[2] = arrays[0] + 1, arrays[2] + 1
    shifted = [array + 10 * np.eye(50)[0] for array in arrays]  # all cosines are near .67
    plain, narrow = (run(a)["association"] for a in (arrays, shifted))
    assert narrow.value < 0.7 * plain.value
    assert narrow.value / narrow.unit == pytest.approx(plain.value / plain.unit, rel=0.35)


@pytest.mark.parametrize("score", SCORES)
@given(seeds)
def test_the_range_without_one_word_is_that_of_leaving_it_out(score, seed):
    rng = np.random.default_rng(seed)
    sizes = (4, 3, 3, 2)
    arrays = [rng.standard_normal((2 * n, 6)) for n in sizes]
    codes = {name: np.repeat(np.arange(n), 2) for name, n in zip(INPUTS, sizes, strict=True)}
    texts = {name: [f"{name} {i}" for i in range(len(rows))] for name, rows in codes.items()}
    options = {"clusters": codes, "texts": texts, "permutations": 5, "exact_limit": 0}
    assert run(arrays, **options)[score].details["without_one"] == {}, "resamples is 0"
    found = run(arrays, **options, resamples=100)[score]
    values = {}
    for i, (name, n) in enumerate(zip(INPUTS, sizes, strict=True)):
        for word in range(n):
            left = list(arrays)
            left[i] = arrays[i][codes[name] != word]
            value = run(left, permutations=5, exact_limit=0)[score].value
            values[f"{name} {2 * word}"] = value
    low, high = min(values, key=values.get), max(values, key=values.get)
    without = found.details["without_one"]
    assert without["low"] == pytest.approx(values[low])
    assert without["high"] == pytest.approx(values[high])
    assert (without["low_text"], without["high_text"]) == (low, high)
    assert without["changes_sign"] == any(found.value * value < 0 for value in values.values())


def test_one_word_that_carries_the_association_turns_its_sign():
    x = [[1.0, 0.0], [-0.1, 1.0], [-0.1, 1.0]]
    arrays = [np.array(rows) for rows in (x, [[0.0, 1.0]] * 3, [[1.0, 0.0]], [[-1.0, 0.0]])]
    texts = dict(zip(INPUTS, [["Amy", "Bea", "Cat"], ["d"] * 3, ["e"], ["f"]], strict=True))
    without = run(arrays, texts=texts, resamples=100)["association"].details["without_one"]
    assert without["low_text"] == "Amy"
    assert without["low"] < 0 < without["high"]
    assert without["changes_sign"]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_significant_association_against_the_expected_side_is_reversed(alternative):
    x, y, a, b = planted(1.0)
    a, b = np.vstack([a + 0.1 * row for row in x[:5]]), np.vstack([b + 0.1 * row for row in y[:5]])
    for arrays, is_reversed in (((x, y, a, b), False), ((y, x, a, b), True)):
        for score in run(arrays, alternative=alternative).values():
            assert score.details["reversed"] is is_reversed
    for score in run((y, x, a[:1], b[:1]), alternative=alternative).values():
        assert not score.details["reversed"], "two attribute words show nothing of others"


def test_an_association_against_the_expected_side_by_chance_is_not_reversed():
    rng = np.random.default_rng(5)
    reversals = {"targets": [], "both": []}
    for _ in range(400):
        arrays = [rng.standard_normal((5, 20)) for _ in range(4)]
        for sides, found in reversals.items():
            found.append(run(arrays, sides=sides)["association"].details["reversed"])
    assert np.mean(reversals["targets"]) == pytest.approx(0.025, abs=0.02)
    assert np.mean(reversals["both"]) <= 0.02
