"""Gaps between paired texts: by hand, by brute force, under noise and on shuffled sides."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from harness.plugins.metrics.statistics.choice_gaps import (
    choice_gap,
    name_gap,
    perturbation_gap,
    preference_gap,
)
from harness.results.ratios import ratio_of

N, D = 48, 384
NAMES = [f"row {i}" for i in range(N)]
TERMS = np.repeat(np.arange(12.0), 4)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def paired(rng, bias=0.3):
    """Return contexts, and two texts that share something with their own, the first one more."""
    c = rng.standard_normal((N, D)) + rng.standard_normal(D)
    share = rng.uniform(0.4, 1.2, (N, 1))
    s, a = ((share + sign * bias) * c + rng.standard_normal((N, D)) for sign in (1, -1))
    return c, s, a


def others(rng):
    return rng.standard_normal((N, D))


def choices(rng, bias=0.3):
    c, s, a = paired(rng, bias)
    return {"contexts": c, "stereotyped": s, "anti_stereotyped": a, "unrelated": others(rng)}


def with_background(rng, bias=0.3):
    arrays = choices(rng, bias)
    return in_front_of(arrays | {"background": others(rng)}, arrays.pop("unrelated"))


def in_front_of(arrays, texts):
    """Return choices with a background that they are part of, and its texts."""
    c, s, a = (arrays[name] for name in ("contexts", "stereotyped", "anti_stereotyped"))
    background = np.vstack([arrays["background"][:N], c])
    return {
        "contexts": c,
        "stereotyped": s,
        "anti_stereotyped": a,
        "background": background,
        "background_texts": np.vstack([texts[:N], s, a]),
    }


def centred(rng, bias=0.3):
    arrays = choices(rng, bias)
    del arrays["unrelated"]
    return arrays


def versions(rng, bias=0.3):
    c, s, a = paired(rng, bias)
    return {"queries": c, "versions_1": s, "versions_2": a}


def triplets(rng):
    c, s, _ = paired(rng)
    return {
        "queries": c,
        "positives": s,
        "negatives": rng.uniform(0, 1.5, (N, 1)) * c + others(rng),
    }


def perturbed(rng):
    plots = np.repeat(rng.standard_normal((12, D)), 4, axis=0)
    return {"perturbed": plots + 0.4 * rng.standard_normal((N, D)), "texts_of": TERMS}


FORMS = {
    "unrelated": (choice_gap, choices),
    "background": (choice_gap, with_background),
    "centred": (choice_gap, centred),
    "versions": (preference_gap, versions),
    "triplets": (name_gap, triplets),
    "leanings": (partial(preference_gap, two_sided=True), versions),
}
OWN = ("unrelated", "background", "versions", "triplets", "leanings")
"""The forms with a yardstick of the same items."""
SIDES = ("stereotyped", "anti_stereotyped", "versions_1", "versions_2")
MEANS = pytest.mark.parametrize("form", [form for form in FORMS if form != "leanings"])
"""The forms whose gap is no square."""


def units_of(arrays):
    return {name: NAMES[: len(array)] for name, array in arrays.items()}


def of(form, arrays, **more):
    return FORMS[form][0](**arrays, units=units_of(arrays), **more)


def test_a_choice_by_hand():
    # cosines of the contexts with s: 1, 0, 1; with a: 0, 1, 0; with u: 0, 0, 1
    e = np.eye(3)
    c, s, a, u = e[[0, 1, 2]], e[[0, 0, 2]], e[[1, 1, 0]], e[[2, 2, 2]]
    units = {"contexts": ["a", "b", "c"]}
    gaps = choice_gap(c, s, a, unrelated=u, units=units)
    assert gaps.gap.value == pytest.approx((1 - 1 + 1) / 3)
    assert gaps.yardstick.value == pytest.approx((1 / 2 + 1 / 2 + 1 / 2) / 3 - 1 / 3)
    # without each: 0, 1, 0, so that the jackknife's variance is 2/3 · (1/9 + 4/9 + 1/9)
    assert gaps.gap.variance == pytest.approx(4 / 9)
    # own words: 1/2 each; all words: (1/2 + 1/3 + 1/6) / 3
    gaps = choice_gap(c, s, a, background=c, background_texts=np.vstack([s, a]), units=units)
    assert gaps.gap.value == pytest.approx(1 / 3 - (s - a).mean(axis=0) @ c.mean(axis=0))
    assert gaps.yardstick.value == pytest.approx(1 / 2 - 1 / 3)


def test_a_leaning_by_hand():
    # differences of cosines: 1, -1, 1; products of two of them: -1, 1, -1
    e = np.eye(3)
    c, v, w = e, e[[0, 0, 2]], e[[1, 1, 0]]
    units = {"queries": ["a", "b", "c"]}
    gaps, of_mean = (
        preference_gap(c, v, w, two_sided=two_sided, units=units) for two_sided in (True, False)
    )
    assert gaps.gap.value == pytest.approx(-1 / 3)
    # without each: -1, 1, -1
    assert list(gaps.gap.deviations.values())[:3] == pytest.approx(
        (np.array([-2, 4, -2]) / 3 * np.sqrt(2 / 3)).tolist()
    )
    assert gaps.gap.power == gaps.yardstick.power == 2
    assert gaps.yardstick.value == pytest.approx(of_mean.yardstick.value**2)
    assert gaps.yardstick.variance == pytest.approx(
        4 * of_mean.yardstick.value**2 * of_mean.yardstick.variance
    )


def test_what_is_left_of_a_leaning_by_chance_is_within_its_error(rng):
    gaps = [of("leanings", versions(rng, bias=0)).gap for _ in range(200)]
    t = np.array([gap.value / gap.variance**0.5 for gap in gaps])
    assert (
        abs(np.mean([gap.value for gap in gaps])) < 3 * np.std([g.value for g in gaps]) / 200**0.5
    )
    assert np.mean(t > 2) < 0.05


def test_names_and_versions_by_hand():
    e = np.eye(3)
    units = {"queries": ["a", "b", "c"]}
    gaps = name_gap(e, e, e[[0, 1, 0]], units=units)
    assert gaps.gap.value == pytest.approx(2 / 3 - 1 / 6)
    assert gaps.yardstick.value == pytest.approx(1)
    gaps = preference_gap(e, e, e[[0, 2, 1]], units=units)
    assert gaps.gap.value == pytest.approx(2 / 3)
    assert gaps.yardstick.value == pytest.approx((1 + 1 / 2 + 1 / 2) / 3 - (1 / 2 + 1 / 2) / 6)


def test_perturbations_by_hand():
    x = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1]])
    units = {"perturbed": list("abcdef")}
    gaps = perturbation_gap(x, np.array([0.0, 0, 1, 1, 2, 2]), units=units)
    assert gaps.gap.value == pytest.approx(1 - (1 + 1 + 0) / 3)
    assert gaps.yardstick.value == pytest.approx(1 - (0 + 2 / 4 + 2 / 4) / 3)


def check_jackknife(gaps, without):
    """Assert that the deviations are those of leaving out each unit, and calculating anew."""
    for name in ("gap", "yardstick"):
        gap = getattr(gaps, name)
        if gap is None:
            continue
        values = np.array([getattr(left, name).value for left in without])
        k = len(values)
        expected = (values - values.mean()) * np.sqrt((k - 1) / k)
        assert list(gap.deviations.values()) == pytest.approx(expected.tolist(), abs=1e-12)
        assert gap.variance == pytest.approx((k - 1) / k * ((values - values.mean()) ** 2).sum())


@MEANS
def test_the_deviations_are_those_of_leaving_out_each_row(form, rng):
    arrays = FORMS[form][1](rng)
    without = []
    for i in range(N):
        kept = {
            name: array if name.startswith("background") else np.delete(array, i, axis=0)
            for name, array in arrays.items()
        }
        without.append(of(form, kept))
    check_jackknife(of(form, arrays), without)


@pytest.mark.parametrize(
    ("form", "numbers"),
    [("unrelated", "terms"), ("background", "terms"), ("centred", "terms"), ("versions", "topics")],
)
def test_rows_of_a_term_or_a_topic_are_left_out_together(form, numbers, rng):
    arrays = FORMS[form][1](rng)
    of_unit = np.repeat(np.arange(6.0), [2, 6, 10, 4, 12, 14])
    gaps = of(form, arrays, **{numbers: of_unit})
    assert list(gaps.gap.deviations) == [NAMES[i] for i in (0, 2, 8, 18, 22, 34)]
    without = []
    for unit_ in range(6):
        kept = of_unit != unit_
        rows = {
            name: array if name.startswith("background") else array[kept]
            for name, array in arrays.items()
        }
        without.append(of(form, rows, **{numbers: of_unit[kept]}))
    check_jackknife(gaps, without)


def test_perturbations_of_a_text_are_left_out_together(rng):
    x = perturbed(rng)["perturbed"]
    texts_of = np.repeat(np.arange(7.0), [1, 2, 3, 8, 10, 12, 12])
    units = {"perturbed": NAMES}
    without = [
        perturbation_gap(x[texts_of != text], texts_of[texts_of != text], units=units)
        for text in range(7)
    ]
    check_jackknife(perturbation_gap(x, texts_of, units=units), without)


@pytest.mark.parametrize("form", OWN)
def test_a_scale_and_a_constant_coordinate_leave_the_ratio_as_it_is(form, rng):
    arrays = {name: unit(array) for name, array in FORMS[form][1](rng).items()}
    scaled = {name: 7 * array for name, array in arrays.items()}
    constant = {
        name: np.pad(array, ((0, 0), (0, 1)), constant_values=2.0) for name, array in arrays.items()
    }
    ratio = value_of(form, arrays)
    assert value_of(form, scaled) == pytest.approx(ratio)
    assert value_of(form, constant) == pytest.approx(ratio)


def value_of(form, arrays):
    gaps = of(form, arrays)
    return gaps.gap.value / gaps.yardstick.value


def noisy(arrays, rng):
    """Return the vectors of length 1 with noise of length 1."""
    return {
        name: unit(array) + unit(rng.standard_normal(array.shape)) for name, array in arrays.items()
    }


@pytest.mark.parametrize("form", OWN)
def test_noise_of_length_1_leaves_the_ratio_in_its_interval(form, rng):
    arrays = FORMS[form][1](rng)
    gaps = of(form, arrays)
    ratio = ratio_of(gaps.gap, gaps.yardstick, "items").value
    for _ in range(20):
        noised = noisy(arrays, rng)
        if form == "background":
            noised = in_front_of(noised, noised["background_texts"])
        gaps = of(form, noised)
        part = ratio_of(gaps.gap, gaps.yardstick, "items")
        assert part.low < ratio < part.high


def test_noise_is_a_sensitivity_to_names(rng):
    arrays = perturbed(rng)
    units = {"perturbed": NAMES}
    gaps = perturbation_gap(**arrays, units=units)
    for _ in range(20):
        x = noisy({"perturbed": arrays["perturbed"]}, rng)["perturbed"]
        noised = perturbation_gap(x, TERMS, units=units)
        ratio = noised.gap.value / noised.yardstick.value
        assert ratio > gaps.gap.value / gaps.yardstick.value


@pytest.mark.parametrize("form", ["unrelated", "background", "centred", "versions", "leanings"])
def test_a_gap_is_0_on_average_where_the_sides_are_shuffled(form, rng):
    arrays = FORMS[form][1](rng)
    first, second = [name for name in arrays if name in SIDES]
    t = []
    for _ in range(400):
        swapped = rng.random(N) < 0.5
        sides = {
            first: np.where(swapped[:, None], arrays[second], arrays[first]),
            second: np.where(swapped[:, None], arrays[first], arrays[second]),
        }
        gap = of(form, arrays | sides).gap
        t.append(gap.value / np.sqrt(gap.variance))
    assert abs(np.mean(t)) < 4 / np.sqrt(400)
    assert np.mean(np.abs(t) > 2) < 0.1
    plain = of(form, arrays).gap
    assert plain.value > 3 * np.sqrt(plain.variance)


def test_names_do_not_count_where_texts_with_the_same_names_are_shuffled(rng):
    arrays = triplets(rng)
    values = [
        of("triplets", arrays | {"negatives": rng.permuted(arrays["negatives"], axis=0)}).gap.value
        for _ in range(200)
    ]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(200)


def test_a_yardstick_needs_three_units(rng):
    arrays = {name: array[:8] for name, array in versions(rng).items()}
    units = dict.fromkeys(arrays, NAMES[:8])
    two = np.repeat([0.0, 1.0], 4)
    assert preference_gap(**arrays, topics=two, units=units).yardstick is None
    assert preference_gap(**arrays, topics=np.zeros(8), units=units).yardstick is None
    assert preference_gap(**arrays, units=units).yardstick is not None
    units = {"perturbed": NAMES[:8]}
    assert perturbation_gap(arrays["queries"], two, units=units).yardstick is None
    assert perturbation_gap(arrays["queries"], np.zeros(8), units=units).yardstick is None
