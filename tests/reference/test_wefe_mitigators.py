"""Mitigators against WEFE 1.0.1 on GloVe 6B 50d, by all metrics, and settings that we refuse.

The default of WEFE's multiclass debiasing has no values to compare with: it takes ten components,
but the sets span only 7 (gender) or 8 (ethnicity). The others are rounding errors, which differ
between machines.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.concept import Concept
from harness.errors import NotApplicable
from harness.plugins.metrics.ect import ect
from harness.plugins.metrics.mac import mac
from harness.plugins.metrics.ripa import ripa
from harness.plugins.metrics.rnd import rnd
from harness.plugins.metrics.rnsb import rnsb
from harness.plugins.metrics.weat import weat
from harness.plugins.mitigators.half_sibling_regression import HalfSiblingRegression
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.multiclass_hard_debias import MulticlassHardDebias

QUERIES = {
    "T_career_family": ("male_terms", "female_terms", "career", "family"),
    "T_math_arts": ("male_terms", "female_terms", "math", "arts"),
    "W6_names_career_family": ("male_names", "female_names", "career", "family"),
}
# WEFE 1.0.1 with n_components=k, measured with the sets of Manzini et al.: WEAT, ES, MAC.
MULTICLASS = {
    ("gender", 7): {
        "T_career_family": (-0.1143477, -0.1657712, 0.5703218),
        "T_math_arts": (-0.0448355, -0.1462597, 0.7677291),
        "W6_names_career_family": (1.0315668, 1.0098525, 0.7434030),
    },
    ("race", 8): {
        "T_career_family": (0.9066344, 1.0332778, 0.5568419),
        "T_math_arts": (0.7530292, 1.1040791, 0.7934453),
        "W6_names_career_family": (2.6864266, 1.6283041, 0.7754284),
    },
}
ROUNDED = 3e-6  # sums of 8 float32 cosines


@pytest.fixture(scope="module")
def sets(data_folder):
    return json.loads((data_folder / "wefe_WEAT.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def peer(expected):
    return expected("wefe_glove50.json")["after"]


@pytest.fixture(scope="module")
def specific(debiaswe, glove_50d) -> tuple[str, ...]:
    """Return the 432 specific words that GloVe has as they are written, as WEFE looks them up."""
    words = [word for word in debiaswe("gender_specific_full") if word == word.lower()]
    known = np.isfinite(glove_50d.encode(words)).all(axis=1)
    return tuple(word for word, is_known in zip(words, known, strict=True) if is_known)


def measured(query, arrays):
    x, y, a, b = arrays
    rng = {"rng": np.random.default_rng(0)}
    no_draws = {"resamples": 0} | rng
    effect = weat(x, y, a, b, ddof=0, permutations=10, **no_draws)["effect_size"]
    sides = {"targets_1": x, "targets_2": y}
    values = {
        "WEAT": effect.details["statistic"],
        "ES": effect.value,
        "MAC": mac(**sides, attributes_1=a, attributes_2=b, **no_draws).value,
        "RNSB_rs42_noholdout": rnsb(x, a, b, y, holdout=0, **rng)["divergence"].value,
    }
    for name, attributes in zip(QUERIES[query][2:], (a, b), strict=True):
        for metric, short in ((rnd, "RND"), (ripa, "RIPA"), (ect, "ECT")):
            values[f"{short}[{name}]"] = metric(x, y, attributes, **no_draws).value
    return values


def transformed(query, mitigator, model, sets, changed=(0, 1, 2, 3)):
    words_of_sets = [sets[name] for name in QUERIES[query]]
    return [
        mitigator.transform(model.encode(words), words) if i in changed else model.encode(words)
        for i, words in enumerate(words_of_sets)
    ]


@pytest.mark.parametrize("query", QUERIES)
def test_all_metrics_after_hard_debiasing_are_those_of_wefe(query, glove_50d, sets, debiaswe, peer):
    gender = Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, debiaswe("definitional_pairs")[:-1])),  # in lower case
        equalize_sets=tuple(map(tuple, debiaswe("equalize_pairs"))),
        specific_words=tuple(debiaswe("gender_specific_full")),
    )
    arrays = transformed(query, HardDebias().fit(glove_50d, gender), glove_50d, sets)
    assert np.linalg.norm(np.vstack(arrays), axis=1) == pytest.approx(1.0, abs=1e-6)
    assert measured(query, arrays) == pytest.approx(peer["HD"][query], abs=ROUNDED)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(("key", "changed"), [("HSR", (0, 1, 2, 3)), ("HSR_target", (2, 3))])
def test_all_metrics_after_half_sibling_regression_are_those_of_wefe(
    key, changed, query, glove_50d, sets, specific, peer
):
    gender = Concept(name="gender", specific_words=specific)
    mitigator = HalfSiblingRegression().fit(glove_50d, gender)
    values = measured(query, transformed(query, mitigator, glove_50d, sets, changed))
    assert values == pytest.approx(peer[key][query], abs=ROUNDED)


def test_least_squares_on_all_specific_words_are_refused_but_wefe_returns_zeros(
    glove_50d, specific
):
    x = glove_50d.encode(specific).astype(float).T
    nurse = glove_50d.encode(["nurse"])[0].astype(float)
    published = nurse - x @ np.linalg.pinv(x) @ nurse
    assert np.linalg.norm(published) < 1e-4
    concept = Concept(name="gender", specific_words=specific)
    with pytest.raises(NotApplicable, match=r"432 .* 50"):
        HalfSiblingRegression(alpha=0).fit(glove_50d, concept)


def multiclass(name: str, expected) -> Concept:
    content = expected("multiclass_sets.json")[name]
    return Concept(
        name=name,
        definitional_sets=tuple(map(tuple, content["definite_sets"])),
        equalize_sets=tuple(map(tuple, content["eval_targets"])),
    )


@pytest.mark.parametrize(("name", "k"), MULTICLASS)
def test_multiclass_debiasing_is_that_of_wefe_in_the_dimensions_that_the_sets_span(
    name, k, sets, glove_50d, expected
):
    mitigator = MulticlassHardDebias(k=k).fit(glove_50d, multiclass(name, expected))
    for query, values in MULTICLASS[name, k].items():
        found = measured(query, transformed(query, mitigator, glove_50d, sets))
        ours = [found[key] for key in ("WEAT", "ES", "MAC")]
        assert ours == pytest.approx(values, abs=ROUNDED), query


@pytest.mark.parametrize(("name", "k"), MULTICLASS)
def test_the_ten_default_components_of_wefe_are_refused(name, k, glove_50d, expected):
    # The 7 pairs of gender have fewer than 10 components; the sets of ethnicity share words.
    with pytest.raises(NotApplicable, match="k=10"):
        MulticlassHardDebias(k=10).fit(glove_50d, multiclass(name, expected))
