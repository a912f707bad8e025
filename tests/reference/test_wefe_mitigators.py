"""Multiclass hard debiasing against WEFE 1.0.1, and settings of WEFE that we refuse.

On GloVe 6B 50d. The default of WEFE's multiclass debiasing has no values to compare with: it takes
ten components, but the sets span only 7 (gender) or 8 (ethnicity). The others are rounding errors,
which differ between machines. `test_wefe_after.py` compares half-sibling regression.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

from harness.arrays import Reals, cosines
from harness.concept import Concept
from harness.errors import NotApplicable
from harness.plugins.metrics.weat import weat
from harness.plugins.mitigators.half_sibling_regression import HalfSiblingRegression
from harness.plugins.mitigators.multiclass_hard_debias import MulticlassHardDebias

QUERIES = yaml.safe_load(Path(__file__).with_name("wefe_queries.yaml").read_text(encoding="utf-8"))
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
def sets(data_folder) -> dict[str, list[str]]:
    text = (data_folder / "wefe_WEAT.json").read_text(encoding="utf-8")
    return {name: words for name, words in json.loads(text).items() if isinstance(words, list)}


@pytest.fixture(scope="module")
def specific(debiaswe, glove) -> list[str]:
    """Return the 432 specific words that GloVe has as they are written, as WEFE looks them up."""
    words = [word for word in debiaswe("gender_specific_full") if word == word.lower()]
    known = np.isfinite(glove(words)).all(axis=1)
    return [word for word, is_known in zip(words, known, strict=True) if is_known]


def measured(arrays: Sequence[Reals]) -> dict[str, float]:
    x, y, a, b = arrays
    options = {"permutations": 10, "resamples": 0, "rng": np.random.default_rng(0)}
    score = weat(x, y, a, b, ddof=0, **options)["effect_size"]
    targets = np.vstack([x, y])
    distances = [1 - cosines(targets, attributes).mean() for attributes in (a, b)]
    return {
        "WEAT": float(score.details["statistic"]),
        "ES": score.value,
        "MAC": float(np.mean(distances)),
    }


def test_least_squares_on_all_specific_words_are_refused_but_wefe_returns_zeros(
    glove, glove_as_written, specific
):
    x = glove(specific).astype(float).T
    nurse = glove(["nurse"])[0].astype(float)
    published = nurse - x @ np.linalg.pinv(x) @ nurse
    assert np.linalg.norm(published) < 1e-4
    concept = Concept(name="gender", specific_words=tuple(specific))
    with pytest.raises(NotApplicable, match=r"432 .* 50"):
        HalfSiblingRegression(alpha=0).fit(glove_as_written, concept)


def multiclass(name: str, expected) -> Concept:
    content = expected("multiclass_sets.json")[name]
    return Concept(
        name=name,
        definitional_sets=tuple(map(tuple, content["definite_sets"])),
        equalize_sets=tuple(map(tuple, content["eval_targets"])),
    )


@pytest.mark.parametrize(("name", "k"), MULTICLASS)
def test_multiclass_debiasing_is_that_of_wefe_in_the_dimensions_that_the_sets_span(
    name, k, sets, glove, glove_as_written, expected
):
    mitigator = MulticlassHardDebias(k=k).fit(glove_as_written, multiclass(name, expected))
    for query, peer in MULTICLASS[name, k].items():
        arrays = [mitigator.transform(glove(sets[s]), sets[s]) for s in QUERIES[query]]
        assert tuple(measured(arrays).values()) == pytest.approx(peer, abs=ROUNDED), query


@pytest.mark.parametrize(("name", "k"), MULTICLASS)
def test_the_ten_default_components_of_wefe_are_refused(name, k, glove_as_written, expected):
    # The 7 pairs of gender have fewer than 10 components; the sets of ethnicity share words.
    with pytest.raises(NotApplicable, match="k=10"):
        MulticlassHardDebias(k=10).fit(glove_as_written, multiclass(name, expected))
